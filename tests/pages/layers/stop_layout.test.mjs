import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cellAfterKey,
  cellAtPoint,
  cellsOfDot,
  columnsBetween,
  dotBox,
  dotCounts,
  dotLevel,
  dotSize,
  entriesAround,
  LONGEST_LABEL,
  panelLayout,
  placePanels,
  shortened,
} from "../../../pages/layers/stop_layout.js";

/** @typedef {import("../../../pages/layers/stop_layout.js").Panel} Panel */

const widest = (/** @type {string[]} */ words) => Math.max(0, ...words.map((word) => 8 * word.length));

/**
 * A panel with numbers 0, 1, 2, …
 *
 * @param {[tiles: number, rows: number, columns: number]} shape
 * @param {Partial<Panel>} others
 * @returns {Panel}
 */
function panelOf([tiles, rows, columns], others = {}) {
  const values = Float32Array.from({ length: tiles * rows * columns }, (_, index) => index);
  const box = { left: 0, top: 0, w: 0, h: 0, across: 0, down: 0, side: 1, lines: 1, wide: 0, high: 0 };
  const [row_tokens, column_tokens] = [null, null];
  const limit = values.length;
  const panel = {
    tiles,
    rows,
    columns,
    strip: false,
    scale: /** @type {const} */ ("signed"),
    limit,
    row_tokens,
    column_tokens,
  };
  return { ...panel, values, hidden: null, from: 0, to: columns, each: [1, 1], box, ...others };
}

/**
 * Place the panels as they are drawn in a given width; returns the placing.
 *
 * @param {Panel[]} panels
 * @param {number} width
 */
function drawn(panels, width, mostColumns = 256) {
  const placing = placePanels(panels, width);
  for (const panel of panels) {
    panel.box = panelLayout(panel, placing, widest).box;
    panel.each = dotSize(panel, panel.box, 1, mostColumns);
  }
  return placing;
}

test("all panels have one scale, whatever their shapes, and fit the width", () => {
  for (const width of [390, 900, 1400]) {
    for (const shapes of [
      [
        [1, 9, 64],
        [1, 9, 256],
      ],
      [
        [8, 9, 32],
        [8, 9, 32],
        [8, 9, 9],
      ],
      [[1, 64, 2048]],
    ]) {
      const panels = shapes.map((shape) => panelOf(/** @type {[number, number, number]} */ (shape)));
      const { u, v, narrow } = drawn(panels, width);
      assert.equal(narrow, width < 560);
      for (const { box, rows, columns } of panels) {
        assert.equal(box.w, columns * u);
        assert.equal(box.h, Math.max(2, rows * v));
        assert.ok(box.wide - box.left <= width, `${box.wide} px of ${width}, ${shapes.join(" → ")}`);
      }
    }
  }
});

test("a strip of heads stands side by side, and the heads it is split into one below the other", () => {
  const [before, after] = [panelOf([8, 9, 32], { strip: true }), panelOf([8, 9, 32])];
  drawn([before, after], 1100);
  assert.deepEqual([before.box.side, before.box.lines, after.box.side, after.box.lines], [8, 1, 1, 8]);
});

test("where nothing fits there is still a layout", () => {
  assert.deepEqual(placePanels([panelOf([1, 4, 4])], 10), { side: 1, stacked: true, narrow: true, u: 2.5, v: 24, scale: 1 });
  assert.deepEqual(placePanels([panelOf([1, 4, 4]), panelOf([1, 4, 4], { row_tokens: ["a", "b", "c", "d"] })], 60), {
    side: 1,
    stacked: true,
    narrow: true,
    u: 0.5,
    v: 2,
    scale: 1,
  });
});

test("tokens stand beside every row that has room, and ids widen their cells", () => {
  const tokens = ["a", "bb", "a very long token indeed", "d"];
  const wide = panelLayout(panelOf([1, 4, 4], { row_tokens: tokens }), placePanels([panelOf([1, 4, 4])], 900), widest);
  assert.equal(wide.rowTokens, tokens);
  assert.equal(wide.box.left, LONGEST_LABEL + 6);
  const placing = { u: 2, v: 4, side: 1, stacked: false, narrow: false, scale: 1 };
  assert.equal(panelLayout(panelOf([1, 4, 4], { row_tokens: tokens }), placing, widest).nth, 3);
  assert.equal(panelLayout(panelOf([2, 4, 4], { row_tokens: tokens }), placing, widest).rowTokens, null);
  const ids = panelLayout(panelOf([1, 2, 1], { scale: "ids", values: Float32Array.of(3, 12345) }), placing, widest);
  assert.deepEqual(ids.ids, ["3", "12345"]);
  assert.equal(ids.box.w, 8 * 5 + 10);
});

test("with larger letters there is more room for them, and a row is as high as its token", () => {
  const tokens = ["a very long token indeed", ..."abcdefghijklmnopqrstuvwxyzabcdefghijkl"];
  for (const scale of [1, 1.5625, 2]) {
    const panel = panelOf([1, tokens.length, 64], { row_tokens: tokens });
    const placing = placePanels([panelOf([1, tokens.length, 1]), panel], 900, scale);
    const { box, nth } = panelLayout(panel, placing, widest);
    assert.equal(placing.scale, scale);
    assert.ok(nth * placing.v >= 11.52 * scale, `${nth} rows of ${placing.v} px`);
    assert.equal(box.left, Math.ceil(Math.min(LONGEST_LABEL * scale, widest(tokens)) + 6));
    assert.ok(box.h <= 430);
  }
});

test("a dot stands for several numbers only where there are more than pixels or than may be sent to the eye", () => {
  const panel = panelOf([1, 64, 2048]);
  const box = { ...panel.box, w: 700, h: 400 };
  assert.deepEqual(dotSize(panel, box, 1, 256), [1, 8]);
  assert.deepEqual(dotSize(panel, { ...box, h: 20 }, 1, 256), [4, 8]);
  assert.deepEqual(dotSize(panel, { ...box, h: 20 }, 2, 256), [2, 8]);
  assert.deepEqual(dotSize({ ...panel, from: 100, to: 200 }, box, 1, 256), [1, 1]);
});

test("a dot has the shade of its strongest number that no mask hides", () => {
  const values = Float32Array.of(1, -4, 2, Number.NEGATIVE_INFINITY);
  const panel = panelOf([1, 1, 4], { values, limit: 4, each: [1, 2] });
  assert.equal(dotLevel(panel, 0, 0, 0), 0); // −4, the lowest
  assert.equal(dotLevel(panel, 0, 0, 1), Math.round(0.75 * 254)); // 2 of at most 4; −∞ does not count as a number
  assert.equal(dotLevel({ ...panel, hidden: Uint8Array.of(0, 1, 1, 1) }, 0, 0, 0), Math.round(0.625 * 254));
  assert.equal(dotLevel({ ...panel, hidden: Uint8Array.of(0, 1, 1, 1) }, 0, 0, 1), 255); // masked
  assert.equal(dotLevel({ ...panel, scale: "weights", values: Float32Array.of(0.5, 0.1, 0, 0) }, 0, 0, 0), 127);
});

test("every number can be pointed at, and a gutter belongs to none", () => {
  for (const [side, shape] of /** @type {[number, [number, number, number]][]} */ ([
    [1, [3, 4, 5]],
    [2, [4, 2, 3]],
    [2, [3, 2, 3]],
  ])) {
    const panel = panelOf(shape);
    const placing = { u: 10, v: 12, side, stacked: false, narrow: false, scale: 1 };
    panel.box = panelLayout(panel, placing, widest).box;
    for (let tile = 0; tile < shape[0]; tile++) {
      for (let r = 0; r < shape[1]; r++) {
        for (let c = 0; c < shape[2]; c++) {
          const { left, top, width, height } = dotBox(panel, { tile, r, c });
          assert.deepEqual(cellAtPoint(panel, left + width / 2, top + height / 2), { tile, r, c });
        }
      }
    }
    const { left, top, w, h } = panel.box;
    assert.equal(cellAtPoint(panel, left - 1, top), null);
    assert.equal(cellAtPoint(panel, left, top + h + 1), null);
    assert.equal(cellAtPoint(panel, left + w + 1, top), null);
  }
  const short = panelOf([3, 2, 3]);
  short.box = panelLayout(short, { u: 10, v: 12, side: 2, stacked: false, narrow: false }, widest).box;
  assert.equal(cellAtPoint(short, short.box.left + short.box.across + 1, short.box.top + short.box.down + 1), null);
});

test("the keys reach every dot, over the edges of heads, and leave the picture nowhere", () => {
  const panel = panelOf([2, 3, 4]);
  panel.box = { ...panel.box, side: 1, lines: 2 };
  const to = (/** @type {string} */ key, tile = 0, r = 1, c = 2) => cellAfterKey(panel, { tile, r, c }, key);
  assert.deepEqual(to("ArrowRight"), { tile: 0, r: 1, c: 3 });
  assert.deepEqual(to("ArrowLeft"), { tile: 0, r: 1, c: 1 });
  assert.deepEqual(to("ArrowUp"), { tile: 0, r: 0, c: 2 });
  assert.deepEqual(to("ArrowDown", 0, 2), { tile: 1, r: 0, c: 2 });
  assert.deepEqual(to("ArrowUp", 1, 0), { tile: 0, r: 2, c: 2 });
  assert.deepEqual(
    [to("Home"), to("End")].map((cell) => cell?.c),
    [0, 3],
  );
  assert.deepEqual(to("ArrowUp", 0, 0, 0), { tile: 0, r: 0, c: 0 });
  assert.deepEqual(to("ArrowDown", 1, 2, 3), { tile: 1, r: 2, c: 3 });
  for (const key of ["Enter", "a", "toString"]) assert.equal(to(key), null);
});

test("the keys step a dot, not a number, and the last line of heads may be short", () => {
  const panel = panelOf([3, 2, 8], { each: [1, 3], from: 1 });
  panel.box = { ...panel.box, side: 2, lines: 2 };
  assert.deepEqual(dotCounts(panel), [2, 3]);
  assert.deepEqual(cellAfterKey(panel, { tile: 0, r: 0, c: 1 }, "ArrowRight"), { tile: 0, r: 0, c: 4 });
  assert.deepEqual(cellAfterKey(panel, { tile: 0, r: 0, c: 7 }, "ArrowRight"), { tile: 1, r: 0, c: 1 });
  assert.equal(cellAfterKey(panel, { tile: 1, r: 1, c: 1 }, "ArrowDown"), null);
});

test("the numbers of a dot are all that share it, and at an edge fewer", () => {
  const panel = panelOf([1, 3, 8], { each: [2, 3], from: 1 });
  assert.deepEqual(cellsOfDot(panel, { tile: 0, r: 1, c: 5 }), [
    [0, 4],
    [0, 5],
    [0, 6],
    [1, 4],
    [1, 5],
    [1, 6],
  ]);
  assert.deepEqual(cellsOfDot(panel, { tile: 0, r: 2, c: 7 }), [[2, 7]]);
});

test("of many numbers those around the pointer are listed", () => {
  const entries = Array.from({ length: 30 }, (_, index) => index);
  assert.deepEqual(entriesAround(entries, 0, 4), [0, 1, 2, 3]);
  assert.deepEqual(entriesAround(entries, 10, 4), [8, 9, 10, 11]);
  assert.deepEqual(entriesAround(entries, 29, 4), [26, 27, 28, 29]);
  assert.deepEqual(entriesAround([1, 2], 1, 4), [1, 2]);
});

test("chosen columns are in order, whole, and at least one", () => {
  assert.deepEqual(columnsBetween(100, 10, 20), [10, 20]);
  assert.deepEqual(columnsBetween(100, 20, 10), [9, 21]);
  assert.deepEqual(columnsBetween(100, -5, 1000), [0, 100]);
  assert.deepEqual(columnsBetween(100, 99.9, 100), [99, 100]);
  assert.deepEqual(columnsBetween(100, Number.NaN, Number.NaN), [0, 1]);
  assert.deepEqual(columnsBetween(100, 50, 50), [49, 51]);
});

test("a long label is cut to its room with an ellipsis, between signs", () => {
  const measure = (/** @type {string} */ label) => 10 * [...label].length;
  assert.equal(shortened("short", 50, measure), "short");
  assert.equal(shortened("longer", 50, measure), "long…");
  assert.equal(shortened("😀😀😀", 20, measure), "😀…");
  assert.equal(shortened("wide", 0, measure), "w…");
});
