import assert from "node:assert/strict";
import { test } from "node:test";
import {
  MASKED_LEVEL,
  TOP_LEVEL,
  colorStops,
  cssColor,
  isLight,
  pixelsOfScale,
  ramp,
  svgRamp,
} from "../../../pages/ui/colors.js";

const bytes = Uint8Array.from({ length: 3 * (TOP_LEVEL + 1) }, (_, index) => [index / 3, 0, 255][index % 3]);
const scale = pixelsOfScale(Buffer.from(bytes).toString("base64"));

test("isLight tells white text from black text", () => {
  assert.deepEqual(["rgb(250, 250, 250)", "rgb(49, 51, 63)", "rgba(255, 255, 255, 0.5)", "rgb(0,0,0)"].map(isLight), [
    true,
    false,
    true,
    false,
  ]);
});

test("a level has the colour of the scale, opaque, and a masked level none", () => {
  assert.equal(cssColor(scale, 7), "rgb(7,0,255)");
  const parts = new Uint8Array(scale.buffer);
  assert.deepEqual([...parts.subarray(4 * 7, 4 * 8)], [7, 0, 255, 255]);
  assert.equal(scale[MASKED_LEVEL], 0);
});

test("a ramp goes from the lowest level to the highest", () => {
  assert.deepEqual(colorStops(scale, 2), [
    [0, "rgb(0,0,255)"],
    [0.5, "rgb(127,0,255)"],
    [1, "rgb(254,0,255)"],
  ]);
  assert.equal(ramp(scale, 1), "linear-gradient(to right, rgb(0,0,255) 0%,rgb(254,0,255) 100%)");
  assert.match(
    svgRamp(scale, "scale"),
    /^<linearGradient id="scale"><stop offset="0" .*<stop offset="1" stop-color="rgb\(254,0,255\)"\/>/,
  );
});
