// Tokens with their shares, which bars.css styles: a list of bars, and chips.

import { make } from "./component.js";
import { percent, tokenText } from "./format.js";

/**
 * A line of a list of bars: a name, a bar for a share from 0 to 1, and the share in per cent.
 *
 * @param {HTMLElement | string} name
 * @param {number} share
 * @param {{ kind?: string, own?: number, words?: string }} more the CSS class of the line, the share of a bar behind the other, and
 *   words instead of the share
 */
export function barOf(name, share, { kind = "", own = 0, words = percent(share) } = {}) {
  const [fill, behind] = [make("i", { class: "fill" }), make("i", { class: "own" })];
  fill.style.width = `${100 * share}%`;
  behind.style.width = `${100 * own}%`;
  const label = typeof name === "string" ? make("span", { title: name }, name) : name;
  label.classList.add("name");
  const track = make("span", { class: "track" }, behind, fill);
  return make("li", { class: kind }, label, track, make("span", { class: "share" }, words));
}

/**
 * A button with a token and its share in per cent, on a background of a colour that is strongest at a share of 1.
 *
 * @param {string} token
 * @param {number} share
 * @param {string} color
 * @param {number} strongest per cent of the colour at a share of 1
 * @param {() => void} act
 */
export function chipOf(token, share, color, strongest, act) {
  const chip = make("button", { type: "button", class: "chip" }, tokenText(token), make("small", {}, percent(share)));
  chip.style.background = `color-mix(in srgb, ${color} ${Math.round(strongest * share)}%, var(--page))`;
  chip.addEventListener("click", act);
  return chip;
}

/**
 * Draw all bars and chips of a component on a sheet, and other words.
 *
 * @param {import("./picture.js").Sheet} sheet
 * @param {HTMLElement} root
 * @param {string} others a selector of the other words
 */
export function drawBars(sheet, root, others) {
  for (const box of root.querySelectorAll(".chip, .track, .track i")) {
    const { backgroundColor: fill, borderTopColor: stroke, borderTopWidth, borderRadius } = getComputedStyle(box);
    sheet.rect(sheet.place(box), { fill, stroke, "stroke-width": borderTopWidth, rx: Number.parseFloat(borderRadius) });
  }
  for (const words of root.querySelectorAll(`.name, .share, ${others}`)) sheet.write(words);
  for (const chip of root.querySelectorAll(".chip")) for (const words of chip.childNodes) sheet.write(words);
}
