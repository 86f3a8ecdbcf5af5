import assert from "node:assert/strict";
import { test } from "node:test";
import { ancestors, hasChildren, treeMove } from "../../../pages/ui/tree_moves.js";

// model > (encoder > (layer, norm), decoder > layer)
const LEVELS = [0, 1, 2, 2, 1, 2];

/** @param {string} key @param {number} index @param {number[]} folded */
const move = (key, index, folded = []) => treeMove(key, index, LEVELS, (line) => folded.includes(line));

test("ancestors are the lines above, the nearest first", () => {
  assert.deepEqual(ancestors(LEVELS, 3), [1, 0]);
  assert.deepEqual(ancestors(LEVELS, 5), [4, 0]);
  assert.deepEqual(ancestors(LEVELS, 0), []);
});

test("a line has children if the next lies deeper", () => {
  assert.deepEqual(
    LEVELS.map((_, index) => hasChildren(LEVELS, index)),
    [true, true, false, false, true, false],
  );
});

test("up and down pass over folded lines, and stop at the ends", () => {
  assert.deepEqual(move("ArrowDown", 1), { go: 2 });
  assert.deepEqual(move("ArrowDown", 1, [1]), { go: 4 });
  assert.deepEqual(move("ArrowUp", 4, [1]), { go: 1 });
  assert.deepEqual(move("ArrowUp", 0), {});
  assert.deepEqual(move("ArrowDown", 5), {});
  assert.deepEqual([move("Home", 3), move("End", 3), move("End", 0, [4])], [{ go: 0 }, { go: 5 }, { go: 4 }]);
});

test("right opens a folded line, then goes into it; left closes it, then goes out", () => {
  assert.deepEqual(move("ArrowRight", 1, [1]), { fold: false });
  assert.deepEqual(move("ArrowRight", 1), { go: 2 });
  assert.deepEqual(move("ArrowRight", 2), {});
  assert.deepEqual(move("ArrowLeft", 1), { fold: true });
  assert.deepEqual(move("ArrowLeft", 1, [1]), { go: 0 });
  assert.deepEqual(move("ArrowLeft", 2), { go: 1 });
});

test("Enter and space pick; other keys are not the tree's", () => {
  assert.deepEqual([move("Enter", 2), move(" ", 2), move("a", 2)], [{ pick: true }, { pick: true }, null]);
});
