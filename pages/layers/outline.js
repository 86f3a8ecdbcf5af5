// A list of all tensors of the walk, folded by the parts of the network. Each tensor is a button.

import { closest, make, rootOf, viewOf } from "../ui/component.js";

/** @typedef {{ title: string, stops: [path: string, title: string, shape: string][] }} Group */

/** @typedef {{ groups: Group[], selected: string }} Data */

/**
 * @typedef {{
 *   send: (name: string, value: unknown) => void,
 *   listed: string,
 *   buttons: Map<string, HTMLButtonElement>,
 *   selected: string,
 *   followed: HTMLDetailsElement | null,
 * }} View
 */

/** @param {import("../ui/component.js").Mount<Data>} mount */
export default function outline({ data, parentElement, setTriggerValue }) {
  const root = rootOf(parentElement, "outline");
  const view = viewOf(root, () => {
    root.addEventListener("keydown", (event) => key(root, event));
    return /** @type {View} */ ({ send: setTriggerValue, listed: "", buttons: new Map(), selected: "", followed: null });
  });
  view.send = setTriggerValue;
  const listed = JSON.stringify(data.groups);
  if (listed !== view.listed) {
    view.listed = listed;
    view.buttons = new Map();
    root.replaceChildren(...data.groups.map((group) => details(group, view)));
  }
  for (const button of view.buttons.values()) button.removeAttribute("aria-current");
  const current = view.buttons.get(data.selected);
  if (current) {
    current.setAttribute("aria-current", "step");
    if (view.selected !== data.selected) follow(root, current, view);
  }
  view.selected = data.selected;
}

/**
 * @param {Group} group
 * @param {View} view
 */
function details(group, view) {
  const buttons = group.stops.map(([path, title, shape]) => {
    const button = make("button", { type: "button", "data-path": path }, make("span", {}, title), make("small", {}, shape));
    button.addEventListener("click", () => view.send("pick", path));
    view.buttons.set(path, button);
    return make("li", {}, button);
  });
  const summary = make("summary", {}, make("b", {}, group.title), make("small", {}, String(group.stops.length)));
  return make("details", {}, summary, make("ol", {}, ...buttons));
}

/**
 * Open the group of the current stop, scroll to it, and close the group that was opened this way before. Groups that the
 * visitor opened stay open.
 *
 * @param {HTMLElement} root
 * @param {HTMLElement} current
 * @param {View} view
 */
function follow(root, current, view) {
  const group = /** @type {HTMLDetailsElement} */ (current.closest("details"));
  if (view.followed && view.followed !== group) view.followed.open = false;
  if (!group.open) view.followed = group;
  group.open = true;
  root.scrollTop += current.getBoundingClientRect().top - root.getBoundingClientRect().top - root.clientHeight / 2;
}

/**
 * Let the arrow keys move in the list and fold it, as in any tree. They must not reach the page, where they step through the
 * walk.
 *
 * @param {HTMLElement} root
 * @param {KeyboardEvent} event
 */
function key(root, event) {
  const line = closest(event, "summary, button");
  if (!line || event.altKey || event.ctrlKey || event.metaKey) return;
  const lines = /** @type {HTMLElement[]} */ ([...root.querySelectorAll("summary, details[open] button")]);
  const index = lines.indexOf(line);
  const group = /** @type {HTMLDetailsElement} */ (line.closest("details"));
  const outer = line.tagName === "SUMMARY";
  switch (event.key) {
    case "ArrowDown":
      lines[index + 1]?.focus();
      break;
    case "ArrowUp":
      lines[index - 1]?.focus();
      break;
    case "Home":
      lines[0].focus();
      break;
    case "End":
      lines.at(-1)?.focus();
      break;
    case "ArrowRight":
      if (outer && group.open) lines[index + 1]?.focus();
      else if (outer) group.open = true;
      break;
    case "ArrowLeft":
      if (outer) group.open = false;
      else group.querySelector("summary")?.focus();
      break;
    default:
      return;
  }
  event.preventDefault();
  event.stopPropagation();
}
