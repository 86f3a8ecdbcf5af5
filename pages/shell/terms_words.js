// Where a text names terms of the glossary.

/** @typedef {Record<string, string>} Terms in small letters → what each means */
/** @typedef {{ term: string, start: number, end: number }} Mention */

/**
 * The term that some words name, also in the plural or with an article; undefined for others.
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
 * What finds the terms that a text names, in their order: of two that begin at one word, the longer.
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
 * The pattern of a term in the singular and the plural.
 *
 * @param {string} name
 */
function forms(name) {
  const escaped = name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replaceAll(" ", "\\s+");
  return /[^aeiou]y$/.test(name) ? `${escaped.slice(0, -1)}(?:y|ies)` : `${escaped}(?:e?s)?`;
}
