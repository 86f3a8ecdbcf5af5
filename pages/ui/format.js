// How texts, tokens and numbers are written.

/**
 * A text with its places filled: "layer {layer}" and { layer: 2 } give "layer 2". A place without a value stays as it is.
 *
 * @param {string} template
 * @param {Record<string, unknown>} values
 */
export function fillIn(template, values) {
  return template.replace(/\{(\w+)\}/g, (place, name) => String(values[name] ?? place));
}

/**
 * A token as it is drawn: a sign stands for one that is blank.
 *
 * @param {string} token
 */
export function tokenText(token) {
  return token.trim() ? token : "␣";
}

/**
 * A number in at most seven digits, with a true minus.
 *
 * @param {number} value
 */
export function formatNumber(value) {
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  return String(Number(value.toPrecision(7))).replaceAll("-", "−");
}

/**
 * A share in per cent: 0.123 is "12.3%"; what rounds to nothing is "<0.1%". As `percent` of transformer/figures/decoding.py.
 *
 * @param {number} share
 */
export function percent(share) {
  if (share > 0 && share < 0.0005) return "<0.1%";
  return `${(100 * share).toFixed(1)}%`;
}
