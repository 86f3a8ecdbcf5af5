// Changes of an answer before it is checked: marked tokens, an order, a typed number.

const NUMBER = /^[-−]?(\d{1,9}([.,]\d{0,9})?|[.,]\d{1,9})$/; // answers.py

/**
 * The chosen positions, with one position added or removed. If there are then more than `most`, the oldest one is removed.
 *
 * @param {number[]} chosen
 * @param {number} position
 * @param {number} most
 */
export function toggled(chosen, position, most) {
  if (chosen.includes(position)) return chosen.filter((other) => other !== position);
  return [...chosen, position].slice(-most);
}

/**
 * A copy of an order in which one entry is moved by one place.
 *
 * @param {number[]} order
 * @param {number} place
 * @param {number} by −1 or 1
 */
export function moved(order, place, by) {
  const changed = [...order];
  [changed[place], changed[place + by]] = [changed[place + by], changed[place]];
  return changed;
}

/**
 * A typed number in the form that answers.py reads. A percentage becomes a share: `95%` is 0.95. Empty if it is not a number.
 *
 * @param {string} written
 */
export function numberIn(written) {
  const number = written.replace(/%\s*$/, "").trim();
  if (!NUMBER.test(number)) return "";
  if (!written.includes("%")) return number;
  const share = Number(number.replace("−", "-").replace(",", ".")) / 100;
  return share.toFixed(9).replace(/\.?0+$/, "");
}
