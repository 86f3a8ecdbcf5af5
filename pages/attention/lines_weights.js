// What the picture of lines takes from the weights: means over heads, shares of tokens, which pairs have a line.

import { range } from "../ui/component.js";

export const STRENGTHS = 16; // steps of opacity and width: lines of one step and head are one path

/** @typedef {[heads: number, queries: number, keys: number]} Shape */

/** @typedef {"query" | "key"} Side */

/** Positions of tokens on either side. @typedef {Record<Side, number[]>} Chosen */

/**
 * The mean over some heads of each pair, [query * key]; −1 where the pair is masked in all of them.
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
 * For each token of the other side: what the chosen ones of this side give it, or it gives them; −1 where no pair of them
 * may attend.
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
 * The highest weight of some heads among the pairs of some tokens; 0 if there is none.
 *
 * @param {Float32Array} weights [head, query, key]; negative: masked
 * @param {Shape} shape
 * @param {number[]} heads
 * @param {Chosen} chosen none on either side: all pairs
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
 * @param {number} threshold pairs below it have none
 * @param {Chosen | null} chosen only pairs of one of these tokens; null: all
 * @returns {Generator<[query: number, key: number, strength: number]>}
 */
export function* linesOf(weights, [, queries, keys], head, threshold, chosen) {
  const least = Math.fround(threshold); // as exact as the weights: 0.1 is not below 0.1
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
 * Two decimals of a weight, never more than it: 0.998 is told as 0.99, so with the slider there, it has a line.
 *
 * @param {number} weight
 */
export function roundedDown(weight) {
  return (Math.floor(100 * weight) / 100).toFixed(2);
}

/**
 * The token an arrow key leads to from another, on which side and at which position. Null: the key leads nowhere.
 *
 * @param {string} key
 * @param {Side} side
 * @param {number} index
 * @param {Record<Side, number>} counts of tokens on either side
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

/** A path as SVG writes it, with as much of a Path2D as is used here. */
export class SvgPath {
  d = "";

  /**
   * @param {number} x
   * @param {number} y
   */
  moveTo(x, y) {
    this.d += `M${x.toFixed(1)} ${y.toFixed(1)}`;
  }

  /** @param {...number} points */
  bezierCurveTo(...points) {
    this.d += `C${points.map((point) => point.toFixed(1)).join(" ")}`;
  }
}
