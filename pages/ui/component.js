// Functions for all components.
//
// Streamlit calls a component's default export again whenever its data or the theme changes. So the state that a person has
// changed is kept in a view, which belongs to the root element and survives these calls. Streamlit may call the function that one
// call has returned after the next call, so that function does nothing while the root is on the page.

/**
 * What Streamlit passes to a component.
 *
 * @template Data
 * @typedef {{
 *   data: Data,
 *   parentElement: ParentNode,
 *   setStateValue: (name: string, value: unknown) => void,
 *   setTriggerValue: (name: string, value: unknown) => void,
 * }} Mount
 */

/** @type {WeakMap<Element, any>} */
const views = new WeakMap();

/**
 * The view of a root element, built at the first call.
 *
 * @template View
 * @param {Element} root
 * @param {() => View} build
 * @returns {View}
 */
export function viewOf(root, build) {
  if (!views.has(root)) views.set(root, build());
  return views.get(root);
}

/** @type {WeakMap<ParentNode, () => void>} */
const stops = new WeakMap();

/**
 * Do what undoes the last call of a component, if there is such a thing. Streamlit itself does so only when it removes the
 * component. Call it before the next call listens to anything.
 *
 * @param {ParentNode} parent
 */
export function stopLastCall(parent) {
  stops.get(parent)?.();
  stops.delete(parent);
}

/**
 * Keep what undoes this call for `stopLastCall`. Returns what a component returns to Streamlit.
 *
 * @param {ParentNode} parent
 * @param {() => void} stop
 */
export function stopLater(parent, stop) {
  stops.set(parent, stop);
  return () => stopLastCall(parent);
}

/**
 * The root element of a component: the `div` whose class is its name.
 *
 * @param {ParentNode} parent
 * @param {string} name
 */
export function rootOf(parent, name) {
  return /** @type {HTMLElement} */ (parent.querySelector(`.${name}`));
}

/**
 * A new element. Strings among the children become text, never markup.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number>} attributes
 * @param {...(Node | string)} children
 */
export function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/**
 * An element that the server has described: its tag, its attributes and its children, which are such elements or texts.
 *
 * @typedef {[tag: keyof HTMLElementTagNameMap, attributes: Record<string, string | number>, ...children: (Described | string)[]]} Described
 */

/**
 * The element of a description. Its texts are never markup.
 *
 * @param {Described} described
 * @returns {HTMLElement}
 */
export function grown([tag, attributes, ...children]) {
  return make(tag, attributes, ...grownParts(children));
}

/**
 * The children of a description: texts, and the elements of descriptions.
 *
 * @param {(Described | string)[]} children
 */
export function grownParts(children) {
  return children.map((child) => (typeof child === "string" ? child : grown(child)));
}

/**
 * The size of letters compared with an ordinary page. It is more than 1 if the page is presented, or if the browser has a larger
 * font size.
 */
export function textScale() {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
}

/**
 * The drawing context of a canvas.
 *
 * @param {HTMLCanvasElement} canvas
 */
export function penOf(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
}

/**
 * The target of an event, or the nearest element around it, that a selector matches; null if there is no such element.
 *
 * @param {Event} event
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export function closest(event, selector) {
  return event.target instanceof Element ? event.target.closest(selector) : null;
}

/**
 * The integers from 0 to `count` − 1.
 *
 * @param {number} count
 */
export function range(count) {
  return Array.from({ length: count }, (_, index) => index);
}

/**
 * A number, but at least `least` and at most `most`.
 *
 * @param {number} least
 * @param {number} value
 * @param {number} most
 */
export function clamp(least, value, most) {
  return Math.max(least, Math.min(value, most));
}

/**
 * The bytes of a base64 text.
 *
 * @param {string} base64
 */
export function decodeBase64(base64) {
  return Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
}

/**
 * Whether the named parts of the data are equal to those of `before`.
 *
 * @template {object} Data
 * @param {Data | undefined} before
 * @param {Data} data
 * @param {...(keyof Data)} names
 */
export function unchanged(before, data, ...names) {
  if (!before) return false;
  return names.every((name) => JSON.stringify(before[name]) === JSON.stringify(data[name]));
}
