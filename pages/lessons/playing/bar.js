// The bar of a lesson above a page: the text of a stop, its question, and the links to other stops.

import { elementWithKey, isPresented, openInSession, whenOpened } from "../../ui/compat.js";
import { grown, make, rootOf, unchanged, viewOf } from "../../ui/component.js";
import { fillIn } from "../../ui/format.js";
import { closeScreen } from "../../ui/screens.js";
import { arrive, keepFocusUncovered, overflows, panel } from "./bar_arrival.js";
import { Questions } from "./bar_questions.js";
import { openNotes, showNotes } from "./notes.js";

const COVERING = ["b", "."]; // keys that make the screen of a presented page black

/** @typedef {import("./bar_questions.js").Question} Question */
/** @typedef {import("../../ui/component.js").Described} Described */

/**
 * @typedef {{
 *   lesson: string, stop: number, share: number, advance: { stop: number, to: number } | null, advances: string, back: string, next: string, here: string, leave: string, asks_to_leave: boolean, restart: string, all: string, last: boolean, ended: boolean,
 *   target: string, framed: boolean, covers: boolean, started: boolean, viewless: boolean, left: string, place: string, title: string, on: Described[], say: Described[], questions: Question[], reveal: Described[], sheet: Described[], learnt: Described[], follows: string[],
 *   teaches: boolean, notes: { says: Described[], next: string, planned: number } | null, text: Record<string, string>,
 * }} Data
 */

let moving = false; // whether a link to another stop was just used, so that the focus must move to that stop

/** @param {import("../../ui/component.js").Mount<Data>} mount */
export default function bar({ data, parentElement, setTriggerValue }) {
  const root = rootOf(parentElement, "bar");
  const view = viewOf(root, () => new Bar(root));
  view.send = setTriggerValue;
  keepFocusUncovered();
  view.show(data);
}

class Bar {
  /** @type {Data} */ data;
  questions = new Questions(this);

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {(name: string, value: unknown) => void} */
    this.send = () => {};
    this.folded = false; // whether only the first line is shown, which leaves room for the page
    /** @type {Map<number, boolean>} */
    this.unfolded = new Map(); // stop → whether its words were unfolded by a person, or folded by a person or for want of room
    this.uncovered = 0; // the stop whose page the learner asked to see before answering
    root.addEventListener("keydown", (event) => this.key(event));
  }

  /** @param {Data} data */
  show(data) {
    if (unchanged(this.data, data, .../** @type {(keyof Data)[]} */ (Object.keys(data)))) return;
    const arrived = !this.data || this.data.stop !== data.stop || this.data.lesson !== data.lesson;
    const checked = !arrived && this.data.target !== data.target; // the target changes from the picture to the page's own map
    this.questions.take(data.questions, arrived);
    if (arrived) this.folded = false;
    if (this.data?.lesson !== data.lesson) this.unfolded.clear();
    this.data = data;
    this.build(arrived);
    this.tell();
    if (arrived && this.opened()) whenOpened(() => this.arrive());
    else if (arrived || checked) this.arrive();
    if (checked) this.focus("verdict");
  }

  /** @param {boolean} [arrived] whether another stop was opened, so that its text is scrolled to the beginning */
  build(arrived = false) {
    const { data, root } = this;
    this.cover();
    elementWithKey("lesson_bar")?.toggleAttribute("data-folded", this.folded); // class_panel.css
    const { text } = data;
    const focused = this.focusedName();
    const heard = `${[data.lesson, data.place].filter(Boolean).join(", ")}: ${data.title}`;
    const name = make("span", { class: "name", tabindex: -1, role: "group", "aria-label": heard }, data.lesson);
    const place = make("span", { class: "place" }, [data.place, data.left].filter(Boolean).join(" · "));
    const moves = make(
      "span",
      { class: "moves" },
      ...this.link(data.back, "back", `← ${text.back}`),
      ...(data.advance ? [this.button("next", `${data.advances} →`, () => this.send("advance", data.advance))] : []),
      ...this.link(data.next, "next", data.last ? `${text.end} →` : `${text.next} →`),
      ...this.link(data.here, "here", text.again),
      ...(data.notes ? [this.button("notes", text.notes, () => this.openNotes(), text.notes_help)] : []),
      ...(data.follows.length ? this.link(data.follows[0], "follows", data.follows[1]) : []),
      ...(data.ended ? [...this.link(data.restart, "restart", text.restart), ...this.link(data.all, "all", text.all)] : []),
    );
    const corner = make(
      "span",
      { class: "corner" },
      this.button("fold", this.folded ? "▾" : "▴", () => this.fold(), this.folded ? text.unfold : text.fold),
      this.button("leave", "✕", () => this.leave(), text.leave),
    );
    const progress = make("progress", { value: data.share, max: 1, "aria-label": text.label });
    const words = make("div", { id: "stop-words" }, ...data.say.map(grown));
    const summary = make("summary", {}, text.words);
    const said = make("details", {}, summary, ...data.on.map(grown), words);
    said.open = this.wordsOpen();
    summary.addEventListener("click", () => this.unfolded.set(data.stop, !said.open));
    const title = make("p", { class: "title", id: "stop-title" }, data.title);
    const say = make("div", { class: "say" }, title, ...(data.say.length ? [said] : data.on.map(grown)));
    const side = make("div", { class: "side" }, ...data.questions.map((question) => this.questions.element(question)));
    const reveal = make("div", { class: "say reveal" }, ...data.reveal.map(grown));
    (data.questions.length ? side : say).append(reveal);
    if (data.learnt.length) {
      say.append(make("p", { class: "title" }, text.learnt), make("ul", {}, ...data.learnt.map(grown)));
    }
    if (this.covers() && (data.teaches || data.questions.some((question) => question.open))) {
      const show = this.button("uncover", text.uncover, () => {
        this.uncovered = data.stop;
        this.build();
      });
      side.append(make("p", { class: `quiet ${this.pictured() ? "" : "covered"}` }, text.covered, " ", show));
    }
    const section = make(
      "section",
      { "aria-label": `${text.label}: ${data.lesson}` },
      make("div", { class: "top" }, name, corner, place, moves),
      progress,
      ...(this.folded ? [] : [make("div", { class: "columns" }, say, ...(data.questions.length ? [side] : []))]),
      ...(this.folded ? [] : data.sheet.map(grown)),
    );
    const around = panel();
    const before = arrived ? 0 : (around?.scrollTop ?? 0);
    root.replaceChildren(section);
    root.dataset.stop = String(data.stop);
    if (around) around.scrollTop = before;
    // On a projector, words that are too high are folded, so that the question is on the screen. A learner can scroll.
    if (arrived && data.questions.length && isPresented() && overflows(section)) {
      said.open = false;
      this.unfolded.set(data.stop, false);
    }
    // The judgement is on the screen, too, if the stop is opened with its answer.
    if (arrived && !data.ended) root.querySelector(".verdict")?.scrollIntoView({ block: "nearest" });
    if (focused) this.focus(focused);
  }

  /** Whether the words of the stop are unfolded: until the answer is judged, so that the judgement stands beside the picture. */
  wordsOpen() {
    const { questions, stop } = this.data;
    const judged = questions.length > 0 && questions.every(({ settled }) => settled);
    return this.unfolded.get(stop) ?? !judged;
  }

  openNotes() {
    // In the window of the notes, the keys of a clicker change the stop, too, and the keys of present.js make the screen black.
    openNotes(({ key }) => {
      const name = { PageDown: "next", ArrowRight: "next", PageUp: "back", ArrowLeft: "back" }[key];
      if (name === "next" && closeScreen()) return;
      const link = name && this.root.querySelector(`.moves .${name}`);
      if (link instanceof HTMLElement) link.click();
      if (COVERING.includes(key.toLowerCase())) dispatchEvent(new KeyboardEvent("keydown", { key }));
    });
    this.tell();
  }

  /** Show the notes of the stop in the second window. */
  tell() {
    const { notes, place, text, title } = this.data;
    if (!notes) return;
    showNotes({
      title,
      place,
      notes: notes.says.map(grown),
      next: notes.next,
      clock: (minutes) => fillIn(text.notes_clock, { minutes: Math.floor(minutes), planned: notes.planned }),
    });
  }

  /** Go back to the page from which the lesson was opened. Leaving a class asks first, because its answers are counted there. */
  leave() {
    const { data } = this;
    if (!data.asks_to_leave || confirm(data.text.leave_class)) openInSession(data.leave);
  }

  fold() {
    this.folded = !this.folded;
    this.build();
  }

  /** Whether the answer can be marked on a picture below the bar; if `uncovered`, whether the page is shown instead. */
  pictured(uncovered = false) {
    return (this.uncovered === this.data.stop) === uncovered && this.data.questions.some(({ pictured }) => pictured);
  }

  /** Whether the page is hidden until the question is answered. */
  covers() {
    return this.data.covers && this.uncovered !== this.data.stop;
  }

  /** Hide the page, or show it: lesson_page.css. */
  cover() {
    const bar = elementWithKey("lesson_bar");
    bar?.toggleAttribute("data-covers", this.covers());
    bar?.toggleAttribute("data-pictured", this.pictured());
    bar?.toggleAttribute("data-uncovered", this.pictured(true));
    bar?.toggleAttribute("data-ready", true);
  }

  /** Open the view of the stop if a button just started the lesson, or if the address has no view. Returns whether it did. */
  opened() {
    const { here, started, viewless } = this.data;
    if (!started && (!viewless || new URL(here, location.href).search === location.search)) return false;
    if (started) moving = true;
    openInSession(here, true);
    return true;
  }

  /** Scroll to the part that the stop is about (`arrive`). After a move to this stop, focus its question, or else the name. */
  arrive() {
    if (moving) {
      moving = false;
      const question = this.data.ended ? null : this.root.querySelector(".question.open");
      const place = /** @type {HTMLElement | null} */ (question ?? this.root.querySelector(".name"));
      place?.focus({ preventScroll: true });
    }
    const { stop, target, questions, framed } = this.data;
    const marked = framed || questions.some(({ weights }) => weights.length > 0);
    arrive(this.root, target, marked, () => this.data.stop === stop && this.data.target === target);
  }

  // --- links and buttons

  /**
   * @param {string} href
   * @param {string} name
   * @param {string} label
   */
  link(href, name, label) {
    if (!href) return [];
    const link = make("a", { href, class: name, "data-name": name }, make("span", {}, label));
    link.addEventListener("click", (event) => {
      // A plain click stays in this session. The browser handles a click with another button or with a modifier key.
      if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      moving = true;
      openInSession(link.href);
      if (name === "here") whenOpened(() => this.arrive());
    });
    return [link];
  }

  /**
   * @param {string} name
   * @param {string} label
   * @param {() => void} act
   * @param {string} says
   */
  button(name, label, act, says = "") {
    const button = make("button", { type: "button", class: name, "data-name": name }, label);
    if (says) {
      button.setAttribute("aria-label", says);
      button.setAttribute("title", says);
    }
    button.addEventListener("click", act);
    return button;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.composedPath()[0] instanceof HTMLInputElement) return;
    const name = { ArrowRight: "next", ArrowLeft: "back" }[event.key];
    const link = name && this.root.querySelector(`.moves .${name}`);
    if (!(link instanceof HTMLElement)) return;
    event.preventDefault();
    link.click();
  }

  /** The name of the focused element. After the bar is built again, the new element with this name gets the focus. */
  focusedName() {
    const root = this.root.getRootNode();
    const active = root instanceof ShadowRoot || root instanceof Document ? root.activeElement : null;
    return active instanceof HTMLElement && this.root.contains(active) ? (active.dataset.name ?? "question") : "";
  }

  /** @param {string} name */
  focus(name) {
    const same = this.root.querySelector(`[data-name="${name}"]:not(:disabled)`);
    const other = this.root.querySelector(".verdict") ?? this.root.querySelector(".name");
    const element = same ?? other;
    if (!(element instanceof HTMLElement)) return;
    element.focus({ preventScroll: true });
    // Scroll a judgement to the top, because the revealed text is below it.
    const around = panel();
    if (same || !around) return;
    const top = this.root.querySelector(".top")?.getBoundingClientRect().height ?? 0; // this line does not scroll
    around.scrollTop += Math.max(0, element.getBoundingClientRect().top - around.getBoundingClientRect().top - top - 12);
  }
}
