import assert from "node:assert/strict";
import { test } from "node:test";
import { fillIn, percent, tokenText } from "../../../pages/ui/format.js";

test("fillIn fills each place, and leaves a place without a value", () => {
  assert.equal(fillIn("layer {layer} of {layers}: {name}", { layer: 0, layers: 2 }), "layer 0 of 2: {name}");
});

test("fillIn takes a value as it is, also one that looks like a place or a pattern", () => {
  assert.equal(fillIn("{a}{b}", { a: "{b}", b: "$&" }), "{b}$&");
});

test("tokenText shows a blank token by a sign and leaves others, markup too", () => {
  assert.deepEqual([" ", "", "<pad>", "cat"].map(tokenText), ["␣", "␣", "<pad>", "cat"]);
});

test("a share that rounds to nothing is not written as nothing", () => {
  assert.equal(percent(0.9612), "96.1%");
  assert.equal(percent(0.0001), "<0.1%");
  assert.equal(percent(0), "0.0%");
});
