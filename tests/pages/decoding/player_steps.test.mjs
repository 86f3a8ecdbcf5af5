import assert from "node:assert/strict";
import { test } from "node:test";
import { alignmentLevels } from "../../../pages/decoding/player_steps.js";

test("the alignment grows by a row for each step", () => {
  const steps = [{ cross: [1, 0] }, { cross: [0.5, 0.5] }];
  assert.deepEqual([...alignmentLevels(steps, 0)], [254, 0]);
  assert.deepEqual([...alignmentLevels(steps, 1)], [254, 0, 127, 127]);
});
