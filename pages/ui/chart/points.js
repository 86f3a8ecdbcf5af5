// The points of a figure: how events name them, and where the keys lead from one to the next.

/** @typedef {import("./chart.js").Figure} Figure */

/**
 * A part of a figure whose points the keys go through: a map of cells, which several heatmaps can draw on the same axes, or the
 * points of one trace.
 *
 * @typedef {{ traces: number[], rows: number, columns: number, isMap: boolean, upwards: boolean, across: boolean }} Part
 */

/** @typedef {{ part: number, row: number, column: number }} Spot */

/**
 * A point of an event of Plotly by the names of the axes, which are in `layout.meta.axes`, such as `{ x: "key", y: "query" }`. Without
 * them, they are `x` and `y`. A cell is named by its row and column, counted from 0; another point by its values.
 *
 * @param {{ curveNumber: number, pointNumber: number | number[], x?: unknown, y?: unknown, z?: unknown, customdata?: unknown }} point
 * @param {Figure} figure
 */
export function pointOf({ curveNumber, pointNumber, x, y, z, customdata }, { data, layout }) {
  const names = { x: "x", y: "y", ...layout.meta?.axes };
  const { name = null, meta = null, xaxis = "x" } = data[curveNumber];
  const about = { trace: curveNumber, name, about: meta, axis: Number(xaxis.slice(1) || 1) };
  if (Array.isArray(pointNumber)) {
    const [row, column] = pointNumber;
    return { ...about, [names.y]: row, [names.x]: column, value: z ?? null };
  }
  return { ...about, index: pointNumber, [names.x]: x, [names.y]: y, data: customdata ?? null };
}

/**
 * The parts of a figure, in the order in which they are drawn. Traces that say nothing when they are pointed at have none.
 *
 * @param {Figure} figure
 * @returns {Part[]}
 */
export function partsOf({ data, layout }) {
  /** @type {Map<string, Part>} */
  const parts = new Map();
  for (const [index, trace] of data.entries()) {
    if (trace.hoverinfo === "skip" || (trace.visible ?? true) !== true) continue;
    const axes = [trace.xaxis, trace.yaxis, trace.x0, trace.y0].join();
    if (trace.type === "heatmap" && trace.z?.length) {
      const before = parts.get(axes);
      if (before) before.traces.unshift(index);
      else parts.set(axes, mapPart(index, trace, layout));
    } else if (trace.type !== "heatmap") {
      const columns = Math.max(trace.x?.length ?? 0, trace.y?.length ?? 0);
      const across = trace.orientation === "h"; // horizontal bars, one below the other
      if (columns) parts.set(`${index}`, { traces: [index], rows: 1, columns, isMap: false, upwards: true, across });
    }
  }
  return [...parts.values()];
}

/**
 * @param {number} index
 * @param {import("./chart.js").Trace} trace
 * @param {import("./chart.js").Layout} layout
 * @returns {Part}
 */
function mapPart(index, trace, layout) {
  const axis = layout[(trace.yaxis ?? "y").replace("y", "yaxis")] ?? {};
  const upwards = axis.autorange !== "reversed" && !(axis.range && axis.range[0] > axis.range[1]);
  return { traces: [index], rows: trace.z.length, columns: trace.z[0].length, isMap: true, upwards, across: false };
}

/**
 * The next spot with a point that a key leads to: the given one if there is none; null if the key does not move the cursor.
 *
 * @param {string} key
 * @param {Spot} spot
 * @param {Part[]} parts
 * @param {Figure} figure
 * @returns {Spot | null}
 */
export function nextSpot(key, spot, parts, figure) {
  let next = spotAfter(key, spot, parts);
  while (next && !drawnAt(next, parts[next.part], figure)) {
    const after = spotAfter(key, next, parts);
    if (JSON.stringify(after) === JSON.stringify(next)) return spot;
    next = after;
  }
  return next;
}

/**
 * The spot that a key leads to; null if the key does not move the cursor.
 *
 * @param {string} key
 * @param {Spot} spot
 * @param {Part[]} parts
 * @returns {Spot | null}
 */
export function spotAfter(key, spot, parts) {
  const { part, row, column } = spot;
  const { rows, columns, isMap, upwards, across } = parts[part];
  const turned = across ? { ArrowUp: "ArrowRight", ArrowDown: "ArrowLeft", ArrowLeft: "ArrowUp", ArrowRight: "ArrowDown" } : {};
  const step = upwards ? 1 : -1;
  switch (/** @type {Record<string, string>} */ (turned)[key] ?? key) {
    case "ArrowRight":
      return { part, row, column: Math.min(column + 1, columns - 1) };
    case "ArrowLeft":
      return { part, row, column: Math.max(column - 1, 0) };
    case "ArrowUp":
      return isMap ? { part, row: within(row + step, rows), column } : otherPart(spot, parts, -1);
    case "ArrowDown":
      return isMap ? { part, row: within(row - step, rows), column } : otherPart(spot, parts, 1);
    case "PageDown":
      return otherPart(spot, parts, 1);
    case "PageUp":
      return otherPart(spot, parts, -1);
    case "Home":
      return { part, row, column: 0 };
    case "End":
      return { part, row, column: columns - 1 };
    default:
      return null;
  }
}

/**
 * The same place in another part.
 *
 * @param {Spot} spot
 * @param {Part[]} parts
 * @param {number} step
 */
function otherPart({ part, row, column }, parts, step) {
  const next = within(part + step, parts.length);
  return { part: next, row: within(row, parts[next].rows), column: within(column, parts[next].columns) };
}

/**
 * @param {number} index
 * @param {number} count
 */
function within(index, count) {
  return Math.max(0, Math.min(index, count - 1));
}

/**
 * A drawn point, and the same point of the traces that `layout.meta.together` shows with it, as `Plotly.Fx.hover` takes them: a cell
 * by its place on the axes, because Plotly cannot find it by its number.
 *
 * @param {{ curveNumber: number, pointNumber: number | number[] }} drawn
 * @param {Figure} figure
 */
export function hoverPoints({ curveNumber: drawn, pointNumber }, { data, layout }) {
  const together = layout.meta?.together ?? [];
  const traces = together.includes(drawn) ? together : [drawn];
  return traces.map((/** @type {number} */ curveNumber) => {
    if (!Array.isArray(pointNumber)) return { curveNumber, pointNumber };
    const { x, y, x0 = 0, dx = 1, y0 = 0, dy = 1 } = data[curveNumber];
    const [row, column] = pointNumber;
    return { curveNumber, xval: x0 + dx * placeOf(x, column), yval: y0 + dy * placeOf(y, row) };
  });
}

/**
 * The subplots in which points are drawn, each once.
 *
 * @param {{ curveNumber: number }[]} points
 * @param {Figure} figure
 */
export function subplotsOf(points, { data }) {
  return [...new Set(points.map(({ curveNumber: at }) => `${data[at].xaxis ?? "x"}${data[at].yaxis ?? "y"}`))];
}

/**
 * The place of a row or column on its axis: its number, or where it is named by a text, how many are before it.
 *
 * @param {ArrayLike<unknown> | undefined} names
 * @param {number} index
 */
function placeOf(names, index) {
  const name = names?.[index];
  return typeof name === "number" ? name : index;
}

/**
 * The trace that draws a spot, and the number of the spot's point in it. Of several heatmaps on the same axes, it is the topmost
 * that has a number there. null if none has, as between the heads of a picture of several.
 *
 * @param {Spot} spot
 * @param {Part} part
 * @param {Figure} figure
 */
export function drawnAt({ row, column }, { traces, isMap }, { data }) {
  const has = (/** @type {number} */ index) => Number.isFinite(data[index].z[row]?.[column] ?? Number.NaN);
  const curveNumber = isMap ? traces.find(has) : traces[0];
  if (curveNumber === undefined) return null;
  return { curveNumber, pointNumber: isMap ? [row, column] : column };
}
