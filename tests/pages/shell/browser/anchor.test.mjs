import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const address = { href: "http://localhost/tokens", pathname: "/tokens", search: "", hash: "" };
const replaceState = (_state, _title, url) => Object.assign(address, { hash: url.slice(url.indexOf("#")) });
Object.assign(globalThis, {
  location: address,
  history: { state: null, replaceState },
  addEventListener: () => {},
  removeEventListener: () => {},
});
const { default: mount } = await import("../../../../pages/shell/browser/anchor.js");

const ANCHORS = { sentence: ["rows"], alike: ["alike"] };
let reported = [];
let draw = (_part, _answered) => {};

beforeEach(() => {
  const root = {};
  const parentElement = { querySelector: () => root };
  reported = [];
  address.hash = "#alike";
  draw = (part, answered = "") =>
    mount({
      data: { part, anchors: ANCHORS, answered },
      parentElement,
      setTriggerValue: (_name, anchor) => reported.push(anchor),
    });
});

test("the anchor of another part is reported once, until the server has answered", () => {
  draw("rows");
  draw("rows");
  assert.deepEqual(reported, ["alike"]);
  draw("alike", "alike");
  assert.deepEqual(reported, ["alike"]);
});

test("the anchor is reported again if the run that opened its part never reached the window", () => {
  draw("rows");
  draw("rows", "alike");
  assert.deepEqual(reported, ["alike", "alike"]);
  assert.equal(address.hash, "#alike");
});

test("the address names the part that a person picks after the part of the anchor was shown", () => {
  draw("alike");
  draw("rows");
  assert.deepEqual(reported, []);
  assert.equal(address.hash, "#sentence");
});
