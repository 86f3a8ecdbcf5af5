// What a person has chosen in a question of a lesson.

import assert from "node:assert/strict";
import { test } from "node:test";
import { moved, toggled } from "../../../../pages/shell/lessons/bar_moves.js";

test("a click marks a token, a second one takes the mark away", () => {
  assert.deepEqual(toggled([], 3, 2), [3]);
  assert.deepEqual(toggled([3], 3, 2), []);
});

test("one mark too many takes the oldest away", () => {
  assert.deepEqual(toggled([3, 1], 2, 2), [1, 2]);
});

test("an entry changes places with its neighbour, and the order before stays as it was", () => {
  const order = [2, 0, 1];
  assert.deepEqual(moved(order, 0, 1), [0, 2, 1]);
  assert.deepEqual(moved(order, 2, -1), [2, 1, 0]);
  assert.deepEqual(order, [2, 0, 1]);
});
