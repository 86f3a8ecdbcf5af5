// Scrolls to the element that a click has opened (parts.py).

import { arriveAt } from "./arrival.js";

/** @param {import("../../ui/component.js").Mount<{ key: string, count: number }>} mount */
export default ({ data }) => arriveAt(data.key);
