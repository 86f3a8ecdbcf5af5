// The grid of all heads as a component.

import { unpack } from "./chart/unpack.js";
import { rootOf, viewOf } from "./component.js";
import { HeadGrid } from "./head_grid_view.js";

/** @param {import("./component.js").Mount<Uint8Array>} mount */
export default function headGrid({ data: parcel, parentElement, setTriggerValue }) {
  const [data, levels] = unpack(parcel);
  const root = rootOf(parentElement, "head_grid");
  return viewOf(root, () => new HeadGrid(root, data.text)).update(data, levels, setTriggerValue);
}
