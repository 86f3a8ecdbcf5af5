// The points of the lines of the filmstrip.

const ABOVE = 14; // px above a tensor at which a line turns down to it
const APART = 9; // px between the lines that meet at a tensor
const MARGIN = 8; // px between the side of the sheet and a line along it

/** @typedef {import("../ui/arrow_lines.js").Point} Point */
/** @typedef {import("../ui/arrow_lines.js").Place} Place */

/**
 * The points of a line from the bottom of one tensor to the top of another. If other tensors are between them, the line goes
 * along the right side of the sheet.
 *
 * @param {Place} from
 * @param {Place} to
 * @param {number} width the width of the sheet
 * @param {number} offset the place of this line among the lines that meet at `to`, for example −0.5 or 0.5 if there are two
 * @param {boolean} free whether no other tensor is between the two
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
 * The points of a line from the left side of a source, down along the left side of the sheet, to the residual sum.
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
