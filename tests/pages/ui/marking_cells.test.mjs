import assert from "node:assert/strict";
import { test } from "node:test";
import { ascending, Echoes, markedCells } from "../../../pages/ui/marking_cells.js";

test("cells are marked and cleared, and compared in ascending order", () => {
  assert.deepEqual(ascending(markedCells([2, 10], [9, 2], true, 0)), [2, 9, 10]);
  assert.deepEqual(markedCells([2, 9, 10], [9, 3], false, 0), [2, 10]);
});

test("of too many marks the oldest goes, and each can be taken back", () => {
  assert.deepEqual(markedCells([2], [7], true, 1), [7]);
  assert.deepEqual(markedCells([7], [7], false, 1), []);
  assert.deepEqual(markedCells([9, 2], [7], true, 2), [2, 7]);
});

test("marks that come back after they were sent are no news, those of another place and of Back are", () => {
  const echoes = new Echoes();
  assert.ok(echoes.elsewhere([]));
  echoes.note([3]);
  echoes.note([3, 1]);
  assert.ok(!echoes.elsewhere([]), "an older run ends late");
  assert.ok(!echoes.elsewhere([3]));
  assert.ok(!echoes.elsewhere([1, 3]));
  assert.ok(echoes.elsewhere([3]), "Back leads to marks that were sent before");
  echoes.note([5]);
  assert.ok(echoes.elsewhere([4]));
});
