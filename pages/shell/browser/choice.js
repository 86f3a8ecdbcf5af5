// Makes each choice that the server has counted (history.py) an entry of the browser's history.

import { reportChoice } from "../../ui/compat.js";

/** @param {import("../../ui/component.js").Mount<{ choice: number }>} mount */
export default function mount({ data }) {
  reportChoice(data.choice);
}
