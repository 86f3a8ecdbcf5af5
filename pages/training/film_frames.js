// The frames of a training, without access to the page.

/**
 * A frame, as films.py sends it. `place` is the place of the step on the horizontal axis of the curves. `says` introduces the
 * answer; `rows` has the distribution of each row of the decoder. A frame that was not requested yet has none of these three.
 *
 * @typedef {{ step: number, place: number, loss: number | null, accuracy: number | null }} BareFrame
 * @typedef {BareFrame & {
 *   says: string, answer: string, ended: boolean, right: boolean | null,
 *   rows: { bars: [token: string, share: number, expected: boolean][], rest: number }[],
 * }} ReadyFrame
 * @typedef {BareFrame | ReadyFrame} Frame
 */

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
