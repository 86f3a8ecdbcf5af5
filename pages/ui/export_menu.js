// Saves the picture drawn under a key. A Plotly chart answers the event "save" with a picture, another component the event
// "picture" with an SVG. Everything happens in the browser. No link is put into the page: a click on it would close the menu.

import { elementWithKey, pageBackground, shadowRoots } from "./compat.js";
import { make, penOf, rootOf } from "./component.js";
import { escapeMarkup } from "./picture.js";

const SHARPER = 2; // pixels of a PNG per px of the page

/** @typedef {{ place: string, name: string, formats: [format: string, label: string][] }} Data */

/** @param {import("./component.js").Mount<Data>} mount */
export default function exportMenu({ data, parentElement }) {
  const buttons = data.formats.map(([format, label]) => {
    const button = make("button", { type: "button" }, label);
    button.addEventListener("click", () => save(format, data));
    return button;
  });
  rootOf(parentElement, "export_menu").replaceChildren(...buttons);
}

/**
 * @param {string} format
 * @param {Data} data
 */
async function save(format, { place: key, name }) {
  const place = elementWithKey(key);
  if (!place) return;
  const chart = place.querySelector(".chart");
  if (chart) {
    // The picture needs the page's background, because the words of a dark page are light.
    const take = (/** @type {string} */ href) => make("a", { href, download: `${name}.${format}` }).click();
    chart.dispatchEvent(new CustomEvent("save", { detail: { format, background: pageBackground(), take } }));
    return;
  }
  const detail = { svg: "" };
  for (const root of shadowRoots(place)) {
    for (const component of root.querySelectorAll("div")) component.dispatchEvent(new CustomEvent("picture", { detail }));
  }
  if (!detail.svg) return;
  if (format === "html") {
    download(new Blob([offlinePage(detail.svg, name, pageBackground())], { type: "text/html" }), `${name}.html`);
    return;
  }
  const svg = new Blob([detail.svg], { type: "image/svg+xml" });
  download(format === "svg" ? svg : await raster(detail.svg), `${name}.${format}`);
}

/**
 * An SVG as a PNG.
 *
 * @param {string} svg
 * @returns {Promise<Blob>}
 */
async function raster(svg) {
  const image = make("img", { src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}` });
  await image.decode();
  const canvas = make("canvas", { width: SHARPER * image.width, height: SHARPER * image.height });
  const context = penOf(canvas);
  context.scale(SHARPER, SHARPER);
  context.drawImage(image, 0, 0);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The picture is too large for a PNG."))), "image/png");
  });
}

/**
 * An HTML page with only the picture. It needs no network.
 *
 * @param {string} svg
 * @param {string} name
 * @param {string} background
 */
export function offlinePage(svg, name, background) {
  const style = `<style>body { margin: 0; background: ${background} } svg { display: block; max-width: 100%; height: auto }</style>`;
  const title = `<title>${escapeMarkup(name)}</title>`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">${title}${style}</head><body>${svg}</body></html>`;
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
function download(blob, name) {
  const href = URL.createObjectURL(blob);
  make("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}
