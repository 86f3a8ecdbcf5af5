import assert from "node:assert/strict";
import { test } from "node:test";
import { axisSteps, frameAt, isReady, levelsOfFrame, placeOfStep } from "../../../pages/training/film_frames.js";

const FRAMES = [0, 25, 316, 4000].map((step) => ({
  step,
  answer: "",
  ended: true,
  right: null,
  loss: null,
  accuracy: null,
  rows: [],
}));

test("the axis starts at 0, ends at the last step, and spreads the early ones", () => {
  assert.equal(placeOfStep(0, 4000), 0);
  assert.equal(placeOfStep(4000, 4000), 1);
  assert.ok(placeOfStep(100, 4000) > 0.35);
  assert.equal(placeOfStep(0, 0), 0);
  assert.deepEqual(axisSteps(4000), [0, 10, 100, 1000, 4000]);
  assert.deepEqual(axisSteps(16_000), [0, 10, 100, 1000, 16_000]); // the label 10,000 would overlap the last one
  assert.deepEqual(axisSteps(1200), [0, 10, 100, 1200]);
});

test("a place on the axis gives the nearest frame", () => {
  for (const [index, { step }] of FRAMES.entries()) assert.equal(frameAt(FRAMES, placeOfStep(step, 4000)), index);
  assert.equal(frameAt(FRAMES, -1), 0);
  assert.equal(frameAt(FRAMES, 2), 3);
});

test("the levels of a frame are its own, whether all frames are ready or some", () => {
  assert.deepEqual([...levelsOfFrame(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), FRAMES, 1)], [3, 4]);
  const [first, second, ...others] = FRAMES;
  const waiting = [{ step: 0, loss: null, accuracy: null }, second, { step: 316, loss: null, accuracy: null }, others[1]];
  assert.deepEqual(waiting.map(isReady), [false, true, false, true]);
  assert.ok(isReady(first));
  assert.deepEqual([...levelsOfFrame(Uint8Array.of(1, 2, 3, 4), waiting, 3)], [3, 4]);
});
