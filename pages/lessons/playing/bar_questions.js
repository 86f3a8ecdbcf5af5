// The questions of a lesson's bar: the inputs for an answer, and the judgement of a given answer.

import { grown, grownParts, make } from "../../ui/component.js";
import { fillIn, tokenText } from "../../ui/format.js";
import { ascending } from "../../ui/marking_cells.js";
import { moved, numberIn, toggled } from "./bar_moves.js";

/** @typedef {import("../../ui/component.js").Described} Described */

/**
 * @typedef {{
 *   stop: number, kind: "choose" | "tokens" | "order" | "number", title: string, ask: Described[], options: (Described | string)[][], order: number[],
 *   tokens: string[], weights: number[], most: number, given: number[] | string, says: string, right: boolean, settled: boolean,
 *   open: boolean, right_option: number, may_change: boolean, held: boolean, was: string, pictured: boolean, marked: number[],
 * }} Question
 */

/**
 * The bar that the questions stand in.
 *
 * @typedef {{
 *   data: { text: Record<string, string> }, build: () => void, focus: (name: string) => void, pictured: () => boolean,
 *   send: (name: string, value: unknown) => void,
 *   button: (name: string, label: string, act: () => void, says?: string) => HTMLButtonElement,
 * }} Around
 */

export class Questions {
  /** Stops whose answer is being changed. @type {Set<number>} */ changing = new Set();
  /** Stop → the answer that is not checked yet. @type {Map<number, number[] | string>} */ drafts = new Map();
  /** Stop → its question as JSON, from the last call of `take`. @type {Map<number, string>} */ before = new Map();

  /** @param {Around} bar */
  constructor(bar) {
    this.bar = bar;
  }

  /**
   * Read the questions that the server sent. If a question has changed, its answer is no longer being changed here.
   *
   * @param {Question[]} questions
   * @param {boolean} arrived whether another stop was opened
   */
  take(questions, arrived) {
    if (arrived) this.drafts.clear();
    const written = new Map(questions.map((question) => [question.stop, JSON.stringify({ ...question, marked: [] })]));
    for (const [stop, question] of written) if (this.before.get(stop) !== question) this.changing.delete(stop);
    this.before = written;
    for (const { stop, pictured, marked, may_change } of questions) {
      if (!pictured) continue;
      this.drafts.set(stop, marked);
      if (may_change && marked.length) this.changing.add(stop);
    }
  }

  /** @param {Question} question */
  element(question) {
    const { text } = this.bar.data;
    const open = question.open || this.changing.has(question.stop);
    const parts = [];
    if (question.title) parts.push(make("p", { class: "title" }, question.title));
    const ask = `ask-${question.stop}`;
    parts.push(make("div", { class: "ask", id: ask }, ...question.ask.map(grown)));
    if (!question.says || question.given.length) parts.push(...this.asked(question, open));
    if (question.was) parts.push(make("p", { class: "quiet" }, fillIn(text.was, { first: question.was })));
    if (question.says && !this.changing.has(question.stop)) parts.push(this.verdict(question));
    // A move to a stop focuses the question. A screen reader then reads the text of the stop with it.
    const heard = { role: "group", "aria-labelledby": `stop-title ${ask}`, "aria-describedby": "stop-words" };
    const attributes = { class: open ? "question open" : "question", tabindex: -1, ...heard, "data-question": question.stop };
    return make("div", attributes, ...parts);
  }

  /** @param {Question} question */
  verdict(question) {
    const { text } = this.bar.data;
    const judged = !question.held && question.given.length > 0;
    const sort = judged ? (question.right ? "right" : "wrong") : "";
    const parts = judged ? [make("strong", {}, question.right ? text.right : text.wrong), " "] : [];
    const verdict = make("div", { class: `verdict ${sort}`, role: "status", tabindex: -1 }, ...parts, question.says);
    if (!question.may_change) return verdict;
    const { stop } = question;
    const change = this.bar.button("change", text.change, () => {
      this.changing.add(stop);
      this.drafts.delete(stop);
      this.bar.build();
    });
    const keep = this.bar.button("keep", text.show, () => this.bar.send("keep", { stop }));
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
    this.bar.send("answer", { stop, value });
  }

  /**
   * @param {Question} question
   * @param {boolean} open
   */
  choice(question, open) {
    const list = make("div", { class: "options lettered", role: "group" });
    question.options.forEach((option, index) => {
      const button = this.bar.button("", "", () => this.answer(question, String(index + 1)));
      button.dataset.name = `option-${question.stop}-${index}`;
      button.append(...grownParts(option));
      button.disabled = !open;
      if (question.given[0] === index + 1 && !open) button.classList.add("chosen");
      if (question.right_option === index + 1) button.classList.add("right");
      list.append(button);
    });
    return list;
  }

  /**
   * A list of the tokens. While tokens are marked on the picture below, there is only a line of text.
   *
   * @param {Question} question
   * @param {boolean} open
   */
  chips(question, open) {
    const { text } = this.bar.data;
    if (open && this.bar.pictured()) return [make("p", { class: "quiet" }, text.on_picture)];
    const draft = /** @type {number[]} */ (this.drafts.get(question.stop) ?? []);
    const marked = open ? draft : /** @type {number[]} */ (question.given);
    const list = make("div", { class: "options tokens", role: "group" });
    question.tokens.forEach((token, index) => {
      const button = this.bar.button("", tokenText(token), () => {
        this.drafts.set(question.stop, toggled(draft, index, question.most));
        this.bar.build();
      });
      button.dataset.name = `token-${question.stop}-${index}`;
      button.setAttribute("aria-pressed", String(marked.includes(index)));
      button.disabled = !open;
      const weight = question.weights[index];
      if (weight !== undefined) {
        button.append(make("small", {}, weight.toFixed(2)));
        button.style.boxShadow = `inset 0 -${Math.round(Math.max(0, weight) * 100) / 20}px var(--accent)`;
      }
      list.append(button);
    });
    if (!open) return [list];
    const check = this.bar.button("check", text.check, () => this.answer(question, ascending(draft).join("-")));
    check.disabled = !draft.length;
    return [list, make("p", { class: "quiet" }, fillIn(text.choose_tokens, { most: question.most })), check];
  }

  /**
   * @param {Question} question
   * @param {boolean} open
   */
  list(question, open) {
    const { text } = this.bar.data;
    const draft = /** @type {number[]} */ (this.drafts.get(question.stop) ?? question.order);
    const order = open ? draft : /** @type {number[]} */ (question.given);
    const list = make("ol", { class: "order" });
    order.forEach((option, place) => {
      const words = make("span", {}, ...grownParts(question.options[option]));
      /** @type {(sign: string, by: number, name: string) => HTMLButtonElement} */
      const arrow = (sign, by, name) => {
        const act = () => {
          this.drafts.set(question.stop, moved(order, place, by));
          this.bar.build();
          this.bar.focus(`${name}-${question.stop}-${option}`);
        };
        const button = this.bar.button("", sign, act, fillIn(text[name], { option: words.textContent }));
        button.dataset.name = `${name}-${question.stop}-${option}`;
        button.disabled = !open || place + by < 0 || place + by >= order.length;
        return button;
      };
      const arrows = open ? [arrow("↑", -1, "up"), arrow("↓", 1, "down")] : [];
      list.append(make("li", {}, make("span", {}, `${place + 1}. `, words), ...arrows));
    });
    if (!open) return [list];
    return [list, this.bar.button("check", text.check, () => this.answer(question, order.join("-")))];
  }

  /**
   * @param {Question} question
   * @param {boolean} open
   */
  box(question, open) {
    const { text } = this.bar.data;
    const draft = this.drafts.get(question.stop) ?? "";
    const value = open ? String(draft) : String(question.given);
    const box = make("input", { "aria-label": text.number, inputmode: "decimal", maxlength: 20, value });
    box.dataset.name = `number-${question.stop}`;
    box.disabled = !open;
    if (!open) return [box];
    const refusal = make("p", { class: "quiet", role: "status" });
    const check = () => {
      const number = numberIn(box.value);
      if (number) this.answer(question, number);
      else refusal.textContent = text.no_number;
    };
    box.addEventListener("input", () => this.drafts.set(question.stop, box.value));
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter") check();
    });
    return [make("div", { class: "options" }, box, this.bar.button("check", text.check, check)), refusal];
  }
}
