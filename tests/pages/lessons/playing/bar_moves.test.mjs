// Changes of an answer to a question of a lesson: marked tokens, an order, a typed number.

import assert from "node:assert/strict";
import { test } from "node:test";
import { moved, numberIn, toggled } from "../../../../pages/lessons/playing/bar_moves.js";

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

test("a number is read with a comma, a minus sign or a percent sign, and nothing else is one", () => {
  for (const plain of ["0.5", "0,5", ".5", "12", "-3", "−0.30", "7."]) assert.equal(numberIn(` ${plain} `), plain);
  const shares = { "95%": "0.95", "95,4 %": "0.954", "−5 %": "-0.05", "100 % ": "1", "0%": "0", "2000 %": "20" };
  for (const [written, share] of Object.entries(shares)) assert.equal(numberIn(written), share);
  for (const none of ["", "%", "1/3", "nan", "1e5", "5 tokens", "5%%", "% 5", "1234567890", "٥", "0.5.1"])
    assert.equal(numberIn(none), "");
});
