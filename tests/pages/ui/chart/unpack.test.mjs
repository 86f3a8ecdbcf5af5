import assert from "node:assert/strict";
import { test } from "node:test";
import { equalBytes, unpack } from "../../../../pages/ui/chart/unpack.js";

test("arrays are read from the bytes behind the JSON, rows as arrays of their own", () => {
  const numbers = new Uint8Array(new Float32Array([1, 2, 3, 4, 5, 6]).buffer);
  const header = new TextEncoder().encode(
    JSON.stringify({
      data: [
        { z: { packed: [0, 24], dtype: "f4", shape: [2, 3] } },
        { y: { packed: [4, 12], dtype: "f4", shape: [2] }, x: ["a", "é"] },
      ],
    }),
  );
  // At an odd place of a larger buffer, as Streamlit sends it.
  const bytes = new Uint8Array(3 + 4 + header.length + numbers.length).subarray(3);
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, header.length, true);
  bytes.set(header, 4);
  bytes.set(numbers, 4 + header.length);
  const [{ data }] = unpack(bytes);
  assert.deepEqual(
    data[0].z.map((row) => [...row]),
    [
      [1, 2, 3],
      [4, 5, 6],
    ],
  );
  assert.ok(data[1].y instanceof Float32Array);
  assert.deepEqual([...data[1].y], [2, 3]);
  assert.deepEqual(data[1].x, ["a", "é"]);
});

/** @param {object} data @param {number[]} values */
function parcelOf(data, values) {
  const header = new TextEncoder().encode(JSON.stringify(data));
  return Uint8Array.from([header.length, 0, 0, 0, ...header, ...values]);
}

test("unpack returns the data and the bytes, whatever stands around them in the buffer", () => {
  const parcel = parcelOf({ name: "é<" }, [1, 2, 255]);
  const around = new Uint8Array(parcel.length + 10);
  around.set(parcel, 7);
  for (const sent of [parcel, parcel.buffer, around.subarray(7, 7 + parcel.length)]) {
    const [data, bytes] = unpack(sent);
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
