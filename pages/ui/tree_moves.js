// The actions of keys in a tree, according to the WAI-ARIA pattern. A tree is a list of levels: the lines below a line are the
// following lines with a greater level.

/**
 * The lines that contain a line, the nearest first.
 *
 * @param {number[]} levels
 * @param {number} index
 */
export function ancestors(levels, index) {
  const above = [];
  for (let other = index - 1, level = levels[index]; other >= 0; other--) {
    if (levels[other] < level) {
      above.push(other);
      level = levels[other];
    }
  }
  return above;
}

/**
 * Whether a line contains other lines.
 *
 * @param {number[]} levels
 * @param {number} index
 */
export function hasChildren(levels, index) {
  return (levels[index + 1] ?? 0) > levels[index];
}

/**
 * The action of a key at a line: go to another line, open, close or pick this line. Null if the key has no action in a tree.
 *
 * @param {string} key
 * @param {number} index
 * @param {number[]} levels
 * @param {(index: number) => boolean} isFolded
 * @returns {{ go: number } | { fold: boolean } | { pick: true } | {} | null} empty if the key has an action in a tree,
 *   but changes nothing at this line
 */
export function treeMove(key, index, levels, isFolded) {
  const visible = levels.map((_, line) => line).filter((line) => !ancestors(levels, line).some(isFolded));
  const place = visible.indexOf(index);
  const inner = hasChildren(levels, index);
  /** @param {number | undefined} line */
  const go = (line) => (line === undefined ? {} : { go: line });
  switch (key) {
    case "ArrowDown":
      return go(visible[place + 1]);
    case "ArrowUp":
      return go(visible[place - 1]);
    case "Home":
      return go(visible[0]);
    case "End":
      return go(visible.at(-1));
    case "ArrowRight":
      if (!inner) return {};
      return isFolded(index) ? { fold: false } : go(visible[place + 1]);
    case "ArrowLeft":
      return inner && !isFolded(index) ? { fold: true } : go(ancestors(levels, index)[0]);
    case "Enter":
    case " ":
      return { pick: true };
    default:
      return null;
  }
}
