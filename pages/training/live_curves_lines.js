// The path of a curve, and the text of its values.

import { clamp } from "../ui/component.js";

/**
 * The path of a curve. Without points it is empty; a single point becomes a short line.
 *
 * @param {[step: number, value: number][]} points
 * @param {number} steps the step at the right end
 * @param {number} most the value at the top
 * @param {number} width
 * @param {number} height
 */
export function line(points, steps, most, width, height) {
  const places = points.map(([step, value]) => {
    const x = (width * step) / Math.max(1, steps);
    const y = height * (1 - clamp(0, value / most, 1));
    return `${x.toFixed(1)} ${y.toFixed(1)}`;
  });
  if (places.length === 0) return "";
  return `M${places.join("L")}${places.length === 1 ? "h4" : ""}`;
}

/**
 * A value as it is written above its curve.
 *
 * @param {"loss" | "accuracy" | "rate"} name
 * @param {number} value
 */
export function written(name, value) {
  if (name === "accuracy") return `${(100 * value).toFixed(value < 1 && value > 0.985 ? 1 : 0)}%`;
  return name === "loss" ? value.toFixed(3) : String(Number(value.toPrecision(2)));
}
