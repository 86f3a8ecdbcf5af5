// Every tensor of the walk, folded by the parts of the network; each is a button.

import { make, viewOf } from "../ui/component.js";

export default function outline({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".outline");
  const view = viewOf(root, () => {
    root.addEventListener("keydown", (event) => key(root, event));
    return {};
  });
  view.send = setTriggerValue;
  const listed = JSON.stringify(data.groups);
  if (listed !== view.listed) {
    view.listed = listed;
    view.buttons = new Map();
    const groups = data.groups.map((group) => {
      const buttons = group.stops.map(([path, title, shape]) => {
        const button = make("button", { type: "button", "data-path": path }, make("span", {}, title), make("small", {}, shape));
        button.addEventListener("click", () => view.send("pick", path));
        view.buttons.set(path, button);
        return make("li", {}, button);
      });
      const summary = make("summary", {}, make("b", {}, group.title), make("small", {}, String(group.stops.length)));
      const details = make("details", {}, summary, make("ol", {}, ...buttons));
      return details;
    });
    root.replaceChildren(...groups);
  }
  for (const button of view.buttons.values()) button.removeAttribute("aria-current");
  const here = view.buttons.get(data.selected);
  if (here) {
    here.setAttribute("aria-current", "step");
    const group = here.closest("details");
    if (view.selected !== data.selected) {
      // Where the walk goes, the list follows; what a person opened stays open.
      if (view.followed && view.followed !== group) view.followed.open = false;
      if (!group.open) view.followed = group;
      group.open = true;
      root.scrollTop = here.getBoundingClientRect().top - root.getBoundingClientRect().top + root.scrollTop - root.clientHeight / 2;
    }
  }
  view.selected = data.selected;
}

// In the list the arrow keys move within it and fold, as in any tree; the page, which steps with them, must not hear them.
function key(root, event) {
  const here = event.target.closest("summary, button");
  if (!here || event.altKey || event.ctrlKey || event.metaKey) return;
  const lines = [...root.querySelectorAll("summary, details[open] button")];
  const at = lines.indexOf(here);
  const group = here.closest("details");
  const outer = here.tagName === "SUMMARY";
  const keys = {
    ArrowDown: () => lines[at + 1]?.focus(),
    ArrowUp: () => lines[at - 1]?.focus(),
    Home: () => lines[0].focus(),
    End: () => lines.at(-1).focus(),
    ArrowRight: () => outer && (group.open ? lines[at + 1]?.focus() : (group.open = true)),
    ArrowLeft: () => (outer ? (group.open = false) : group.querySelector("summary").focus()),
  };
  if (!keys[event.key]) return;
  event.preventDefault();
  event.stopPropagation();
  keys[event.key]();
}
