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
 * @param {(name: string) => string | null} chosen returns the sidebar's value for a name of `link.base`; null or "" if it is
 * empty
 */
export function address(link, places, chosen) {
  const query = new URLSearchParams();
  /**
   * @param {string} name
   * @param {string | null} value
   */
  const set = (name, value) => {
    if (value) query.set(name, value); // an empty box needs no parameter
  };
  for (const name of Object.keys(link.base)) set(name, chosen(name));
  for (const [name, value] of Object.entries(link.query)) set(name, fillIn(value, places));
  const search = query.toString();
  return (link.page === "home" ? "." : link.page) + (search ? `?${search}` : "") + (link.part ? `#${link.part}` : "");
}
