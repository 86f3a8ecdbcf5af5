// The frames of a training, without access to the page: the place of a step on the axis, and the frame at a place.

/**
 * A frame, as film.py sends it. `rows` has the distribution of each row of the decoder. A frame that was not requested yet has
 * no answer and no rows.
 *
 * @typedef {{ step: number, loss: number | null, accuracy: number | null }} BareFrame
 * @typedef {BareFrame & {
 *   answer: string, ended: boolean, right: boolean | null,
 *   rows: { bars: [token: string, share: number, expected: boolean][], rest: number }[],
 * }} ReadyFrame
 * @typedef {BareFrame | ReadyFrame} Frame
 */

const FIRST = 10; // steps: the axis is nearly linear before this step, and nearly logarithmic after it

/**
 * The place of a step on the axis, from 0 for step 0 to 1 for the last step.
 *
 * @param {number} step
 * @param {number} last
 */
export function placeOfStep(step, last) {
  return last > 0 ? Math.log(1 + step / FIRST) / Math.log(1 + last / FIRST) : 0;
}

/**
 * The steps that are written on the axis: 0, the powers of ten far enough from the last step, and the last step.
 *
 * @param {number} last
 */
export function axisSteps(last) {
  const powers = [10, 100, 1000, 10_000, 100_000].filter((step) => step < 0.4 * last);
  return [0, ...powers, last];
}

/**
 * The frame nearest to a place on the axis.
 *
 * @param {Frame[]} frames
 * @param {number} place from 0 to 1
 */
export function frameAt(frames, place) {
  const last = frames[frames.length - 1].step;
  const distances = frames.map(({ step }) => Math.abs(placeOfStep(step, last) - place));
  return distances.indexOf(Math.min(...distances));
}

/**
 * Whether a frame has an answer and rows.
 *
 * @param {Frame} frame
 * @returns {frame is ReadyFrame}
 */
export function isReady(frame) {
  return "rows" in frame;
}

/**
 * The levels of one frame.
 *
 * @param {Uint8Array<ArrayBuffer>} levels the levels of all frames that are ready
 * @param {Frame[]} frames
 * @param {number} frame the index of a frame that is ready
 */
export function levelsOfFrame(levels, frames, frame) {
  const size = levels.length / frames.filter(isReady).length;
  const place = frames.slice(0, frame).filter(isReady).length;
  return levels.subarray(place * size, (place + 1) * size);
}
