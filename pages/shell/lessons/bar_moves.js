// What a person has chosen or written in a question, before it is checked.

const NUMBER = /^[-−]?(\d{1,9}([.,]\d{0,9})?|[.,]\d{1,9})$/; // answers.py

/**
 * Positions with one more or one less; of too many, the oldest goes.
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
 * An order with one entry moved by one place.
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
 * The number that a person has written, as answers.py reads it; a percentage as a share: `95 %` is 0.95. Empty if it is none.
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
