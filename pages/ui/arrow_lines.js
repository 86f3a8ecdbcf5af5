// The lines of the map of Home: paths with rounded corners through points, and arrowheads.

export const SVG = "http://www.w3.org/2000/svg";

const ROUND = 7; // px, radius of the corners of a line
const AWAY = 11; // px from a block's side to the line that goes around the block
const OVER = 7; // px above a block at which the line around the block begins

/** @typedef {[x: number, y: number]} Point */

/** The sides and the middle of a block, in px. @typedef {{ left: number, top: number, right: number, bottom: number, x: number, y: number }} Place */

/**
 * The points of a line from the bottom of a block straight down to the top of another block.
 *
 * @param {Place} from
 * @param {Place} to
 * @returns {Point[]}
 */
export function flowPoints(from, to) {
  return [
    [from.x, from.bottom],
    [from.x, to.top],
  ];
}

/**
 * The points of a line around one side of a block. The line starts above the block and ends at `join`.
 *
 * @param {Place} block
 * @param {Place} join
 * @param {"left" | "right"} side
 * @returns {Point[]}
 */
export function aroundPoints(block, join, side) {
  const start = block.top - OVER;
  const x = side === "left" ? block.left - AWAY : block.right + AWAY;
  return [
    [block.x, start],
    [x, start],
    [x, join.y],
    [side === "left" ? join.left : join.right, join.y],
  ];
}

/**
 * The points of a line from the right side of a block to the left side of another block. The line goes down or up at `x`.
 *
 * @param {Place} from
 * @param {Place} to
 * @param {number} x
 * @returns {Point[]}
 */
export function acrossPoints(from, to, x) {
  return [
    [from.right, from.y],
    [x, from.y],
    [x, to.y],
    [to.left, to.y],
  ];
}

/**
 * The SVG paths of a line with rounded corners through some points, and of the arrowhead at its end.
 *
 * @param {Point[]} points two or more
 * @returns {[line: string, head: string]}
 */
export function arrowPaths(points) {
  const steps = [`M${points[0]}`];
  for (let index = 1; index < points.length - 1; index++) {
    const corner = points[index];
    steps.push(`L${towards(corner, points[index - 1])}`, `Q${corner} ${towards(corner, points[index + 1])}`);
  }
  const [last, end] = points.slice(-2);
  const [dx, dy] = [Math.sign(end[0] - last[0]), Math.sign(end[1] - last[1])];
  steps.push(`L${[end[0] - dx * 4, end[1] - dy * 4]}`);
  const [bx, by] = [end[0] - dx * 6, end[1] - dy * 6];
  const head = [end, [bx - dy * 3.5, by + dx * 3.5], [bx + dy * 3.5, by - dx * 3.5]];
  return [steps.join(" "), `M${head.join(" L")} Z`];
}

/**
 * A point between two points. Its distance from the first is the radius of a corner, but at most half the way.
 *
 * @param {Point} from
 * @param {Point} to
 * @returns {Point}
 */
export function towards(from, to) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy) || 1;
  const step = Math.min(ROUND, length / 2);
  return [from[0] + (dx / length) * step, from[1] + (dy / length) * step];
}

/**
 * @param {string} name the class of the path
 * @param {string} d
 */
export function svgPath(name, d) {
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("class", name);
  path.setAttribute("d", d);
  return path;
}
