// How texts, tokens and numbers are written.

/**
 * A template with its places filled: "layer {layer}" and { layer: 2 } give "layer 2". A place without a value stays as it is.
 *
 * @param {string} template
 * @param {Record<string, unknown>} values
 */
export function fillIn(template, values) {
  return template.replace(/\{(\w+)\}/g, (place, name) => String(values[name] ?? place));
}

/**
 * A token as it is drawn. A blank token is replaced by a sign.
 *
 * @param {string} token
 */
export function tokenText(token) {
  return token.trim() ? token : "␣";
}

/**
 * A share in per cent: 0.123 is "12.3%". A share that would round to zero is "<0.1%". The same as `percent` of
 * transformer/figures/decoding_figures.py.
 *
 * @param {number} share
 */
export function percent(share) {
  if (share > 0 && share < 0.0005) return "<0.1%";
  return `${(100 * share).toFixed(1)}%`;
}
