import assert from "node:assert/strict";
import { test } from "node:test";
import { isReady, levelsOfFrame, placeOfStep } from "../../../pages/training/film_frames.js";

const FRAMES = [0, 25, 316, 4000].map((step) => ({
  step,
  answer: "",
  ended: true,
  right: null,
  loss: null,
  accuracy: null,
  rows: [],
}));

test("a step is placed on a logarithmic axis that is nearly linear at first", () => {
  assert.equal(placeOfStep(0), 0);
  assert.ok(placeOfStep(100) > 0.35 * placeOfStep(4000));
});

test("the levels of a frame are its own, whether all frames are ready or some", () => {
  assert.deepEqual([...levelsOfFrame(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), FRAMES, 1)], [3, 4]);
  const [first, second, ...others] = FRAMES;
  const waiting = [{ step: 0, loss: null, accuracy: null }, second, { step: 316, loss: null, accuracy: null }, others[1]];
  assert.deepEqual(waiting.map(isReady), [false, true, false, true]);
  assert.ok(isReady(first));
  assert.deepEqual([...levelsOfFrame(Uint8Array.of(1, 2, 3, 4), waiting, 3)], [3, 4]);
});
