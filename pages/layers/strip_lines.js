// The ways of the lines of the filmstrip.

const ABOVE = 14; // px over a tensor, where its line turns down to it
const APART = 9; // px between the lines that meet at a tensor
const MARGIN = 8; // px from the side of the sheet to a line that runs along it

/** @typedef {import("../ui/arrow_lines.js").Point} Point */
/** @typedef {import("../ui/arrow_lines.js").Place} Place */

/**
 * From the bottom of one tensor to the top of another; if there are others between them, along the right side of the sheet.
 *
 * @param {Place} from
 * @param {Place} to
 * @param {number} width of the sheet
 * @param {number} offset of this line among those that meet there, such as −0.5 and 0.5 of two
 * @param {boolean} free whether nothing stands between the two
 * @returns {Point[]}
 */
export function linePoints(from, to, width, offset, free) {
  const [x, turn] = [to.x + 2 * APART * offset, to.top - ABOVE];
  if (free) {
    return [
      [from.x, from.bottom],
      [from.x, turn],
      [x, turn],
      [x, to.top],
    ];
  }
  return [
    [from.right, from.y],
    [width - MARGIN, from.y],
    [width - MARGIN, turn - APART],
    [x, turn - APART],
    [x, to.top],
  ];
}

/**
 * From the left side of a source down along the left side of the sheet, and to the sum in which the stream ends.
 *
 * @param {Place} from
 * @param {Place} to
 * @returns {Point[]}
 */
export function residualPoints(from, to) {
  return [
    [from.left, from.y],
    [MARGIN, from.y],
    [MARGIN, to.y],
    [to.left, to.y],
  ];
}
