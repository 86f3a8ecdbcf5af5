import assert from "node:assert/strict";
import { test } from "node:test";
import { saidRows, strongestCell, strongestRows } from "../../../pages/ui/strongest.js";

test("the strongest cell is never a masked one if there is another", () => {
  const levels = Uint8Array.of(255, 3, 9, 255, /* second map */ 255, 255, 255, 255);
  assert.deepEqual(strongestCell(levels, [2, 2], 0, [0, 2], [0, 2]), { query: 1, key: 0, level: 9 });
  assert.deepEqual(strongestCell(levels, [2, 2], 0, [0, 1], [0, 1]), { query: 0, key: 0, level: 255 });
  assert.equal(strongestCell(levels, [2, 2], 1, [0, 2], [0, 2])?.level, 255);
  assert.equal(strongestCell(levels, [2, 2], 0, [1, 1], [0, 2]), null);
});

test("rows are told by their strongest cells, without those that are masked as a whole", () => {
  const levels = Uint8Array.of(9, 9, 9, 5, 255, 4, 255, 255, 255, 1, 7, 2);
  const told = strongestRows(levels, [3, 3], 0, 5);
  assert.deepEqual(told, [
    { query: 0, key: 0, level: 9 },
    { query: 1, key: 0, level: 5 },
  ]);
  assert.deepEqual(strongestRows(levels, [1, 3], 3, 5), [{ query: 0, key: 1, level: 7 }]);
  assert.equal(strongestRows(levels, [3, 3], 0, 1).length, 1);
});

test("rows are told in words, with how many other tokens get as much", () => {
  const text = { row_says: "row {query} puts {weight} on {key}", row_alike: " (and on {count} more)" };
  const tokens = { queries: ["it", " "], keys: ["a", "b", "c"] };
  const levels = Uint8Array.from([0, 0, 0, 0, 0, 0, 10, 244, 255, 85, 84, 85]);
  assert.equal(saidRows(text, tokens, levels, 1, 5), "row 0: it puts 0.96 on 1: b; row 1: ␣ puts 0.33 on 0: a (and on 2 more)");
  assert.equal(saidRows(text, tokens, levels, 1, 1), "row 0: it puts 0.96 on 1: b");
  assert.equal(saidRows(text, tokens, new Uint8Array(6).fill(255), 0, 5), "");
});
