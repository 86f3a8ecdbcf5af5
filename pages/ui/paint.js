// What the picture of a stop and the filmstrip share: from bytes to colours.

import { decodeBase64, make, range } from "./component.js";

export const HATCH_GAP = 6; // px between the strokes over masked cells
export const MASKED_LEVEL = 255;
export const TOP_LEVEL = 254;

// The shades of a scale as pixels; what is masked stays transparent, so that the hatch below shows.
export function pixelsOfScale(base64) {
  const bytes = decodeBase64(base64);
  const pixels = new Uint32Array(256);
  const parts = new Uint8Array(pixels.buffer);
  for (let level = 0; level <= TOP_LEVEL; level++) parts.set([bytes[3 * level], bytes[3 * level + 1], bytes[3 * level + 2], 255], 4 * level);
  return pixels;
}

export function ramp(pixels) {
  const parts = new Uint8Array(pixels.buffer);
  const stops = range(17).map((at) => {
    const level = Math.round((at * TOP_LEVEL) / 16);
    return `rgb(${parts.slice(4 * level, 4 * level + 3).join()}) ${(100 * at) / 16}%`;
  });
  return `linear-gradient(to right, ${stops.join()})`;
}

// One colour for every level: of masks, and of ids.
export function pixelsOfColor(color) {
  const found = /rgba?\((\d+), *(\d+), *(\d+)/.exec(color) ?? [0, 128, 128, 128];
  const pixels = new Uint32Array(256);
  const parts = new Uint8Array(pixels.buffer);
  for (let level = 0; level <= TOP_LEVEL; level++) parts.set([+found[1], +found[2], +found[3], 255], 4 * level);
  return pixels;
}

// A rectangle that looks masked.
export function fillHatched(context, ratio, colors, box) {
  const side = Math.round(HATCH_GAP * ratio);
  const stroke = make("canvas", { width: side, height: side });
  const pen = stroke.getContext("2d");
  pen.strokeStyle = colors.line;
  pen.lineWidth = 1.2 * ratio;
  for (const shift of [-side, 0, side]) {
    pen.moveTo(shift - 1, side + 1);
    pen.lineTo(shift + side + 1, -1);
  }
  pen.stroke();
  for (const style of [colors.masked, context.createPattern(stroke, "repeat")]) {
    context.fillStyle = style;
    context.fillRect(...box);
  }
}

// Levels, row by row, into a box of a canvas, a level a cell.
export function paintCells(context, levels, rows, columns, pixels, box) {
  const atlas = make("canvas", { width: columns, height: rows });
  const image = new ImageData(columns, rows);
  const shades = new Uint32Array(image.data.buffer);
  for (let at = 0; at < levels.length; at++) shades[at] = levels[at] === MASKED_LEVEL ? 0 : pixels[levels[at]];
  const pen = atlas.getContext("2d");
  pen.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(atlas, 0, 0, columns, rows, ...box);
}

export function formatNumber(value) {
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  const said = Number(value.toPrecision(7));
  return String(said).replaceAll("-", "−");
}
