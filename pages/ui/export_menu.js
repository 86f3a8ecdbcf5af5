// Saves the picture that stands under a key: a chart of Plotly's, by Plotly's own exporter, or a component of ours, which
// answers the event "picture" with an SVG. All of it happens in the browser.

import { make } from "./component.js";

const SHARPER = 2; // pixels of a PNG per pixel of the page

export default function exportMenu({ data, parentElement }) {
  const root = parentElement.querySelector(".export_menu");
  root.replaceChildren(...data.formats.map(([format, label]) => {
    const button = make("button", { type: "button" }, label);
    button.addEventListener("click", () => save(format, data));
    return button;
  }));
}

async function save(format, { place: key, name }) {
  const place = document.querySelector(`.st-key-${key}`);
  const chart = place?.querySelector(".js-plotly-plot");
  if (chart) return byPlotly(chart, format, name);
  const asked = { svg: "" };
  for (const root of place ? roots(place) : []) root.dispatchEvent(new CustomEvent("picture", { detail: asked }));
  if (!asked.svg) return;
  if (format === "html") return offer(new Blob([page(asked.svg, name)], { type: "text/html" }), `${name}.html`);
  const svg = new Blob([asked.svg], { type: "image/svg+xml" });
  offer(format === "svg" ? svg : await raster(asked.svg), `${name}.${format}`);
}

// What the camera above a chart does, with a format and a ground: a picture of a dark page has light words on it.
function byPlotly(chart, format, name) {
  const camera = chart._fullLayout._modeBar.buttons.flat().find((button) => button.name === "toImage");
  const { toImageButtonOptions: options } = chart._context;
  const { paper_bgcolor } = chart.layout;
  chart._context.toImageButtonOptions = { ...options, format, filename: name };
  chart.layout.paper_bgcolor = getComputedStyle(document.querySelector(".stApp")).backgroundColor;
  camera.click(chart);
  chart._context.toImageButtonOptions = options;
  chart.layout.paper_bgcolor = paper_bgcolor;
}

function* roots(place) {
  for (const element of place.querySelectorAll("*")) {
    if (element.shadowRoot) yield* element.shadowRoot.querySelectorAll("div");
  }
}

async function raster(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = make("canvas", { width: SHARPER * image.width, height: SHARPER * image.height });
  const context = canvas.getContext("2d");
  context.scale(SHARPER, SHARPER);
  context.drawImage(image, 0, 0);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

// A page of the picture alone, which needs no network.
function page(svg, name) {
  const ground = getComputedStyle(document.querySelector(".stApp")).backgroundColor;
  const style = `<style>body { margin: 0; background: ${ground} } svg { display: block; max-width: 100%; height: auto }</style>`;
  const title = make("title", {}, name).outerHTML;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">${title}${style}</head><body>${svg}</body></html>`;
}

function offer(blob, name) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
