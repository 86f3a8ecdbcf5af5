// The addresses of the links of the Home page.

import { fillIn } from "../ui/format.js";

/**
 * A link as `links.packed` sends it: a page, the choices to make there, the part to open at, and the values of the sidebar.
 *
 * @typedef {{ page: string, query: Record<string, string>, part?: string, base: Record<string, string> }} Link
 */

/**
 * The address of a link.
 *
 * @param {Link} link
 * @param {Record<string, unknown>} places values for places in braces: { index: 1 } for "encoder.layers.{index}.output"
 * @param {(name: string) => string | null} chosen returns the sidebar's value for a name of `link.base`, which may be empty
 */
export function address(link, places, chosen) {
  const query = new URLSearchParams();
  const base = Object.keys(link.base).map((name) => [name, chosen(name) ?? ""]);
  const own = Object.entries(link.query).map(([name, value]) => [name, fillIn(value, places)]);
  for (const [name, value] of [...base, ...own]) if (value) query.set(name, value); // an empty box needs no parameter
  const search = query.toString();
  return (link.page === "home" ? "." : link.page) + (search ? `?${search}` : "") + (link.part ? `#${link.part}` : "");
}
