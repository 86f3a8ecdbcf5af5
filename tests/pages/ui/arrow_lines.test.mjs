import assert from "node:assert/strict";
import { test } from "node:test";
import { address } from "../../../pages/home/address.js";
import { acrossPoints, aroundPoints, arrowPaths, flowPoints, towards } from "../../../pages/ui/arrow_lines.js";

const above = { left: 0, top: 0, right: 100, bottom: 20, x: 50, y: 10 };
const below = { left: 0, top: 60, right: 100, bottom: 80, x: 50, y: 70 };

test("lines go down, around a block on its side, and across to another column", () => {
  assert.deepEqual(flowPoints(above, below), [
    [50, 20],
    [50, 60],
  ]);
  assert.deepEqual(aroundPoints(above, below, "left"), [
    [50, -7],
    [-11, -7],
    [-11, 70],
    [0, 70],
  ]);
  assert.deepEqual(aroundPoints(above, below, "right").slice(1), [
    [111, -7],
    [111, 70],
    [100, 70],
  ]);
  assert.deepEqual(acrossPoints(above, { ...below, left: 300 }, 200), [
    [100, 10],
    [200, 10],
    [200, 70],
    [300, 70],
  ]);
});

test("a corner is cut at its radius, at most half way", () => {
  assert.deepEqual(towards([0, 0], [100, 0]), [7, 0]);
  assert.deepEqual(towards([0, 0], [0, -6]), [0, -3]);
  assert.deepEqual(towards([1, 1], [1, 1]), [1, 1]);
});

test("an arrow ends before its point, and its head points the way it goes", () => {
  assert.deepEqual(
    arrowPaths([
      [50, 20],
      [50, 60],
    ]),
    ["M50,20 L50,56", "M50,60 L46.5,54 L53.5,54 Z"],
  );
  const [line] = arrowPaths([
    [0, 0],
    [20, 0],
    [20, 40],
  ]);
  assert.equal(line, "M0,0 L13,0 Q20,0 20,7 L20,36");
});

test("an address holds what the sidebar holds, then what the link chooses, with its places filled", () => {
  const link = { page: "layers", query: { stop: "encoder.layers.{index}.output" }, base: { model: "m", source: "" } };
  const chosen = { model: "copy & paste", source: "" };
  assert.equal(
    address(link, { index: 1 }, (name) => chosen[/** @type {"model"} */ (name)]),
    "layers?model=copy+%26+paste&stop=encoder.layers.1.output",
  );
  assert.equal(
    address({ ...link, page: "home", query: {} }, {}, () => null),
    ".",
  );
});
