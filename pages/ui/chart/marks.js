// Draws shapes above a chart of the page without sending its figure again: the frame of a cell, a highlighted row.

/** @type {WeakMap<ParentNode, () => void>} */
const last = new WeakMap(); // what ends the call before, because Streamlit ends only the last one

/** @param {{ data: { chart: string, shapes: object[] }, parentElement: ParentNode }} mount */
export default function marks({ data: { chart, shapes }, parentElement }) {
  last.get(parentElement)?.();
  const send = (/** @type {object[]} */ detail) =>
    document.querySelector(`.chart[data-name="${CSS.escape(chart)}"]`)?.dispatchEvent(new CustomEvent("mark", { detail }));
  const mark = () => send(shapes);
  mark();
  addEventListener("chart", mark); // a chart that comes later
  last.set(parentElement, () => removeEventListener("chart", mark));
  return () => {
    removeEventListener("chart", mark);
    send([]);
  };
}
