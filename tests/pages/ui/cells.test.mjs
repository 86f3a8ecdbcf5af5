import assert from "node:assert/strict";
import { test } from "node:test";
import { cellAfterKey, cellsUnder, columnsOfCaptions, shrunk } from "../../../pages/ui/cells.js";

test("tiles with captions stand in as many columns as make them highest, and captions do not overlap", () => {
  assert.equal(columnsOfCaptions(10, { width: 1000, least: 100, scale: 1 }), 5);
  assert.equal(columnsOfCaptions(10, { width: 250, least: 110, scale: 1 }), 2);
  assert.equal(columnsOfCaptions(0, { width: 600, least: 0, scale: 1 }), 1);
});

test("a map with fewer pixels than cells shows the strongest cell of each pixel", () => {
  const levels = Uint8Array.from([9, 9, 9, 9, 1, 255, 3, 254]);
  assert.deepEqual([...shrunk(levels, [2, 2], 1, 2, 2)], [1, 255, 3, 254]);
  assert.deepEqual([...shrunk(levels, [2, 2], 1, 2, 1)], [1, 254]);
  assert.deepEqual([...shrunk(levels, [2, 2], 1, 1, 1)], [254]);
});

test("the arrow keys do not leave the row or the grid, and the last row may be short", () => {
  const to = (/** @type {string} */ key, /** @type {number} */ cursor) => cellAfterKey(key, cursor, 4, 10);
  assert.deepEqual(
    ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].map((key) => to(key, 5)),
    [4, 6, 1, 9, 4, 7],
  );
  assert.deepEqual(
    ["ArrowLeft", "ArrowUp"].map((key) => to(key, 0)),
    [0, 0],
  );
  assert.deepEqual(
    ["ArrowRight", "ArrowDown", "End"].map((key) => to(key, 9)),
    [9, 9, 9],
  );
  assert.deepEqual([to("ArrowDown", 6), to("End", 8), to("a", 5)], [6, 9, null]);
});

test("cellsUnder: each cell lies under a pixel, in order, also where there are more cells than pixels", () => {
  for (const [size, cells] of [
    [10, 4],
    [7, 7],
    [5, 13],
    [56, 200],
  ]) {
    const spans = Array.from({ length: size }, (_, pixel) => cellsUnder(pixel, size, cells));
    const seen = new Set(spans.flatMap(([from, to]) => Array.from({ length: to - from }, (_, index) => from + index)));
    assert.deepEqual(
      [...seen],
      Array.from({ length: cells }, (_, cell) => cell),
    );
  }
  assert.deepEqual(cellsUnder(9.99, 10, 4), [3, 4]);
});
