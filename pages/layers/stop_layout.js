// The geometry of a stop of the walk: the size of its panels, the numbers that a dot stands for, and the dot that a key moves
// to.
//
// A panel shows a tensor of three axes: tiles (heads), rows and columns. The panel consists of dots. A dot stands for one
// number, or for several if there are more numbers than pixels.

import { MASKED_LEVEL, TOP_LEVEL } from "../ui/colors.js";
import { clamp, range } from "../ui/component.js";

const TALLEST = 430; // px: the largest height of the cells of one panel, or of all inputs if they are stacked
const TILE_GAP = 5; // px between tiles
const NARROW = 560; // px: if the picture is narrower, the result is drawn below the inputs
// The following are in px for letters of ordinary size. They grow with `scale` of the placing.
const LARGEST_CELL = 24;
const HEAD_ROOM = 12; // additional gap between lines of tiles, for the number of the head
const HEAD_WIDTH = 16; // room for the number of the head beside a tile
const HEAD_HEIGHT = 15; // room for the number of the head above a tile
const LABELLED_ROW = 11.52; // a row of at least this height has its token beside it: 18 px while the page is presented
const LABELLED_COLUMN = 13; // a column of at least this width has its token above it
const OPERATION_WIDTH = 150; // the operation between inputs and result
export const LONGEST_LABEL = 78;

/** @type {Record<string, [down: number, right: number]>} */
const STEPS = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  Home: [0, -Infinity],
  End: [0, Infinity],
};

/** A number of a tensor: tile, row and column. @typedef {{ tile: number, r: number, c: number }} Cell */

/**
 * The places of the tiles in a canvas, in px: `left` and `top` of the first tile, width `w` and height `h` of each, the
 * distances `across` and `down` from one tile to the next, the number of tiles side by side (`side`) and of `lines`, and the
 * size of the whole canvas (`wide`, `high`).
 *
 * @typedef {{
 *   left: number, top: number, w: number, h: number, across: number, down: number, side: number, lines: number,
 *   wide: number, high: number,
 * }} Box
 */

/**
 * The drawn part of a tensor. `strip`: whether all tiles are side by side. `hidden`: 1 for each number that a mask hides.
 * `limit`: the number with the strongest colour. `from`, `to`: the columns that are shown. `each`: rows and columns of a dot.
 *
 * @typedef {{
 *   tiles: number, rows: number, columns: number, strip: boolean, scale: "signed" | "weights" | "mask" | "ids", limit: number,
 *   row_tokens: string[] | null, column_tokens: string[] | null,
 *   values: Float32Array, hidden: Uint8Array | null, from: number, to: number, each: [rows: number, columns: number], box: Box,
 * }} Panel
 */

/**
 * How all panels are placed: the px of a column (`u`) and of a row (`v`), the number of tiles side by side (`side`), whether
 * the inputs are below each other (`stacked`), whether the result is below the inputs (`narrow`), and how much larger letters
 * are than on an ordinary page (`scale`).
 *
 * @typedef {{ u: number, v: number, side: number, stacked: boolean, narrow: boolean, scale: number }} Placing
 */

/**
 * The number of cells and the px of gaps of a panel with `side` tiles side by side.
 *
 * @param {Panel} panel
 * @param {number} side
 * @param {number} scale
 */
function spread(panel, side, scale) {
  const beside = panel.strip ? panel.tiles : Math.min(side, panel.tiles);
  const lines = Math.ceil(panel.tiles / beside);
  return {
    across: beside * panel.columns,
    down: lines * panel.rows,
    acrossGaps: (beside - 1) * TILE_GAP,
    downGaps: (lines - 1) * (TILE_GAP + (beside > 1 ? HEAD_ROOM * scale : 0)),
  };
}

/**
 * The placing with the largest cells with which all panels fit. Heads are drawn below each other, unless that makes the cells
 * much smaller.
 *
 * @param {Panel[]} panels the inputs, then the result
 * @param {number} width px
 * @param {number} [scale] how much larger letters are than on an ordinary page
 * @returns {Placing}
 */
export function placePanels(panels, width, scale = 1) {
  const narrow = width < NARROW;
  const inputCount = panels.length - 1;
  const tiles = Math.max(...panels.map((panel) => (panel.strip ? 1 : panel.tiles)));
  const labels = panels.some((panel) => panel.row_tokens) ? LONGEST_LABEL * scale : 0;
  const choices = [];
  for (const side of range(tiles + 1).slice(1)) {
    if (tiles % side) continue;
    for (const stacked of inputCount > 1 && !narrow ? [false, true] : [narrow]) {
      const { across, acrossGaps, down, downGaps } = extent(panels, side, stacked, narrow, scale);
      const room = width - (narrow ? 0 : OPERATION_WIDTH * scale) - labels * (narrow ? 1 : stacked ? 2 : panels.length);
      const u = Math.min(LARGEST_CELL * scale, (room - acrossGaps) / across);
      const v = Math.min(LARGEST_CELL * scale, (TALLEST - downGaps) / down);
      if (u > 0 && v > 0) choices.push({ side, stacked, u, v, size: Math.min(u, v) + 0.05 * Math.max(u, v) });
    }
  }
  const readable = choices.filter((choice) => choice.v >= 4 && choice.u >= 0.8);
  const best = Math.max(...choices.map((choice) => choice.size));
  const chosen = readable.find((choice) => choice.size >= 0.5 * best) ?? choices.find((choice) => choice.size === best);
  if (!chosen) return { side: 1, stacked: true, narrow, u: 0.5, v: 2, scale };
  const { side, stacked, u, v } = chosen;
  // Cells do not have to be square, but a matrix must not become as thin as a line.
  return { side, stacked, narrow, v: Math.min(v, Math.max(6, 16 * u)), u: Math.min(u, 3 * v), scale };
}

/**
 * The number of cells and the px of gaps of all panels together.
 *
 * @param {Panel[]} panels
 * @param {number} side
 * @param {boolean} stacked
 * @param {boolean} narrow
 * @param {number} scale
 */
function extent(panels, side, stacked, narrow, scale) {
  const sizes = panels.map((panel) => spread(panel, side, scale));
  const result = sizes[sizes.length - 1];
  const inputs = sizes.slice(0, -1);
  /** @param {keyof typeof result} name */
  const most = (name) => Math.max(0, ...inputs.map((size) => size[name]));
  /** @param {keyof typeof result} name */
  const total = (name) => inputs.reduce((sum, size) => sum + size[name], 0);
  let [across, acrossGaps] = [total("across") + result.across, total("acrossGaps") + result.acrossGaps + 24 * panels.length];
  if (stacked) [across, acrossGaps] = [most("across") + result.across, most("acrossGaps") + result.acrossGaps];
  if (narrow) {
    [across, acrossGaps] = [Math.max(most("across"), result.across), Math.max(most("acrossGaps"), result.acrossGaps)];
  }
  let [down, downGaps] = [Math.max(most("down"), result.down), Math.max(most("downGaps"), result.downGaps)];
  if (stacked && !narrow) [down, downGaps] = [Math.max(total("down"), result.down), total("downGaps") + result.downGaps];
  return { across, acrossGaps, down, downGaps };
}

/**
 * The places of the tiles of a panel, and the labels beside them.
 *
 * @param {Panel} panel
 * @param {Placing} placing
 * @param {(words: string[]) => number} widest returns the px of the widest of some words
 */
export function panelLayout(panel, placing, widest) {
  const { u, v, scale } = placing;
  const side = panel.strip ? panel.tiles : Math.min(placing.side, panel.tiles);
  const lines = Math.ceil(panel.tiles / side);
  const h = Math.max(2, panel.rows * v);
  // Ids are names, not amounts, so they are written instead of coloured, and need the room of a word.
  const ids = panel.scale === "ids" ? Array.from(panel.values, String) : null;
  const w = Math.max(1, panel.columns * u, ids ? widest(ids) + 10 : 0);
  /** @param {string[]} tokens */
  const labelRoom = (tokens) => Math.min(LONGEST_LABEL * scale, widest(tokens)) + 6;
  const heads = panel.tiles > 1 && h >= LABELLED_ROW * scale;
  // In a long text, only every nth row has its token beside it. With several heads, tokens are written only if all rows have
  // room.
  const nth = Math.ceil((LABELLED_ROW * scale) / v);
  const rowTokens = (nth === 1 || panel.tiles === 1) && side === 1 ? panel.row_tokens : null;
  const columnTokens = u >= LABELLED_COLUMN * scale && !panel.strip ? panel.column_tokens : null;
  const headWidth = heads && side === 1 ? HEAD_WIDTH * scale : 0;
  const headHeight = heads && side > 1 ? HEAD_HEIGHT * scale : 0;
  const left = Math.ceil((rowTokens ? labelRoom(rowTokens) : 0) + headWidth);
  const top = Math.ceil((columnTokens ? labelRoom(columnTokens) : 0) + headHeight) || (nth > 1 ? 4 : 0);
  const [across, down] = [w + TILE_GAP, h + TILE_GAP + (heads && side > 1 ? HEAD_ROOM * scale : 0)];
  const [wide, high] = [left + side * across - TILE_GAP, top + (lines - 1) * down + h];
  /** @type {Box} */
  const box = { left, top, w, h, side, lines, wide, high, across, down };
  return { box, ids, rowTokens, columnTokens, heads, headWidth, headHeight, nth };
}

/**
 * The rows and columns of a dot. They are chosen so that there are no more dots than pixels, and at most `mostColumns` dots in
 * a row.
 *
 * @param {Panel} panel
 * @param {Box} box
 * @param {number} ratio pixels of the canvas for each px of the page
 * @param {number} mostColumns
 * @returns {[rows: number, columns: number]}
 */
export function dotSize(panel, { w, h }, ratio, mostColumns) {
  const [high, wide] = [h, w].map((size) => Math.max(1, Math.floor(size * ratio)));
  return [Math.ceil(panel.rows / high), Math.ceil((panel.to - panel.from) / Math.min(mostColumns, wide))];
}

/**
 * The number of dots of a tile, down and across.
 *
 * @param {Panel} panel
 * @returns {[down: number, across: number]}
 */
export function dotCounts({ rows, from, to, each }) {
  return [Math.ceil(rows / each[0]), Math.ceil((to - from) / each[1])];
}

/**
 * The shade of a dot, which is the shade of its strongest number.
 *
 * @param {Panel} panel
 * @param {number} tile
 * @param {number} row the row of the dot in its tile
 * @param {number} column the column of the dot in its tile
 */
export function dotLevel(panel, tile, row, column) {
  const value = strongestNumber(panel, tile, row, column);
  if (value === null) return MASKED_LEVEL;
  if (panel.scale === "signed") return Math.round(((clamp(-1, value / panel.limit, 1) + 1) / 2) * TOP_LEVEL);
  if (panel.scale === "weights") return Math.round(clamp(0, value, 1) * TOP_LEVEL);
  return TOP_LEVEL;
}

/**
 * The number farthest from zero among the numbers of a dot that no mask hides. Null: a mask hides all of them.
 *
 * @param {Panel} panel
 * @param {number} tile
 * @param {number} row
 * @param {number} column
 */
function strongestNumber({ values, hidden, rows, columns, each, from, to }, tile, row, column) {
  /** @type {number | null} */
  let strongest = null;
  const lastRow = Math.min(rows, (row + 1) * each[0]);
  const lastColumn = Math.min(to, from + (column + 1) * each[1]);
  for (let r = row * each[0]; r < lastRow; r++) {
    for (let c = from + column * each[1]; c < lastColumn; c++) {
      const index = (tile * rows + r) * columns + c;
      if (hidden?.[index] || !Number.isFinite(values[index])) continue;
      if (strongest === null || Math.abs(values[index]) > Math.abs(strongest)) strongest = values[index];
    }
  }
  return strongest;
}

/**
 * The cell at a point of the canvas. Null: there is no cell at this point.
 *
 * @param {Panel} panel
 * @param {number} x
 * @param {number} y
 * @returns {Cell | null}
 */
export function cellAtPoint({ tiles, rows, from, to, box }, x, y) {
  const { left, top, w, h, side, lines, across, down } = box;
  const [column, line] = [Math.floor((x - left) / across), Math.floor((y - top) / down)];
  const tile = line * side + column;
  if (column < 0 || line < 0 || column >= side || line >= lines || tile >= tiles) return null;
  const [inX, inY] = [x - left - column * across, y - top - line * down];
  if (inX >= w || inY >= h) return null;
  const columns = to - from;
  const r = Math.min(rows - 1, Math.floor((inY / h) * rows));
  return { tile, r, c: from + Math.min(columns - 1, Math.floor((inX / w) * columns)) };
}

/**
 * The row and the column of each number that the dot of a cell stands for.
 *
 * @param {Panel} panel
 * @param {Cell} cell
 * @returns {[row: number, column: number][]}
 */
export function cellsOfDot({ rows, from, to, each }, { r, c }) {
  const row = Math.floor(r / each[0]) * each[0];
  const column = from + Math.floor((c - from) / each[1]) * each[1];
  const columns = range(Math.min(to, column + each[1]) - column);
  return range(Math.min(rows, row + each[0]) - row).flatMap((down) =>
    columns.map((right) => /** @type {[number, number]} */ ([row + down, column + right])),
  );
}

/**
 * At most `most` entries of a list, around the entry at `index`.
 *
 * @template Entry
 * @param {Entry[]} entries
 * @param {number} index
 * @param {number} most
 */
export function entriesAround(entries, index, most) {
  const first = Math.max(0, Math.min(index - most / 2, entries.length - most));
  return entries.slice(first, first + most);
}

/**
 * The row and the column of a cell's dot, counted over the dots of all tiles.
 *
 * @param {Panel} panel
 * @param {Cell} cell
 * @returns {[row: number, column: number]}
 */
function dotOf(panel, { tile, r, c }) {
  const { box, each, from } = panel;
  const [down, across] = dotCounts(panel);
  const row = Math.floor(tile / box.side) * down + Math.floor(r / each[0]);
  return [row, (tile % box.side) * across + Math.floor((c - from) / each[1])];
}

/**
 * The first cell of the dot that a key moves to. The move can cross the edge of a tile. Null: the key does not move.
 *
 * @param {Panel} panel
 * @param {Cell} cell
 * @param {string} key
 * @returns {Cell | null}
 */
export function cellAfterKey(panel, cell, key) {
  if (!isStepKey(key)) return null;
  const { side, lines } = panel.box;
  const [down, across] = dotCounts(panel);
  const [row, column] = dotOf(panel, cell);
  const [y, x] = STEPS[key];
  const toRow = clamp(0, row + y, lines * down - 1);
  const toColumn = clamp(0, column + x, side * across - 1);
  const tile = Math.floor(toRow / down) * side + Math.floor(toColumn / across);
  if (tile >= panel.tiles) return null;
  return { tile, r: (toRow % down) * panel.each[0], c: panel.from + (toColumn % across) * panel.each[1] };
}

/**
 * Whether a key moves from dot to dot.
 *
 * @param {string} key
 */
export function isStepKey(key) {
  return Object.hasOwn(STEPS, key);
}

/**
 * The place of a cell's dot in the canvas, in px.
 *
 * @param {Panel} panel
 * @param {Cell} cell
 */
export function dotBox(panel, cell) {
  const { box } = panel;
  const [down, across] = dotCounts(panel);
  const [row, column] = dotOf(panel, cell);
  const [width, height] = [box.w / across, box.h / down];
  const left = box.left + Math.floor(column / across) * box.across + (column % across) * width;
  const top = box.top + Math.floor(row / down) * box.down + (row % down) * height;
  return { left, top, width, height };
}

/**
 * The first column, and one past the last column, of the range between two numbers from the visitor. Both become whole numbers
 * within the tensor, and the range has at least one column.
 *
 * @param {number} columns the number of columns of the tensor
 * @param {number} from
 * @param {number} to
 * @returns {[from: number, to: number]}
 */
export function columnsBetween(columns, from, to) {
  const [first, end] = [clamp(0, Math.trunc(from) || 0, columns - 1), clamp(1, Math.trunc(to) || 0, columns)];
  return first < end ? [first, end] : [end - 1, first + 1];
}

/**
 * A label that is at most `width` wide. If it is too wide, it is cut and ends in an ellipsis.
 *
 * @param {string} label
 * @param {number} width
 * @param {(label: string) => number} measure
 */
export function shortened(label, width, measure) {
  const signs = [...label];
  let text = label;
  while (signs.length > 1 && measure(text) > width) {
    signs.pop();
    text = `${signs.join("")}…`;
  }
  return text;
}
