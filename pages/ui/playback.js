// A place in a series of steps. A person moves it, or it plays one step after another. This file does not touch the page.

import { clamp } from "./component.js";

const REST = 80; // ms: after a move, later moves within this time are sent only when no other move has followed for as long

export class Playback {
  index = 0;
  count = 1;
  playing = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ timer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ rest;
  /** @type {number[]} */ unanswered = []; // chosen places that the server has not answered yet

  /**
   * @param {number} pace ms between two steps while the series plays
   * @param {() => void} paint called after each change of `index` or `playing`
   * @param {(index: number) => void} choose called with the place after a move. Of several moves in quick succession, it is called
   *   for the first and for the last one only. It is not called while the series plays, only at its end.
   */
  constructor(pace, paint, choose) {
    this.pace = pace;
    this.paint = paint;
    this.choose = choose;
  }

  /** Whether the series does not play and `choose` is not waiting for the end of several moves. */
  get still() {
    return !this.playing && this.rest === undefined;
  }

  /**
   * Set the series that the server sent, and keep the place within its bounds. Nothing is painted.
   *
   * @param {number} count steps of the series
   * @param {number} index the place that the server asks for
   * @param {boolean} asked whether the series or the place is new. If neither is new, the place stays, because a late answer of
   *   the server would undo a move.
   */
  take(count, index, asked = true) {
    const late = this.answered(index, asked);
    this.count = count;
    this.index = clamp(0, asked && !late && this.still ? index : this.index, count - 1);
  }

  /**
   * Note which choice the server has answered. The server may skip a choice that is followed by another choice.
   *
   * @param {number} index
   * @param {boolean} asked as in `take`
   * @returns {boolean} whether later choices are still unanswered
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
   * @param {number} index any integer; an index outside the series is replaced by the nearest step
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

  /** Call `choose` with the present place. */
  send() {
    this.unanswered.push(this.index);
    this.choose(this.index);
  }

  /** Pause if the series plays. Otherwise play from the next step to the last, or from the first step if this is the last. */
  toggle() {
    if (this.playing) return this.go(this.index);
    this.halt();
    this.playing = true;
    this.index = this.index === this.count - 1 ? -1 : this.index;
    this.step();
  }

  /** Show the next step of the series that plays. */
  step() {
    if (this.index + 1 >= this.count - 1) return this.go(this.count - 1);
    this.index += 1;
    this.timer = setTimeout(() => this.step(), this.pace);
    this.paint();
  }

  /** Stop playing, and drop a move for which `choose` was not called yet. */
  halt() {
    clearTimeout(this.timer);
    clearTimeout(this.rest);
    [this.playing, this.rest] = [false, undefined];
  }
}

/**
 * The place that a key moves to, counted from 0; null for a key that does not move.
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
