// The steps of an answer: which one comes next, and what a step shows. Nothing here touches the page.

import { clamp } from "../ui/component.js";

/**
 * One step, as player.py sends it. Shares are from 0 to 1.
 *
 * @typedef {{
 *   read: string[], token: string, ended: boolean, why: string,
 *   bars: { token: string, share: number, own: number, chosen: boolean }[], rest: number,
 *   self: number[], cross: number[],
 * }} Step
 */

/**
 * The step that a key leads to, counted from 0; null for a key that does nothing.
 *
 * @param {string} key
 * @param {number} step
 * @param {number} count
 */
export function stepOfKey(key, step, count) {
  /** @type {Record<string, number>} */
  const targets = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: count - 1 };
  return key in targets ? clamp(0, targets[key], count - 1) : null;
}

/**
 * A share in per cent: 0.123 is "12.3 %"; what rounds to nothing is "< 0.1 %".
 *
 * @param {number} share
 */
export function percent(share) {
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  return `${(100 * share).toFixed(1)} %`;
}

/**
 * The attention of all steps up to one as bytes, a row for each step; 0 to 254.
 *
 * @param {Step[]} steps
 * @param {number} step
 */
export function alignmentLevels(steps, step) {
  const rows = steps.slice(0, step + 1).map(({ cross }) => cross);
  return Uint8Array.from(rows.flat(), (weight) => Math.round(254 * clamp(0, weight, 1)));
}
