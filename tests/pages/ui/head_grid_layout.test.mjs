import assert from "node:assert/strict";
import { test } from "node:test";
import { captionedLayout, cellsUnder, cornerOf, gridLayout, tileAfterKey, tileAt } from "../../../pages/ui/head_grid_layout.js";

const TEXT = { layer: "layer {layer}", head: "head {head}", layers: "layers", heads: "heads" };
/** @param {number} width */
const room = (width, narrow = false) => ({
  width,
  narrow,
  size: 16,
  measured: (/** @type {string[]} */ texts) => Math.max(...texts.map((text) => 8 * text.length)),
});

for (const [layers, heads] of [
  [1, 1],
  [3, 4],
  [6, 8],
  [12, 12],
  [24, 2],
]) {
  test(`a grid of ${layers} × ${heads} fits the room, and each tile is found where it stands`, () => {
    const layout = gridLayout(room(1000), layers, heads, TEXT);
    assert.ok(layout.width <= 1000);
    assert.ok(layout.w <= 1.5 * layout.h && layout.w >= 4);
    for (let index = 0; index < layers * heads; index++) {
      const [x, y] = cornerOf(layout, index);
      assert.equal(tileAt(layout, layers * heads, x, y), index);
      assert.equal(tileAt(layout, layers * heads, x + layout.w - 0.1, y + layout.h - 0.1), index);
    }
    assert.equal(tileAt(layout, layers * heads, layout.left - 1, layout.top), null);
    assert.equal(tileAt(layout, layers * heads, layout.left, layout.top + layers * layout.down + 1), null);
  });
}

test("where 'head 12' does not fit, heads are numbers and the word stands once", () => {
  const labels = gridLayout(room(400, true), 2, 12, TEXT).labels;
  assert.deepEqual(labels.filter(({ role }) => role === "column").map(({ says }) => says)[11], "12");
  assert.deepEqual(
    labels.filter(({ role }) => role.startsWith("title")).map(({ says }) => says),
    ["heads", "layers"],
  );
  assert.ok(gridLayout(room(1200), 2, 8, TEXT).labels.every(({ role }) => !role.startsWith("title")));
});

test("captioned tiles have room for the widest caption, and none overlap", () => {
  const captions = Array.from({ length: 10 }, (_, index) => `L1 H${index + 1} · 0.50`);
  const layout = captionedLayout(room(600), captions);
  assert.ok(layout.across >= 8 * captions[9].length);
  assert.ok(layout.width <= 600);
  assert.equal(layout.labels.length, 10);
  assert.ok(layout.labels.every(({ top }, index) => top >= cornerOf(layout, index)[1] + layout.h));
});

test("no captioned tile at all is a layout too", () => {
  const layout = captionedLayout(room(600), []);
  assert.equal(layout.columns, 1);
  assert.equal(tileAt(layout, 0, 10, 10), null);
});

test("the arrow keys do not leave the row or the grid, and the last row may be short", () => {
  const to = (/** @type {string} */ key, /** @type {number} */ cursor) => tileAfterKey(key, cursor, 4, 10);
  assert.deepEqual(
    ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].map((key) => to(key, 5)),
    [4, 6, 1, 9, 4, 7],
  );
  assert.deepEqual(
    ["ArrowLeft", "ArrowUp"].map((key) => to(key, 0)),
    [0, 0],
  );
  assert.deepEqual(
    ["ArrowRight", "ArrowDown", "End"].map((key) => to(key, 9)),
    [9, 9, 9],
  );
  assert.deepEqual([to("ArrowDown", 6), to("End", 8), to("a", 5)], [6, 9, null]);
});

test("cellsUnder: each cell lies under a pixel, in order, also where there are more cells than pixels", () => {
  for (const [size, cells] of [
    [10, 4],
    [7, 7],
    [5, 13],
    [56, 200],
  ]) {
    const spans = Array.from({ length: size }, (_, pixel) => cellsUnder(pixel, size, cells));
    const seen = new Set(spans.flatMap(([from, to]) => Array.from({ length: to - from }, (_, index) => from + index)));
    assert.deepEqual(
      [...seen],
      Array.from({ length: cells }, (_, cell) => cell),
    );
  }
  assert.deepEqual(cellsUnder(9.99, 10, 4), [3, 4]);
});
