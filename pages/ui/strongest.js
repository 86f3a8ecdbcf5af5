// The strongest cells of a map of attention weights, and a description of the map for a person who does not see it.

import { MASKED_LEVEL, TOP_LEVEL } from "./colors.js";
import { fillIn, tokenText } from "./format.js";

/**
 * A description of a map of weights: its strongest rows, each with the key that has the largest weight. Empty if all cells of
 * the map are masked.
 *
 * @param {Record<string, string>} text
 * @param {{ queries: string[], keys: string[] }} tokens
 * @param {Uint8Array} levels [map, query, key]
 * @param {number} map
 * @param {number} most how many rows
 */
export function saidRows(text, { queries, keys }, levels, map, most) {
  const rows = strongestRows(levels, [queries.length, keys.length], map, most);
  const said = rows.map(({ query, key, level }) => {
    /** @param {number} of a level */
    const written = (of) => (of / TOP_LEVEL).toFixed(2);
    const start = (map * queries.length + query) * keys.length;
    const row = levels.subarray(start, start + keys.length);
    const count = row.filter((other) => other !== MASKED_LEVEL && written(other) === written(level)).length - 1;
    const names = { query: `${query}: ${tokenText(queries[query])}`, key: `${key}: ${tokenText(keys[key])}` };
    return fillIn(text.row_says, { ...names, weight: written(level) }) + (count ? fillIn(text.row_alike, { count }) : "");
  });
  return said.join("; ");
}

/**
 * The strongest cell of each row of a map, the largest first. A row with only masked cells has no strongest cell.
 *
 * @param {Uint8Array} levels [map, query, key]
 * @param {[queries: number, keys: number]} shape
 * @param {number} map
 * @param {number} most how many cells
 */
export function strongestRows(levels, [queries, keys], map, most) {
  const rows = [];
  for (let query = 0; query < queries; query++) {
    const cell = strongestCell(levels, [queries, keys], map, [query, query + 1], [0, keys]);
    if (cell && cell.level !== MASKED_LEVEL) rows.push(cell);
  }
  return rows.sort((one, other) => other.level - one.level).slice(0, most);
}

/**
 * Query, key and level of the strongest cell of a part of a map. It is a masked cell only if all cells are masked. Null if the
 * part is empty.
 *
 * @param {Uint8Array} levels [map, query, key]
 * @param {[queries: number, keys: number]} shape
 * @param {number} map
 * @param {[from: number, to: number]} ofQueries
 * @param {[from: number, to: number]} ofKeys
 */
export function strongestCell(levels, [queries, keys], map, ofQueries, ofKeys) {
  let best = null;
  for (let query = ofQueries[0]; query < ofQueries[1]; query++) {
    for (let key = ofKeys[0]; key < ofKeys[1]; key++) {
      const level = levels[(map * queries + query) * keys + key];
      if (!best || (level !== MASKED_LEVEL && (best.level === MASKED_LEVEL || level > best.level)))
        best = { query, key, level };
    }
  }
  return best;
}
