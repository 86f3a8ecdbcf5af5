import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { Playback, indexAfterKey } from "../../../pages/ui/playback.js";

const PACE = 1000;

/** @type {number[]} */ let painted;
/** @type {number[]} */ let chosen;
/** @type {Playback} */ let playback;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  [painted, chosen] = [[], []];
  playback = new Playback(
    PACE,
    () => painted.push(playback.index),
    (index) => chosen.push(index),
  );
  playback.take(4, 0);
});

/** Let time pass, one pace after another, because a mocked tick does not call timers that are set during the tick. @param {number} paces */
const pass = (paces) => {
  for (let pace = 0; pace < paces; pace++) mock.timers.tick(PACE);
};

test("arrow keys move by one and stop at both ends, Home and End go there", () => {
  assert.equal(indexAfterKey("ArrowRight", 1, 4), 2);
  assert.equal(indexAfterKey("ArrowRight", 3, 4), 3);
  assert.equal(indexAfterKey("ArrowLeft", 0, 4), 0);
  assert.equal(indexAfterKey("Home", 2, 4), 0);
  assert.equal(indexAfterKey("End", 0, 4), 3);
  assert.equal(indexAfterKey("a", 2, 4), null);
});

test("each move is painted at once; of moves in a row the first is chosen at once, and the last after a rest", () => {
  for (const index of [1, 9, 2, -5, 1]) playback.go(index);
  assert.deepEqual(painted, [1, 3, 2, 0, 1]);
  mock.timers.tick(79);
  assert.deepEqual(chosen, [1]);
  mock.timers.tick(1);
  assert.deepEqual(chosen, [1, 1]);
});

test("moves with a rest between them are chosen at once, and once", () => {
  playback.go(1);
  mock.timers.tick(80);
  playback.go(2);
  assert.deepEqual(chosen, [1, 2]);
  mock.timers.tick(80);
  assert.deepEqual(chosen, [1, 2]);
});

test("it plays from the next step to the last, stops there, and chooses the last alone", () => {
  playback.toggle();
  assert.ok(playback.playing);
  pass(10);
  assert.deepEqual(painted, [1, 2, 3]);
  assert.deepEqual([playback.playing, chosen], [false, [3]]);
});

test("from the last step it plays from the first", () => {
  playback.take(4, 3);
  playback.toggle();
  pass(10);
  assert.deepEqual(painted, [0, 1, 2, 3]);
});

test("a series of one step is at its end at once", () => {
  playback.take(1, 0);
  playback.toggle();
  assert.deepEqual([playback.index, playback.playing], [0, false]);
});

test("a pause chooses the step that is shown", () => {
  playback.toggle();
  pass(1);
  playback.toggle();
  pass(10);
  assert.deepEqual([playback.index, playback.playing, chosen], [2, false, [2]]);
});

test("a move by hand ends the playing", () => {
  playback.toggle();
  playback.go(0);
  pass(10);
  assert.deepEqual([playback.index, chosen], [0, [0]]);
});

test("a place from the server does not undo a move, and a shorter series bounds it", () => {
  playback.go(3);
  playback.take(4, 0);
  assert.equal(playback.index, 3);
  playback.take(2, 0);
  assert.equal(playback.index, 1);
  mock.timers.tick(80);
  playback.take(4, 2, false);
  assert.equal(playback.index, 1);
  playback.take(4, 2);
  assert.equal(playback.index, 2);
});

test("a late answer to an earlier move does not undo the last one", () => {
  playback.go(1);
  playback.go(3);
  mock.timers.tick(80);
  assert.deepEqual(chosen, [1, 3]);
  playback.take(4, 1);
  assert.equal(playback.index, 3);
  playback.take(4, 3);
  // From here on, the server sends another place, as after the browser's Back.
  playback.take(4, 1);
  assert.equal(playback.index, 1);
});

test("the server may leave out a move that another one has followed", () => {
  for (const index of [1, 2, 3]) {
    playback.go(index);
    mock.timers.tick(80);
  }
  playback.take(4, 3);
  playback.take(4, 2);
  assert.equal(playback.index, 2);
});

test("a move there and back is answered by the place that the server had", () => {
  playback.go(1);
  playback.go(0);
  mock.timers.tick(80);
  playback.take(4, 0, false);
  playback.take(4, 1);
  assert.equal(playback.index, 1);
});

test("more steps of a series leave the moves unanswered", () => {
  playback.go(1);
  playback.go(3);
  mock.timers.tick(80);
  playback.take(4, 0, false);
  playback.take(4, 1);
  assert.equal(playback.index, 3);
});

test("what is halted neither plays on nor chooses", () => {
  playback.go(2);
  playback.go(1);
  playback.halt();
  playback.toggle();
  playback.halt();
  pass(10);
  assert.deepEqual(chosen, [2]);
});
