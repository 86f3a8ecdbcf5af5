import assert from "node:assert/strict";
import { test } from "node:test";
import { isReady, levelsOfFrame } from "../../../pages/training/film_frames.js";

const FRAMES = [0, 25, 316, 4000].map((step) => ({
  step,
  place: step,
  answer: "",
  ended: true,
  right: null,
  loss: null,
  accuracy: null,
  rows: [],
}));

test("the levels of a frame are its own, whether all frames are ready or some", () => {
  assert.deepEqual([...levelsOfFrame(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), FRAMES, 1)], [3, 4]);
  const [first, second, ...others] = FRAMES;
  const waiting = [
    { step: 0, place: 0, loss: null, accuracy: null },
    second,
    { step: 316, place: 316, loss: null, accuracy: null },
    others[1],
  ];
  assert.deepEqual(waiting.map(isReady), [false, true, false, true]);
  assert.ok(isReady(first));
  assert.deepEqual([...levelsOfFrame(Uint8Array.of(1, 2, 3, 4), waiting, 3)], [3, 4]);
});
