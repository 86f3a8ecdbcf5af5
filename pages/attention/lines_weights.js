// What the picture of lines computes from the weights: means over heads, shares of tokens, the pairs that have a line.

import { range } from "../ui/component.js";

export const STRENGTHS = 16; // steps of opacity and width. The lines of one head with the same step are one path.

/** @typedef {[heads: number, queries: number, keys: number]} Shape */

/** @typedef {"query" | "key"} Side */

/** The positions of the chosen tokens on each side. @typedef {Record<Side, number[]>} Chosen */

/**
 * The mean weight of each pair over some heads, [query * key]; −1 if the pair is masked in all of these heads.
 *
 * @param {Float32Array} weights [head, query, key]; negative: masked
 * @param {Shape} shape
 * @param {number[]} heads
 */
export function meanOverHeads(weights, [, queries, keys], heads) {
  const size = queries * keys;
  const means = new Float32Array(size).fill(-1);
  for (let pair = 0; pair < size; pair++) {
    let sum = 0;
    let open = 0;
    for (const head of heads) {
      const weight = weights[head * size + pair];
      if (weight < 0) continue;
      sum += weight;
      open++;
    }
    if (open) means[pair] = sum / heads.length;
  }
  return means;
}

/**
 * For each token of the other side, the sum of the weights between it and the chosen tokens of this side; −1 if all these pairs
 * are masked.
 *
 * @param {Float32Array} means [query, key]; negative: masked
 * @param {Shape} shape
 * @param {Side} side
 * @param {number[]} chosen
 */
export function sharesOf(means, [, queries, keys], side, chosen) {
  /**
   * @param {number} mine
   * @param {number} other
   */
  const pair = (mine, other) => (side === "query" ? mine * keys + other : other * keys + mine);
  return range(side === "query" ? keys : queries).map((other) => {
    const values = chosen.map((mine) => means[pair(mine, other)]).filter((value) => value >= 0);
    return values.length ? values.reduce((sum, value) => sum + value, 0) : -1;
  });
}

/**
 * The highest weight of some heads among the pairs with the chosen tokens; 0 if no pair has a weight.
 *
 * @param {Float32Array} weights [head, query, key]; negative: masked
 * @param {Shape} shape
 * @param {number[]} heads
 * @param {Chosen} chosen if no token is chosen on either side, all pairs count
 */
export function highestWeight(weights, [, queries, keys], heads, chosen) {
  const [ofQueries, ofKeys] = [new Set(chosen.query), new Set(chosen.key)];
  const every = !ofQueries.size && !ofKeys.size;
  let highest = 0;
  for (const head of heads) {
    for (let pair = 0; pair < queries * keys; pair++) {
      if (!every && !ofQueries.has(Math.floor(pair / keys)) && !ofKeys.has(pair % keys)) continue;
      highest = Math.max(highest, weights[head * queries * keys + pair]);
    }
  }
  return highest;
}

/**
 * The pairs that have a line, each with its step of strength from 0 to STRENGTHS − 1.
 *
 * @param {Float32Array} weights [head, query, key]; negative: masked
 * @param {Shape} shape
 * @param {number} head
 * @param {number} threshold pairs with a weight below it have no line
 * @param {Chosen | null} chosen only pairs with one of these tokens; null: all pairs
 * @returns {Generator<[query: number, key: number, strength: number]>}
 */
export function* linesOf(weights, [, queries, keys], head, threshold, chosen) {
  const least = Math.fround(threshold); // single precision like the weights, so that a weight of 0.1 is not below 0.1
  const wanted = chosen && { query: new Set(chosen.query), key: new Set(chosen.key) };
  for (let query = 0; query < queries; query++) {
    for (let key = 0; key < keys; key++) {
      const weight = weights[(head * queries + query) * keys + key];
      if (!(weight > 0) || weight < least) continue;
      if (wanted && !wanted.query.has(query) && !wanted.key.has(key)) continue;
      yield [query, key, Math.min(STRENGTHS - 1, Math.floor(weight * STRENGTHS))];
    }
  }
}

/**
 * A weight rounded down to two decimals: 0.998 is shown as 0.99. If the slider is set to the shown number, the weight has a
 * line.
 *
 * @param {number} weight
 */
export function roundedDown(weight) {
  return (Math.floor(100 * weight) / 100).toFixed(2);
}

/**
 * The side and the position of the token that a key moves to from another token. Null: the key does not move.
 *
 * @param {string} key
 * @param {Side} side
 * @param {number} index
 * @param {Record<Side, number>} counts the number of tokens on each side
 * @returns {[Side, number] | null}
 */
export function tokenAfterKey(key, side, index, counts) {
  /** @type {Record<string, [Side, number]>} */
  const moves = {
    ArrowUp: [side, index - 1],
    ArrowDown: [side, index + 1],
    Home: [side, 0],
    End: [side, counts[side] - 1],
    ArrowLeft: ["query", index],
    ArrowRight: ["key", index],
  };
  const move = moves[key];
  return move ? [move[0], Math.max(0, Math.min(move[1], counts[move[0]] - 1))] : null;
}
