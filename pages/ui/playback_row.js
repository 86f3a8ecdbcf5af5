// The row of buttons and the slider that move a playback.

import { make } from "./component.js";
import { indexAfterKey } from "./playback.js";

/** @typedef {import("./playback.js").Playback} Playback */

export class PlaybackRow {
  /**
   * @param {Playback} playback
   * @param {Record<string, string>} text the names of the buttons (first, back, play, pause, forward, last) and of the slider
   *   (scrubber)
   * @param {() => string} place the words for the current place
   */
  constructor(playback, text, place) {
    this.playback = playback;
    this.text = text;
    this.place = place;
    /** @type {(name: string, sign: string, act: () => void) => HTMLButtonElement} */
    const button = (name, sign, act) => {
      const made = make("button", { type: "button", class: name, title: text[name], "aria-label": text[name] }, sign);
      made.addEventListener("click", act);
      return made;
    };
    this.playButton = button("play", "▶", () => playback.toggle());
    this.slider = make("input", { type: "range", min: 0, step: 1, "aria-label": text.scrubber });
    this.slider.addEventListener("input", () => playback.go(Number(this.slider.value)));
    // If a finger that scrolls the page starts on the slider, the slider moves as at a tap. Then it must move back.
    let before = 0;
    this.slider.addEventListener("pointerdown", () => {
      before = playback.index;
    });
    this.slider.addEventListener("pointercancel", () => playback.go(before));
    this.output = make("output", {});
    this.element = make(
      "div",
      { class: "playback" },
      button("first", "«", () => playback.go(0)),
      button("back", "‹", () => playback.go(playback.index - 1)),
      this.playButton,
      button("forward", "›", () => playback.go(playback.index + 1)),
      button("last", "»", () => playback.go(playback.count - 1)),
      this.slider,
      this.output,
    );
  }

  /** Show the place of the playback. */
  paint() {
    const { index, count, playing } = this.playback;
    const [place, does] = [this.place(), playing ? this.text.pause : this.text.play];
    this.slider.max = String(count - 1);
    this.slider.value = String(index);
    this.slider.setAttribute("aria-valuetext", place);
    this.output.textContent = place;
    // The style sheet draws the sign of a pause, because many fonts do not have it.
    this.playButton.textContent = playing ? "" : "▶";
    this.playButton.toggleAttribute("data-playing", playing);
    this.playButton.setAttribute("aria-label", does);
    this.playButton.title = does;
  }

  /**
   * The arrow keys, Home and End move. The space bar plays and pauses if the slider has the focus; on a button, it presses the
   * button.
   *
   * @param {KeyboardEvent} event
   */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    if (event.key === " " && event.target === this.slider) {
      event.preventDefault();
      return this.playback.toggle();
    }
    const index = indexAfterKey(event.key, this.playback.index, this.playback.count);
    if (index === null) return;
    event.preventDefault();
    this.playback.go(index);
  }
}
