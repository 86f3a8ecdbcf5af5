// Shared by every component: it stands before each one's own JavaScript.
//
// Streamlit calls the default export again whenever data or theme change. What a person has done therefore lives in a view
// that belongs to the root element and survives those calls.

const views = new WeakMap();

export function viewOf(root, build) {
  if (!views.has(root)) views.set(root, build());
  return views.get(root);
}

export function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children); // strings become text, never markup
  return element;
}

export function range(count) {
  return Array.from({ length: count }, (_, index) => index);
}

export function tokenText(token) {
  return token.trim() ? token : "␣";
}

export function fillIn(template, values) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

export function decodeBase64(base64) {
  return Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
}

// Whether all of some parts of the data are as they were.
export function unchanged(before, data, ...names) {
  return Boolean(before) && names.every((name) => JSON.stringify(before[name]) === JSON.stringify(data[name]));
}

