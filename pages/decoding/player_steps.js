// The steps of an answer, without access to the page.

import { TOP_LEVEL } from "../ui/colors.js";
import { clamp } from "../ui/component.js";

/**
 * A share from 0 to 1, and its value `own` before the logits processors.
 *
 * @typedef {{ share: number, own: number }} Shares
 */

/**
 * One step, as player.py sends it.
 *
 * @typedef {{
 *   read: string[], token: string, ended: boolean, why: string,
 *   bars: (Shares & { token: string, chosen: boolean })[], rest: Shares,
 *   self: number[], cross: number[],
 * }} Step
 */

/**
 * The attention of all steps up to and including `step` as bytes from 0 to `TOP_LEVEL`, a row for each step.
 *
 * @param {Step[]} steps
 * @param {number} step
 */
export function alignmentLevels(steps, step) {
  const rows = steps.slice(0, step + 1).map(({ cross }) => cross);
  return Uint8Array.from(rows.flat(), (weight) => Math.round(TOP_LEVEL * clamp(0, weight, 1)));
}
