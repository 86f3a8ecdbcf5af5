import assert from "node:assert/strict";
import { test } from "node:test";
import { cellAfterKey, markedCells } from "../../../pages/ui/marking_cells.js";

test("cells are marked and cleared, in ascending order", () => {
  assert.deepEqual(markedCells([2, 10], [9, 2], true, false), [2, 9, 10]);
  assert.deepEqual(markedCells([2, 9, 10], [9, 3], false, false), [2, 10]);
});

test("a single mark replaces the one before and can be taken back", () => {
  assert.deepEqual(markedCells([2], [7], true, true), [7]);
  assert.deepEqual(markedCells([7], [7], false, true), []);
});

test("arrow keys move within the table, Home and End to the ends of the row, other keys nowhere", () => {
  const moves = { ArrowLeft: 4, ArrowRight: 6, ArrowUp: 1, ArrowDown: 9, Home: 4, End: 7, a: 5, Tab: 5 };
  for (const [key, cell] of Object.entries(moves)) assert.equal(cellAfterKey(key, 5, 3, 4), cell, key);
  assert.equal(cellAfterKey("ArrowLeft", 4, 3, 4), 4);
  assert.equal(cellAfterKey("ArrowRight", 11, 3, 4), 11);
  assert.equal(cellAfterKey("ArrowDown", 11, 3, 4), 11);
});
