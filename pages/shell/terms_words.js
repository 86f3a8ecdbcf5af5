// Finds the terms of the glossary in a text.

/** @typedef {Record<string, string>} Terms term in small letters → its meaning */
/** @typedef {{ term: string, start: number, end: number }} Mention */

/**
 * The term that some words name, also in the plural or with an article; undefined if they name no term.
 *
 * @param {string} words
 * @param {Terms} terms
 */
export function termOf(words, terms) {
  const name = words
    .trim()
    .toLowerCase()
    .replace(/\s+/g, " ")
    .replace(/^(the|a|an) /, "");
  const singular = [/s$/, /es$/].map((ending) => name.replace(ending, ""));
  return [name, ...singular, name.replace(/ies$/, "y")].find((term) => Object.hasOwn(terms, term));
}

/**
 * Returns a function that finds the terms in a text, in their order. Of two terms that begin at the same word, it finds the
 * longer.
 *
 * @param {Terms} terms
 * @returns {(text: string) => Mention[]}
 */
export function finder(terms) {
  const names = Object.keys(terms).sort((one, other) => other.length - one.length);
  if (!names.length) return () => [];
  const words = new RegExp(`(?<![\\p{L}\\p{N}_√])(?:${names.map(forms).join("|")})(?![\\p{L}\\p{N}_])`, "giu");
  return (text) =>
    [...text.matchAll(words)].flatMap(({ 0: name, index: start }) => {
      const term = termOf(name, terms);
      return term ? [{ term, start, end: start + name.length }] : [];
    });
}

/**
 * The regular expression of a term in the singular and the plural.
 *
 * @param {string} name
 */
function forms(name) {
  const escaped = name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replaceAll(" ", "\\s+");
  return /[^aeiou]y$/.test(name) ? `${escaped.slice(0, -1)}(?:y|ies)` : `${escaped}(?:e?s)?`;
}
