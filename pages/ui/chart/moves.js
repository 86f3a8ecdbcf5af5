// Lets the pictures of a chart move from their old places to their new ones, so that one sees what became of each.
//
// A layout names its pictures: `meta.pictures` has a name for each pair of axes, the last one being the result of the others.

const DURATION = 300; // ms

/** @typedef {Map<string, DOMRect>} Places */

/**
 * The place on the screen of each named picture.
 *
 * @param {import("./chart.js").Plot} plot
 * @returns {Places}
 */
export function placesOf(plot) {
  return new Map(pictures(plot).map(([name, picture]) => [name, placeOf(picture)]));
}

/**
 * Let each picture begin where it was before. The result begins where its first input is, and another new picture fades in.
 *
 * @param {import("./chart.js").Plot} plot
 * @param {Places} before
 */
export function moveFrom(plot, before) {
  if (!before.size || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const all = pictures(plot);
  const origin = plot.getBoundingClientRect();
  all.forEach(([name, picture], at) => {
    const isResult = at > 0 && at === all.length - 1;
    const from = before.get(name) ?? (isResult ? placeOf(all[0][1]) : undefined);
    const first = { opacity: before.has(name) ? 1 : 0, transform: from ? moved(from, placeOf(picture), origin) : "none" };
    picture.animate([first, { opacity: 1, transform: "none" }], { duration: DURATION, easing: "ease-out", id: "move" });
  });
}

/**
 * The transformation that draws a picture at another place.
 *
 * @param {DOMRect} from the other place
 * @param {DOMRect} to the place of the picture
 * @param {DOMRect} origin the place of the chart
 */
function moved(from, to, origin) {
  if (!to.width || !to.height) return "none";
  const [wide, high] = [from.width / to.width, from.height / to.height];
  const across = from.left - origin.left - (to.left - origin.left) * wide;
  const down = from.top - origin.top - (to.top - origin.top) * high;
  return `translate(${across}px, ${down}px) scale(${wide}, ${high})`;
}

/**
 * @param {import("./chart.js").Plot} plot
 * @returns {[name: string, picture: Element][]}
 */
function pictures(plot) {
  /** @type {string[]} */
  const names = plot.layout?.meta?.pictures ?? [];
  return names.flatMap((name, at) => {
    const number = at ? at + 1 : "";
    const picture = plot.querySelector(`.cartesianlayer > .x${number}y${number}`);
    return picture ? [[name, picture]] : [];
  });
}

/** @param {Element} picture */
function placeOf(picture) {
  return (picture.querySelector(".heatmaplayer") ?? picture).getBoundingClientRect();
}
