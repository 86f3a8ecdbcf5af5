import assert from "node:assert/strict";
import { test } from "node:test";
import mount from "../../../pages/ui/tab_memory.js";

/** What the tab reports if it has stored `stored`, a text or a function that throws. */
function report(stored) {
  const read = typeof stored === "function" ? stored : () => stored;
  globalThis.sessionStorage = { getItem: read, removeItem: () => {}, setItem: () => {} };
  globalThis.history = { headlight: { opening: false } }; // no address of the history is being opened
  let sent = null;
  const data = { name: "name", session: "new", text: "", recalled: false, waits: true, linked: false, asked: 1 };
  mount({ data, setTriggerValue: (_, report) => (sent = report) });
  return sent;
}

test("the text of an earlier session is reported", () => {
  assert.deepEqual(report(JSON.stringify({ session: "old", text: "kept" })), { text: "kept", forbidden: false });
});

test("a stored text that is not ours is not taken for forbidden storage", () => {
  for (const stored of ["not JSON", "null", "5", '{"session":"old","text":5}']) {
    assert.deepEqual(report(stored), { text: "", forbidden: false }, stored);
  }
});

test("storage that throws is reported as forbidden", () => {
  const forbids = () => {
    throw new Error("SecurityError");
  };
  assert.deepEqual(report(forbids), { text: "", forbidden: true });
});
