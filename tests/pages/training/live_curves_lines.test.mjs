import assert from "node:assert/strict";
import { test } from "node:test";
import { line, written } from "../../../pages/training/live_curves_lines.js";

test("a curve runs from left to right as far as the run is, and highest values are at the top", () => {
  const path = line(
    [
      [1, 4],
      [50, 2],
      [100, 0],
    ],
    200,
    4,
    300,
    130,
  );
  assert.equal(path, "M1.5 0.0L75.0 65.0L150.0 130.0");
});

test("no point gives no path, and one point a short line", () => {
  assert.equal(line([], 10, 1, 300, 130), "");
  assert.equal(line([[5, 1]], 10, 1, 300, 130), "M150.0 0.0h4");
});

test("a value above the top or below zero stays within the panel", () => {
  assert.equal(
    line(
      [
        [0, 9],
        [10, -1],
      ],
      10,
      1,
      100,
      100,
    ),
    "M0.0 0.0L100.0 100.0",
  );
});

test("values are written as their curve needs them", () => {
  assert.equal(written("loss", 1.23456), "1.235");
  assert.equal(written("accuracy", 0.5), "50%");
  assert.equal(written("accuracy", 0.992), "99.2%");
  assert.equal(written("accuracy", 1), "100%");
  assert.equal(written("rate", 0.00123), "0.0012");
});
