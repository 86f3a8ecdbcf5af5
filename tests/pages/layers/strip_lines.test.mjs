import assert from "node:assert/strict";
import { test } from "node:test";
import { linePoints, residualPoints } from "../../../pages/layers/strip_lines.js";

const above = { left: 40, top: 0, right: 140, bottom: 50, x: 90, y: 25 };
const below = { left: 40, top: 100, right: 80, bottom: 150, x: 60, y: 120 };

test("a line goes straight down where it can, and lines that meet end side by side", () => {
  const ends = [-0.5, 0.5].map((offset) => linePoints(above, below, 300, offset, true).at(-1));
  assert.deepEqual(linePoints(above, below, 300, 0, true)[0], [90, 50]);
  assert.deepEqual(ends, [
    [51, 100],
    [69, 100],
  ]);
});

test("a line past other tensors runs along the right side, and the stream along the left", () => {
  const points = linePoints(above, below, 300, 0, false);
  assert.deepEqual(points[0], [140, 25]);
  assert.ok(points.slice(1, 3).every(([x]) => x === 292));
  const stream = residualPoints(above, below);
  assert.deepEqual(
    [stream[0], stream.at(-1)],
    [
      [40, 25],
      [40, 120],
    ],
  );
  assert.ok(stream.slice(1, 3).every(([x]) => x < 40));
});
