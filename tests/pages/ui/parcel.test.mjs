import assert from "node:assert/strict";
import { test } from "node:test";
import { clamp, decodeBase64, range, unchanged } from "../../../pages/ui/component.js";
import { equalBytes, unpackParcel } from "../../../pages/ui/parcel.js";

/** @param {object} data @param {number[]} values */
function parcelOf(data, values) {
  const header = new TextEncoder().encode(JSON.stringify(data));
  return Uint8Array.from([header.length, 0, 0, 0, ...header, ...values]);
}

test("unpackParcel returns the data and the bytes, whatever stands around them in the buffer", () => {
  const parcel = parcelOf({ name: "é<" }, [1, 2, 255]);
  const around = new Uint8Array(parcel.length + 10);
  around.set(parcel, 7);
  for (const sent of [parcel, parcel.buffer, around.subarray(7, 7 + parcel.length)]) {
    const [data, bytes] = unpackParcel(sent);
    assert.deepEqual(data, { name: "é<" });
    assert.deepEqual([...bytes], [1, 2, 255]);
  }
});

test("equalBytes compares lengths and values", () => {
  const bytes = Uint8Array.of(1, 2);
  assert.ok(equalBytes(bytes, Uint8Array.of(1, 2)));
  for (const other of [Uint8Array.of(1), Uint8Array.of(1, 3), Uint8Array.of(1, 2, 3)]) assert.ok(!equalBytes(bytes, other));
  assert.ok(!equalBytes(undefined, bytes));
});

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
