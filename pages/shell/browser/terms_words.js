// Finds the terms of the glossary in a text.

/** @typedef {Record<string, string>} Names name of a term in small letters, also in the plural → the term */
/** @typedef {{ term: string, start: number, end: number }} Mention */

/**
 * The term that these words name, with or without an article. Undefined if they name no term.
 *
 * @param {string} words
 * @param {Names} names
 */
export function termOf(words, names) {
  const name = words
    .trim()
    .toLowerCase()
    .replace(/\s+/g, " ")
    .replace(/^(the|a|an) /, "");
  return Object.hasOwn(names, name) ? names[name] : undefined;
}

/**
 * Returns a function that finds the terms in a text, in their order. Of two terms that begin at the same word, it finds the
 * longer.
 *
 * @param {Names} names
 * @returns {(text: string) => Mention[]}
 */
export function finder(names) {
  const listed = Object.keys(names).sort((one, other) => other.length - one.length);
  if (!listed.length) return () => [];
  const words = new RegExp(`(?<![\\p{L}\\p{N}_√])(?:${listed.map(pattern).join("|")})(?![\\p{L}\\p{N}_])`, "giu");
  return (text) =>
    [...text.matchAll(words)].flatMap(({ 0: name, index: start }) => {
      const term = termOf(name, names);
      return term ? [{ term, start, end: start + name.length }] : [];
    });
}

/** @param {string} name */
function pattern(name) {
  return name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replaceAll(" ", "\\s+");
}
