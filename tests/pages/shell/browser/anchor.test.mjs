import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const address = { href: "", pathname: "/tokens", search: "", hash: "" };
const opened = [];
const write = (_state, _title, url) => {
  const { hash, href } = new URL(url, address.href);
  if (href.includes("part=")) opened.push(href);
  Object.assign(address, { hash, href });
};
Object.assign(globalThis, {
  location: address,
  history: { state: null, replaceState: write, pushState: write },
  addEventListener: () => {},
  removeEventListener: () => {},
  dispatchEvent: () => true,
  setTimeout: (act) => act(),
  PopStateEvent: Event,
});
const { default: mount } = await import("../../../../pages/shell/browser/anchor.js");

const ANCHORS = { sentence: ["rows"], alike: ["alike"] };
let draw = (_part) => {};

beforeEach(() => {
  const root = {};
  const parentElement = { querySelector: () => root };
  opened.length = 0;
  Object.assign(address, { href: "http://localhost/tokens#alike", hash: "#alike" });
  draw = (part) => mount({ data: { part, anchors: ANCHORS }, parentElement });
});

test("the part of the anchor is opened once, with the anchor", () => {
  draw("rows");
  draw("rows");
  assert.deepEqual(opened, ["http://localhost/tokens?part=alike#alike"]);
});

test("the address names the part that a person picks after the part of the anchor was shown", () => {
  draw("alike");
  draw("rows");
  assert.deepEqual(opened, []);
  assert.equal(address.hash, "#sentence");
});

test("an anchor that no part has opens nothing", () => {
  Object.assign(address, { href: "http://localhost/tokens#other", hash: "#other" });
  draw("rows");
  assert.deepEqual(opened, []);
});
