// What a person has chosen in a question, before it is checked.

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
