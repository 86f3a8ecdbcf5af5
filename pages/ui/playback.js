// A place in a series of steps: moved by hand, or played one step after another. Nothing here touches the page.

import { clamp } from "./component.js";

const REST = 80; // ms: a move that soon after another is chosen only when no third has followed for as long

export class Playback {
  index = 0;
  count = 1;
  playing = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ timer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ rest;
  /** @type {number[]} */ unanswered = []; // places that were chosen after the last one that the server answered

  /**
   * @param {number} pace ms between two steps while it plays
   * @param {() => void} paint called after each change of `index` or `playing`
   * @param {(index: number) => void} choose called with the place: of a single move at once, of moves in a row with the first and
   *   the last; not between two steps that are played
   */
  constructor(pace, paint, choose) {
    this.pace = pace;
    this.paint = paint;
    this.choose = choose;
  }

  /** Whether nothing plays and no move waits to be chosen. */
  get still() {
    return !this.playing && this.rest === undefined;
  }

  /**
   * Take over a series from the server, and stay in its bounds. Nothing is painted.
   *
   * @param {number} count steps of the series
   * @param {number} index the place that the server asks for
   * @param {boolean} asked whether series or place are new; otherwise an answer that comes back late would undo a move
   */
  take(count, index, asked = true) {
    const late = this.answered(index, asked);
    this.count = count;
    this.index = clamp(0, asked && !late && this.still ? index : this.index, count - 1);
  }

  /**
   * Note what the server has answered. A choice that another one followed may be left out.
   *
   * @param {number} index
   * @param {boolean} asked as in `take`
   * @returns {boolean} whether the place answers a choice that another one has followed
   */
  answered(index, asked) {
    const choice = this.unanswered.indexOf(index);
    if (choice >= 0) this.unanswered = this.unanswered.slice(choice + 1);
    else if (asked) this.unanswered = [];
    return this.unanswered.length > 0;
  }

  /**
   * Go to a step and stay there.
   *
   * @param {number} index any integer; outside the series it is the nearest step
   */
  go(index) {
    const single = this.rest === undefined;
    this.halt();
    this.index = clamp(0, index, this.count - 1);
    this.rest = setTimeout(() => {
      this.rest = undefined;
      if (!single) this.send();
    }, REST);
    this.paint();
    if (single) this.send();
  }

  /** Choose the place. */
  send() {
    this.unanswered.push(this.index);
    this.choose(this.index);
  }

  /** Play from the next step to the last, or from the first if this is the last; pause if it plays. */
  toggle() {
    if (this.playing) return this.go(this.index);
    this.halt();
    this.playing = true;
    this.index = this.index === this.count - 1 ? -1 : this.index;
    this.step();
  }

  /** Show the next step of what plays. */
  step() {
    if (this.index + 1 >= this.count - 1) return this.go(this.count - 1);
    this.index += 1;
    this.timer = setTimeout(() => this.step(), this.pace);
    this.paint();
  }

  /** Stop playing, and forget a move that was not chosen yet. */
  halt() {
    clearTimeout(this.timer);
    clearTimeout(this.rest);
    [this.playing, this.rest] = [false, undefined];
  }
}

/**
 * The place that a key leads to, counted from 0; null for a key that does nothing.
 *
 * @param {string} key
 * @param {number} index
 * @param {number} count
 */
export function indexAfterKey(key, index, count) {
  /** @type {Record<string, number>} */
  const targets = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: count - 1 };
  return key in targets ? clamp(0, targets[key], count - 1) : null;
}
