import assert from "node:assert/strict";
import { test } from "node:test";
import { drawnAt, hoverPoints, nextSpot, partsOf, pointOf, subplotsOf } from "../../../../pages/ui/chart/points.js";

const NAN = Number.NaN;
const FIGURE = {
  data: [
    { type: "heatmap", z: [[1, NAN, 1]], x: ["a", "b", "c"], hovertemplate: "masked" },
    { type: "heatmap", z: [[NAN, 0.5, NAN]], x: ["a", "b", "c"], meta: "weights", name: "top" },
    {
      type: "heatmap",
      z: [
        [1, 2],
        [NAN, NAN],
        [5, 6],
      ],
      xaxis: "x2",
      yaxis: "y2",
      x0: 10,
      dx: 4,
      y0: 3,
      dy: 2,
    },
    { type: "bar", y: [3, 4], x: ["a", "b"], xaxis: "x3", yaxis: "y3" },
    { type: "scatter", y: [3, 4], hoverinfo: "skip" },
    { type: "scatter", y: [3, 4], visible: "legendonly" },
  ],
  layout: { yaxis: { autorange: "reversed" }, yaxis2: { range: [2.5, -0.5] }, meta: { axes: { x: "key", y: "query" } } },
};

test("heatmaps on the same axes are one part, and what says nothing is no part", () => {
  const parts = partsOf(FIGURE);
  assert.deepEqual(
    parts.map(({ traces }) => traces),
    [[1, 0], [2], [3]],
  );
  assert.deepEqual(
    parts.map(({ rows, columns }) => [rows, columns]),
    [
      [1, 3],
      [3, 2],
      [1, 2],
    ],
  );
});

test("of several heatmaps on the same axes, a cell belongs to the topmost that has a number there", () => {
  const [part] = partsOf(FIGURE);
  const at = (column) => drawnAt({ part: 0, row: 0, column }, part, FIGURE).curveNumber;
  assert.deepEqual([0, 1, 2].map(at), [0, 1, 0]);
});

test("the arrow keys follow the drawing, pass over gaps, and stop at the edges", () => {
  const parts = partsOf(FIGURE);
  const go = (spot, ...keys) => keys.reduce((at, key) => nextSpot(key, at, parts, FIGURE), spot);
  const first = { part: 1, row: 0, column: 0 };
  assert.deepEqual(go(first, "ArrowDown"), { part: 1, row: 2, column: 0 }); // the row between is empty
  assert.deepEqual(go(first, "ArrowDown", "ArrowDown"), { part: 1, row: 2, column: 0 });
  assert.deepEqual(go(first, "ArrowRight", "ArrowRight"), { part: 1, row: 0, column: 1 });
  assert.deepEqual(go(first, "End", "ArrowUp", "Home"), first);
  assert.deepEqual(go(first, "PageDown"), { part: 2, row: 0, column: 0 });
  assert.deepEqual(go(first, "PageUp"), { part: 0, row: 0, column: 0 });
  assert.equal(go(first, "x"), null);
});

test("horizontal bars are walked up and down", () => {
  const figure = { data: [{ type: "bar", orientation: "h", x: [1, 2, 3], y: ["a", "b", "c"] }], layout: {} };
  const parts = partsOf(figure);
  assert.deepEqual(nextSpot("ArrowUp", { part: 0, row: 0, column: 0 }, parts, figure), { part: 0, row: 0, column: 1 });
  assert.deepEqual(nextSpot("ArrowDown", { part: 0, row: 0, column: 1 }, parts, figure), { part: 0, row: 0, column: 0 });
});

test("Plotly gets a cell by its place on the axes", () => {
  assert.deepEqual(hoverPoints({ curveNumber: 2, pointNumber: [2, 1] }, FIGURE), [{ curveNumber: 2, xval: 14, yval: 7 }]);
  assert.deepEqual(hoverPoints({ curveNumber: 1, pointNumber: [0, 1] }, FIGURE), [{ curveNumber: 1, xval: 1, yval: 0 }]);
  assert.deepEqual(hoverPoints({ curveNumber: 3, pointNumber: 1 }, FIGURE), [{ curveNumber: 3, pointNumber: 1 }]);
});

test("a point is shown together with the same point of other traces", () => {
  const [first, ...others] = FIGURE.data.filter(({ type }) => type === "heatmap");
  const maps = { data: [first, ...others.map((map) => ({ ...map, xaxis: "x2" }))], layout: { meta: { together: [0, 2] } } };
  const points = hoverPoints({ curveNumber: 2, pointNumber: [0, 1] }, maps);
  assert.deepEqual(points, [
    { curveNumber: 0, xval: 1, yval: 0 },
    { curveNumber: 2, xval: 14, yval: 3 },
  ]);
  assert.deepEqual(subplotsOf([...points, points[0]], maps), ["xy", "x2y2"]);
  assert.deepEqual(hoverPoints({ curveNumber: 1, pointNumber: [0, 1] }, maps), [{ curveNumber: 1, xval: 1, yval: 0 }]);
  assert.deepEqual(hoverPoints({ curveNumber: 3, pointNumber: 1 }, FIGURE), [{ curveNumber: 3, pointNumber: 1 }]);
});

test("a point is named by the axes of its figure", () => {
  const cell = pointOf({ curveNumber: 1, pointNumber: [0, 1], x: "b", y: 0, z: 0.5 }, FIGURE);
  assert.deepEqual(cell, { trace: 1, name: "top", about: "weights", axis: 1, query: 0, key: 1, value: 0.5 });
  const bar = pointOf({ curveNumber: 3, pointNumber: 1, x: "b", y: 4, customdata: 7 }, FIGURE);
  assert.deepEqual(bar, { trace: 3, name: null, about: null, axis: 3, index: 1, key: "b", query: 4, data: 7 });
});
