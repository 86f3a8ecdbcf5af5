// The teacher's notes in a second window of this browser. This page writes into that window, so the notes change with the stop
// without a request to the server.

import { make } from "../../ui/component.js";

const NAME = "headlight_notes"; // name of the window, with which the page finds it again after a reload
const EVERY = 1000; // ms between two updates of the clock
const STYLE = `
  :root { color-scheme: light dark; font: 1.25rem/1.5 system-ui, sans-serif; }
  body { margin: 1.5rem; overflow-wrap: anywhere; }
  h1 { margin: 0.5rem 0; font-size: 1.5rem; }
  .quiet { opacity: 0.8; font-size: 1rem; }
  table { width: 100%; border-collapse: collapse; }
  th { font-weight: inherit; text-align: left; }
  tr.right th::after { content: " ✓"; }
  td { width: 30%; }
  td div { display: flex; gap: 0.4rem; align-items: center; }
  td span { height: 1em; border: 2px solid; background: currentcolor; box-sizing: border-box; max-width: calc(100% - 3rem); }
  td:nth-child(3) span { background: none; }
`;

/** @typedef {{ title: string, place: string, notes: HTMLElement[], next: string, clock: (minutes: number) => string }} Notes */

/** @type {Window | null} */
let opened = null;
let since = 0; // when the window was opened, in ms
let ticking = 0;

/**
 * Open the window, or bring it to the front. A browser allows this only after a click.
 *
 * @param {(event: KeyboardEvent) => void} press called if a key is pressed in that window
 */
export function openNotes(press) {
  const before = opened && !opened.closed;
  opened = open("", NAME, "popup,width=640,height=720");
  if (!opened) return;
  opened.focus();
  opened.onkeydown = press;
  if (!before) since = Date.now();
}

/**
 * Show notes in the window, if it is open.
 *
 * @param {Notes} notes
 */
export function showNotes({ title, place, notes, next, clock }) {
  clearInterval(ticking);
  if (!opened || opened.closed) return;
  const page = opened.document;
  const time = make("p", { class: "quiet" });
  const tally = make("div", {});
  const tick = () => {
    // The answers of the class, which the panel of the class hides from the class (class_panel.py).
    const answers = document.querySelector(".for-notes");
    tally.replaceChildren(...(answers ? [answers.cloneNode(true)] : []));
    time.textContent = clock((Date.now() - since) / 60_000);
    if (opened?.closed) clearInterval(ticking);
  };
  tick();
  ticking = setInterval(tick, EVERY);
  page.head.replaceChildren(make("title", {}, title), make("style", {}, STYLE));
  page.body.replaceChildren(
    make("p", { class: "quiet" }, place),
    make("h1", {}, title),
    ...notes,
    tally,
    make("p", { class: "quiet" }, next),
    time,
  );
}
