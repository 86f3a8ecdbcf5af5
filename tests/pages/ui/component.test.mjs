import assert from "node:assert/strict";
import { test } from "node:test";
import { clamp, decodeBase64, range, unchanged } from "../../../pages/ui/component.js";

test("decodeBase64 returns every byte", () => {
  const bytes = Uint8Array.from(range(256));
  assert.deepEqual(decodeBase64(Buffer.from(bytes).toString("base64")), bytes);
});

test("clamp keeps a number within its ends", () => {
  assert.deepEqual(
    [-1, 0, 3, 9].map((value) => clamp(0, value, 5)),
    [0, 0, 3, 5],
  );
});

test("unchanged compares the named parts alone, by value", () => {
  const before = { tokens: ["a", "b"], selected: 1 };
  assert.ok(unchanged(before, { tokens: ["a", "b"], selected: 2 }, "tokens"));
  assert.ok(!unchanged(before, { tokens: ["a", "b"], selected: 2 }, "tokens", "selected"));
  assert.ok(!unchanged(undefined, before));
});
