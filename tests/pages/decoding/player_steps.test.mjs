import assert from "node:assert/strict";
import { test } from "node:test";
import { alignmentLevels, percent, stepOfKey } from "../../../pages/decoding/player_steps.js";

test("arrow keys move one step and stop at both ends, Home and End go there", () => {
  assert.equal(stepOfKey("ArrowRight", 1, 4), 2);
  assert.equal(stepOfKey("ArrowRight", 3, 4), 3);
  assert.equal(stepOfKey("ArrowLeft", 0, 4), 0);
  assert.equal(stepOfKey("Home", 2, 4), 0);
  assert.equal(stepOfKey("End", 0, 4), 3);
  assert.equal(stepOfKey("a", 2, 4), null);
});

test("a share that rounds to nothing is not written as nothing", () => {
  assert.equal(percent(0.9612), "96.1 %");
  assert.equal(percent(0.0001), "< 0.1 %");
  assert.equal(percent(0), "0.0 %");
});

test("the alignment grows by a row for each step", () => {
  const steps = [{ cross: [1, 0] }, { cross: [0.5, 0.5] }];
  assert.deepEqual([...alignmentLevels(steps, 0)], [254, 0]);
  assert.deepEqual([...alignmentLevels(steps, 1)], [254, 0, 127, 127]);
});
