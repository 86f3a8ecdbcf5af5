import assert from "node:assert/strict";
import { test } from "node:test";
import { finder, termOf } from "../../../../pages/shell/browser/terms_words.js";

const TERMS = ["attention", "attention weight", "add & norm", "√d_head", "d_head", "<sos>", "key", "self-attention"];
const PLURALS = { query: "queries", loss: "losses", key: "keys", "attention weight": "attention weights" };
const NAMES = Object.fromEntries([
  ...TERMS.map((term) => [term, term]),
  ...Object.entries(PLURALS).flatMap(([term, plural]) => [
    [term, term],
    [plural, term],
  ]),
]);

/** @param {string} text */
const names = (text) => finder(NAMES)(text).map(({ term, start, end }) => [term, text.slice(start, end)]);

test("a term is named in the plural, with a capital or an article", () => {
  assert.equal(termOf("The Queries", NAMES), "query");
  assert.equal(termOf("attention weights", NAMES), "attention weight");
  assert.deepEqual(
    names("losses, loss, keys, self-attention").map(([term]) => term),
    ["loss", "loss", "key", "self-attention"],
  );
  assert.equal(termOf("constructor", NAMES), undefined);
});

test("of two terms that begin at one word, the longer is found", () => {
  assert.deepEqual(names("Attention weights and attention"), [
    ["attention weight", "Attention weights"],
    ["attention", "attention"],
  ]);
  assert.deepEqual(names("√d_head, not d_head"), [
    ["√d_head", "√d_head"],
    ["d_head", "d_head"],
  ]);
});

test("a part of a word is no term", () => {
  assert.deepEqual(names("inattention, attentional, my_query, queryé"), []);
  assert.deepEqual(names("(queries), <sos>; add &\nnorm."), [
    ["query", "queries"],
    ["<sos>", "<sos>"],
    ["add & norm", "add &\nnorm"],
  ]);
  assert.deepEqual(finder({})("query"), []);
});
