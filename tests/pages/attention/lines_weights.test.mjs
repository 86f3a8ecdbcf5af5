import assert from "node:assert/strict";
import { test } from "node:test";
import {
  highestWeight,
  linesOf,
  meanOverHeads,
  roundedDown,
  sharesOf,
  tokenAfterKey,
} from "../../../pages/attention/lines_weights.js";

// Two heads, two queries, three keys; negative: masked.
/** @type {[number, number, number]} */
const SHAPE = [2, 2, 3];
const WEIGHTS = Float32Array.of(0.5, 0.5, -1, 0.25, 0.25, 0.5, /* head 2 */ 1, 0, -1, 0, 0.75, 0.25);

test("the mean is over the given heads; a pair masked in all of them is −1", () => {
  assert.deepEqual([...meanOverHeads(WEIGHTS, SHAPE, [0, 1])], [0.75, 0.25, -1, 0.125, 0.5, 0.375]);
  assert.deepEqual([...meanOverHeads(WEIGHTS, SHAPE, [1])], [1, 0, -1, 0, 0.75, 0.25]);
  assert.deepEqual([...meanOverHeads(WEIGHTS, SHAPE, [])], [-1, -1, -1, -1, -1, -1]);
});

test("shares: what chosen queries give each key, and what chosen keys get from each query", () => {
  const means = meanOverHeads(WEIGHTS, SHAPE, [0]);
  assert.deepEqual(sharesOf(means, SHAPE, "query", [0]), [0.5, 0.5, -1]);
  assert.deepEqual(sharesOf(means, SHAPE, "query", [0, 1]), [0.75, 0.75, 0.5]);
  assert.deepEqual(sharesOf(means, SHAPE, "key", [2]), [-1, 0.5]);
});

test("highestWeight looks only at pairs of the chosen tokens", () => {
  assert.equal(highestWeight(WEIGHTS, SHAPE, [0, 1], { query: [], key: [] }), 1);
  assert.equal(highestWeight(WEIGHTS, SHAPE, [0, 1], { query: [1], key: [] }), 0.75);
  assert.equal(highestWeight(WEIGHTS, SHAPE, [0], { query: [], key: [2] }), 0.5);
  assert.equal(highestWeight(WEIGHTS, SHAPE, [], { query: [], key: [] }), 0);
});

test("a pair has a line from the threshold on, in single precision; masked and zero pairs never", () => {
  const pairs = (/** @type {number} */ threshold, /** @type {any} */ chosen = null) => [
    ...linesOf(WEIGHTS, SHAPE, 1, threshold, chosen),
  ];
  assert.deepEqual(pairs(0), [
    [0, 0, 15],
    [1, 1, 12],
    [1, 2, 4],
  ]);
  assert.deepEqual(pairs(0.5).length, 2);
  assert.deepEqual(pairs(0, { query: [], key: [2] }), [[1, 2, 4]]);
  assert.equal([...linesOf(Float32Array.of(0.1), [1, 1, 1], 0, 0.1, null)].length, 1);
});

test("a weight is told no higher than it is", () => {
  assert.deepEqual([0.998, 0.5, 0.019].map(roundedDown), ["0.99", "0.50", "0.01"]);
});

test("arrow keys move along a side, stop at its ends, and change the side at the nearest token", () => {
  const to = (/** @type {string} */ key, /** @type {"query" | "key"} */ side, /** @type {number} */ index) =>
    tokenAfterKey(key, side, index, { query: 5, key: 3 });
  assert.deepEqual(to("ArrowDown", "query", 1), ["query", 2]);
  assert.deepEqual(
    [to("ArrowUp", "query", 0), to("ArrowDown", "key", 2)],
    [
      ["query", 0],
      ["key", 2],
    ],
  );
  assert.deepEqual(
    [to("Home", "key", 2), to("End", "query", 0)],
    [
      ["key", 0],
      ["query", 4],
    ],
  );
  assert.deepEqual(
    [to("ArrowRight", "query", 4), to("ArrowLeft", "key", 1)],
    [
      ["key", 2],
      ["query", 1],
    ],
  );
  assert.equal(to("a", "query", 0), null);
});
