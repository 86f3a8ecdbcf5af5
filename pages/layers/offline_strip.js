// A filmstrip as one file without a server. A click on a miniature does nothing, because the file has no walk to open.

/** @typedef {(mount: import("../ui/component.js").Mount<any>) => unknown} Component */

/**
 * @param {object} data
 * @param {Component} strip
 */
export default function offlineStrip(data, strip) {
  const parentElement = /** @type {ParentNode} */ (document.getElementById("strip")?.shadowRoot);
  strip({ data, parentElement, setStateValue() {}, setTriggerValue() {} });
}
