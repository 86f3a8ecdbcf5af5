// Makes each choice that the server has counted (history.py) an entry of the browser's history.

import { reportChoices } from "../../ui/compat.js";

/** @param {import("../../ui/component.js").Mount<import("../../ui/compat.js").Choices>} mount */
export default ({ data }) => reportChoices(data);
