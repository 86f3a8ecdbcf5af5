// The bar of a lesson above a page: words, a question, the way back and on.

import { elementWithKey, headerHeight, openInSession, pageScroller } from "../../ui/compat.js";
import { make, rootOf, unchanged, viewOf } from "../../ui/component.js";
import { fillIn, tokenText } from "../../ui/format.js";
import { moved, toggled } from "./bar_moves.js";
import { openNotes, showNotes } from "./notes.js";

const PLACES = 6; // times to put that part into its place
const GAP = 8; // px between the bar and that part: more would show the end of what stands above it
const BELOW = 8; // px below the bar where the page is seen
const SETTLED = 1500; // ms after which the page that was left is gone
const PARAMETERS = ["lesson", "lesson_stop", "answers", "class", "language", "present"]; // of every address while a lesson is open
const PATIENCE = 8000; // ms to wait for the part of a page that a stop is about

/** Words with their style. @typedef {[style: "" | "strong" | "em" | "code", text: string][]} Runs */
/** @typedef {[tag: "p" | "li", runs: Runs][]} Blocks */

/**
 * @typedef {{
 *   stop: number, kind: "choose" | "tokens" | "order" | "number", title: string, ask: Blocks, options: Runs[], order: number[],
 *   tokens: string[], weights: number[], most: number, given: number[] | string, says: string, right: boolean, settled: boolean,
 *   open: boolean, may_change: boolean, held: boolean, was: string,
 * }} Question
 */

/**
 * @typedef {{
 *   lesson: string, stop: number, share: number, back: string, next: string, here: string, restart: string, all: string, last: boolean,
 *   terms: Record<string, string>, target: string, covers: boolean, started: boolean, left: string, place: string, title: string, say: Blocks, questions: Question[], reveal: Blocks, sheet: string[][],
 *   class: { code: string, secret: string } | null, notes: { says: Blocks, next: string, planned: number } | null, text: Record<string, string>,
 * }} Data
 */

let moving = false; // whether a person has just gone to another stop: then the focus goes with them

/** @param {import("../../ui/component.js").Mount<Data>} mount */
export default function bar({ data, parentElement, setTriggerValue }) {
  const root = rootOf(parentElement, "bar");
  const view = viewOf(root, () => new Bar(root));
  view.send = setTriggerValue;
  view.show(data);
}

class Bar {
  /** @type {Data} */ data;
  /** Stops whose answer is being changed. @type {Set<number>} */ changing = new Set();
  /** What is chosen and not yet checked, by stop. @type {Map<number, number[] | string>} */ drafts = new Map();

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {(name: string, value: unknown) => void} */
    this.send = () => {};
    this.folded = false; // whether only the first line is shown, to leave room for the page
    this.uncovered = 0; // the stop whose page a person has asked for before the answer
    root.addEventListener("keydown", (event) => this.key(event));
  }

  /** @param {Data} data */
  show(data) {
    if (unchanged(this.data, data, .../** @type {(keyof Data)[]} */ (Object.keys(data)))) return;
    const arrived = !this.data || this.data.stop !== data.stop || this.data.lesson !== data.lesson;
    const questions = new Map((this.data?.questions ?? []).map((question) => [question.stop, JSON.stringify(question)]));
    for (const question of data.questions) {
      if (questions.get(question.stop) !== JSON.stringify(question)) this.changing.delete(question.stop);
    }
    if (arrived) {
      this.drafts.clear();
      this.folded = false;
    }
    this.data = data;
    if (data.class) this.teach(data.class);
    if (arrived) this.build();
    else this.buildInPlace();
    this.tell();
    if (arrived && this.opened()) setTimeout(() => this.arrive(), SETTLED);
    else if (arrived) this.arrive();
  }

  build() {
    const { data, root } = this;
    this.cover();
    elementWithKey("lesson_bar")?.toggleAttribute("data-folded", this.folded); // class_panel.css
    const { text } = data;
    const focused = this.focusedName();
    const name = make("span", { class: "name", tabindex: -1 }, data.lesson);
    const place = make("span", { class: "place" }, [data.place, data.left].filter(Boolean).join(" · "));
    const moves = make(
      "span",
      { class: "moves" },
      ...this.link(data.back, "back", `← ${text.back}`),
      ...this.link(data.next, "next", data.last ? `${text.end} →` : `${text.next} →`),
      ...this.link(data.here, "here", text.again),
      ...(data.notes ? [this.button("notes", text.notes, () => this.openNotes(), text.notes_help)] : []),
      ...(data.next ? [] : [...this.link(data.restart, "restart", text.restart), ...this.link(data.all, "all", text.all)]),
      this.button("fold", this.folded ? "▾" : "▴", () => this.fold(), this.folded ? text.unfold : text.fold),
      this.button("leave", "✕", () => this.send("leave", true), text.leave),
    );
    const progress = make("progress", { value: data.share, max: 1, "aria-label": text.label });
    const say = make("div", { class: "say" }, make("p", { class: "title" }, data.title), ...blocks(data.say));
    for (const word of say.querySelectorAll("strong")) explain(word, data.terms[word.textContent ?? ""]);
    const side = make("div", { class: "side" }, ...data.questions.map((question) => this.question(question)));
    const reveal = make("div", { class: "say reveal" }, ...blocks(data.reveal));
    if (data.questions.length) side.append(reveal);
    else say.append(reveal);
    if (this.covers()) {
      const show = this.button("uncover", text.uncover, () => {
        this.uncovered = data.stop;
        this.build();
      });
      side.append(make("p", { class: "quiet" }, text.covered, " ", show));
    }
    const section = make(
      "section",
      { "aria-label": `${text.label}: ${data.lesson}` },
      make("div", { class: "top" }, name, place, moves),
      progress,
      ...(this.folded ? [] : [make("div", { class: "columns" }, say, ...(data.questions.length ? [side] : []))]),
      ...(this.folded || !data.sheet.length ? [] : [answerSheet(data.sheet, text)]),
    );
    const before = root.querySelector("section")?.scrollTop ?? 0;
    root.replaceChildren(section);
    root.dataset.stop = String(data.stop);
    root.classList.toggle("small", Boolean(data.class && data.notes));
    root.classList.toggle(
      "asks",
      data.questions.some((question) => question.open),
    );
    root.classList.toggle("covers", this.covers());
    section.scrollTop = before;
    if (focused) this.focus(focused);
  }

  /** Build the bar, and let what stands right below it stay there, however high the bar becomes. */
  buildInPlace() {
    if (!this.stays()) return this.build();
    const below = this.part() ?? document.elementFromPoint(innerWidth / 2, this.root.getBoundingClientRect().bottom + BELOW);
    const gap = () => (below ? below.getBoundingClientRect().top - this.root.getBoundingClientRect().bottom : 0);
    const before = gap();
    this.build();
    // The browser itself keeps in place what it sees, at the next frame.
    requestAnimationFrame(() => requestAnimationFrame(() => pageScroller().scrollBy(0, gap() - before)));
  }

  /** The part of the page that the stop is about, if it is drawn. */
  part() {
    const { target } = this.data;
    if (!target) return null;
    return document.getElementById(target) ?? document.querySelector(`[data-part="${target}"]`) ?? elementWithKey(target);
  }

  openNotes() {
    // The keys of a clicker go on from that window, too.
    openNotes((event) => {
      const name = { PageDown: "next", ArrowRight: "next", PageUp: "back", ArrowLeft: "back" }[event.key];
      const link = name && this.root.querySelector(`a.${name}`);
      if (link instanceof HTMLAnchorElement) link.click();
    });
    this.tell();
  }

  /** Show the notes of the stop in the second window. */
  tell() {
    const { notes, place, text, title } = this.data;
    if (!notes) return;
    const says = notes.says.length ? blocks(notes.says) : [make("p", {}, text.no_notes)];
    showNotes({
      title,
      place,
      notes: says,
      next: notes.next ? fillIn(text.notes_next, { title: notes.next }) : "",
      clock: (minutes) => fillIn(text.notes_clock, { minutes: Math.floor(minutes), planned: notes.planned }),
    });
  }

  /**
   * The teacher's secret of a class stays in this tab, so that the page can be loaded again; the address does not have it.
   *
   * @param {{ code: string, secret: string }} seat
   */
  teach({ code, secret }) {
    try {
      if (secret) sessionStorage.setItem(`class ${code}`, secret);
      const kept = sessionStorage.getItem(`class ${code}`);
      if (!secret && kept) this.send("teach", kept);
    } catch {
      // A browser may refuse to store anything; then there is the teacher's link.
    }
  }

  fold() {
    this.folded = !this.folded;
    this.buildInPlace();
  }

  /** Whether the page is hidden until the question is answered. */
  covers() {
    return this.data.covers && this.uncovered !== this.data.stop;
  }

  /** Hide the page, or show it: app.css. */
  cover() {
    const bar = elementWithKey("lesson_bar");
    bar?.toggleAttribute("data-covers", this.covers());
    bar?.toggleAttribute("data-ready", true);
  }

  /** A lesson that a button has started opens the view of its first stop; so does a link that has no view of its own. */
  opened() {
    if (this.data.started) {
      openInSession(this.data.here);
      return true;
    }
    const others = [...new URLSearchParams(location.search).keys()].filter((name) => !PARAMETERS.includes(name));
    if (others.length || new URL(this.data.here, location.href).search === location.search) return false;
    openInSession(this.data.here);
    return true;
  }

  /** Whether the bar stays on screen while the page scrolls, as it does where there is room: app.css. */
  stays() {
    const around = elementWithKey("lesson_bar")?.parentElement?.parentElement;
    return Boolean(around) && getComputedStyle(/** @type {Element} */ (around)).position === "sticky";
  }

  /**
   * Scroll to what the stop is about, and let the focus follow a person who has gone on. A bar that scrolls away with the page
   * is read first, so there the page stays at its top unless a person asks for the part.
   */
  arrive(asked = false) {
    if (moving) {
      moving = false;
      const heading = /** @type {HTMLElement | null} */ (this.root.querySelector(".name"));
      heading?.focus({ preventScroll: true });
    }
    const scroller = pageScroller();
    const stays = this.stays();
    if (!this.data.target || !(stays || asked)) {
      scroller.scrollTo(0, 0);
      return;
    }
    const { stop } = this.data;
    const until = performance.now() + PATIENCE;
    let places = 0; // how often it has been put into its place: what is drawn above it later moves it
    const look = () => {
      if (!this.root.isConnected || this.data.stop !== stop || performance.now() > until) return;
      const found = this.part();
      if (found) {
        const edge = stays ? this.root.getBoundingClientRect().bottom : headerHeight();
        const gap = found.getBoundingClientRect().top - edge;
        scroller.scrollBy(0, gap - GAP);
        places += 1;
      } else {
        // What a person has not scrolled to is not drawn yet: pages/shell/parts.py.
        document.querySelector(".unseen")?.scrollIntoView({ block: "center" });
      }
      if (places < PLACES) setTimeout(look, 250);
    };
    look();
  }

  // --- the way

  /**
   * @param {string} href
   * @param {string} name
   * @param {string} label
   */
  link(href, name, label) {
    if (!href) return [];
    const link = make("a", { href, class: name, "data-name": name }, label);
    link.addEventListener("click", (event) => {
      // A plain click stays in this session; any other is the browser's own.
      if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      moving = true;
      openInSession(link.href);
      if (name === "here") setTimeout(() => this.arrive(true), SETTLED);
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
    const link = name && this.root.querySelector(`a.${name}`);
    if (!(link instanceof HTMLAnchorElement)) return;
    event.preventDefault();
    link.click();
  }

  /** The name of what has the focus, to give it back to what is built anew. */
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
    const section = /** @type {HTMLElement} */ (this.root.querySelector("section"));
    const [box, around] = [element.getBoundingClientRect(), section.getBoundingClientRect()];
    // A judgement comes with what is revealed below it.
    const top = this.root.querySelector(".top")?.getBoundingClientRect().height ?? 0; // stays above what scrolls
    if (!same) section.scrollTop += Math.max(0, box.top - around.top - top - 12);
  }

  // --- a question

  /** @param {Question} question */
  question(question) {
    const { text } = this.data;
    const open = question.open || this.changing.has(question.stop);
    const parts = [];
    if (question.title) parts.push(make("p", { class: "title" }, question.title));
    parts.push(make("div", { class: "ask" }, ...blocks(question.ask)));
    if (!question.says || question.given.length) parts.push(...this.asked(question, open));
    if (question.was) parts.push(make("p", { class: "quiet" }, fillIn(text.was, { first: question.was })));
    if (question.says && !this.changing.has(question.stop)) parts.push(this.verdict(question));
    return make("div", { class: "question", "data-question": question.stop }, ...parts);
  }

  /** @param {Question} question */
  verdict(question) {
    const { text } = this.data;
    const judged = !question.held && question.given.length > 0;
    const sort = judged ? (question.right ? "right" : "wrong") : "";
    const parts = judged ? [make("strong", {}, question.right ? text.right : text.wrong), " "] : [];
    const verdict = make("div", { class: `verdict ${sort}`, role: "status", tabindex: -1 }, ...parts, question.says);
    if (!question.may_change) return verdict;
    const { stop } = question;
    const change = this.button("change", text.change, () => {
      this.changing.add(stop);
      this.drafts.delete(stop);
      this.build();
    });
    const keep = this.button("keep", text.show, () => this.send("keep", { stop }));
    verdict.append(make("div", { class: "options" }, change, keep));
    return verdict;
  }

  /**
   * @param {Question} question
   * @param {boolean} open
   */
  asked(question, open) {
    if (question.kind === "choose") return [this.choice(question, open)];
    if (question.kind === "tokens") return this.chips(question, open);
    if (question.kind === "order") return this.list(question, open);
    return this.box(question, open);
  }

  /**
   * @param {Question} question
   * @param {string} value
   */
  answer({ stop }, value) {
    this.changing.delete(stop);
    this.send("answer", { stop, value });
  }

  /**
   * @param {Question} question
   * @param {boolean} open
   */
  choice(question, open) {
    const list = make("div", { class: "options", role: "group" });
    question.options.forEach((option, index) => {
      const button = this.button("", "", () => this.answer(question, String(index + 1)));
      button.dataset.name = `option-${question.stop}-${index}`;
      button.append(...runs(option));
      button.disabled = !open;
      if (question.given[0] === index + 1 && !open) button.classList.add("chosen");
      list.append(button);
    });
    return list;
  }

  /**
   * @param {Question} question
   * @param {boolean} open
   */
  chips(question, open) {
    const { text } = this.data;
    const draft = /** @type {number[]} */ (this.drafts.get(question.stop) ?? []);
    const marked = open ? draft : /** @type {number[]} */ (question.given);
    const list = make("div", { class: "options tokens", role: "group" });
    question.tokens.forEach((token, index) => {
      const button = this.button("", tokenText(token), () => {
        this.drafts.set(question.stop, toggled(draft, index, question.most));
        this.build();
      });
      button.dataset.name = `token-${question.stop}-${index}`;
      button.setAttribute("aria-pressed", String(marked.includes(index)));
      button.disabled = !open;
      const weight = question.weights[index];
      if (weight !== undefined) {
        button.append(make("small", {}, weight.toFixed(2)));
        button.style.boxShadow = `inset 0 -${Math.round(weight * 100) / 20}px var(--accent)`;
      }
      list.append(button);
    });
    if (!open) return [list];
    const check = this.button("check", text.check, () => this.answer(question, [...draft].sort((a, b) => a - b).join("-")));
    check.disabled = !draft.length;
    return [list, make("p", { class: "quiet" }, fillIn(text.choose_tokens, { most: question.most })), check];
  }

  /**
   * @param {Question} question
   * @param {boolean} open
   */
  list(question, open) {
    const { text } = this.data;
    const draft = /** @type {number[]} */ (this.drafts.get(question.stop) ?? question.order);
    const order = open ? draft : /** @type {number[]} */ (question.given);
    const list = make("ol", { class: "order" });
    order.forEach((option, place) => {
      const label = question.options[option].map(([, words]) => words).join("");
      /** @type {(sign: string, by: number, name: string) => HTMLButtonElement} */
      const arrow = (sign, by, name) => {
        const act = () => {
          this.drafts.set(question.stop, moved(order, place, by));
          this.build();
          this.focus(`${name}-${question.stop}-${option}`);
        };
        const button = this.button("", sign, act, fillIn(text[name], { option: label }));
        button.dataset.name = `${name}-${question.stop}-${option}`;
        button.disabled = !open || place + by < 0 || place + by >= order.length;
        return button;
      };
      const words = make("span", {}, `${place + 1}. `, ...runs(question.options[option]));
      list.append(make("li", {}, words, ...(open ? [arrow("↑", -1, "up"), arrow("↓", 1, "down")] : [])));
    });
    if (!open) return [list];
    return [list, this.button("check", text.check, () => this.answer(question, order.join("-")))];
  }

  /**
   * @param {Question} question
   * @param {boolean} open
   */
  box(question, open) {
    const { text } = this.data;
    const draft = this.drafts.get(question.stop) ?? "";
    const value = open ? String(draft) : String(question.given);
    const box = make("input", { "aria-label": text.number, inputmode: "decimal", maxlength: 20, value });
    box.dataset.name = `number-${question.stop}`;
    box.disabled = !open;
    box.addEventListener("input", () => this.drafts.set(question.stop, box.value));
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.answer(question, box.value);
    });
    return open
      ? [
          make(
            "div",
            { class: "options" },
            box,
            this.button("check", text.check, () => this.answer(question, box.value)),
          ),
        ]
      : [box];
  }
}

/**
 * A table of all answers.
 *
 * @param {string[][]} lines a stop and its three answers
 * @param {Record<string, string>} text
 */
function answerSheet(lines, text) {
  const names = [text.sheet_stop, text.sheet_first, text.sheet_second, text.sheet_again];
  const head = make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name)));
  const rows = lines.map(([stop, ...answers]) =>
    make("tr", {}, make("th", { scope: "row" }, stop), ...answers.map((answer) => make("td", {}, answer))),
  );
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
}

/**
 * Paragraphs and lists.
 *
 * @param {Blocks} of
 */
function blocks(of) {
  /** @type {HTMLElement[]} */
  const elements = [];
  for (const [tag, words] of of) {
    const element = make(tag, {}, ...runs(words));
    const last = elements[elements.length - 1];
    if (tag === "li" && last?.tagName === "UL") last.append(element);
    else elements.push(tag === "li" ? make("ul", {}, element) : element);
  }
  return elements;
}

/**
 * Words, each in an element of its style. All are text, never markup.
 *
 * @param {Runs} of
 */
function runs(of) {
  return of.map(([style, words]) => (style ? make(style, {}, words) : words));
}

/**
 * Let a person press a term to read what it means, below the words it stands in.
 *
 * @param {HTMLElement} word
 * @param {string | undefined} meaning nothing is done without one
 */
function explain(word, meaning) {
  if (!meaning) return;
  const button = make(
    "button",
    { type: "button", class: "term", title: meaning, "aria-expanded": "false" },
    word.textContent ?? "",
  );
  const says = make("span", { class: "meaning", role: "note" }, meaning);
  says.hidden = true;
  button.addEventListener("click", () => {
    says.hidden = !says.hidden;
    button.setAttribute("aria-expanded", String(!says.hidden));
  });
  word.replaceChildren(button);
  word.closest("p, li")?.append(says);
}
