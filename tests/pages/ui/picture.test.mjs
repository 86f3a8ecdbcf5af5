import assert from "node:assert/strict";
import { test } from "node:test";
import { offlinePage } from "../../../pages/ui/export_menu.js";
import { escapeMarkup } from "../../../pages/ui/picture.js";

test("escapeMarkup leaves nothing that markup or an attribute would read", () => {
  assert.equal(escapeMarkup('<img src="x" onerror=alert(1)>&'), "&lt;img src=&quot;x&quot; onerror=alert(1)&gt;&amp;");
  assert.equal(escapeMarkup(1.5), "1.5");
});

test("an offline page holds the picture, and its name as text", () => {
  const page = offlinePage("<svg></svg>", "a<b>", "rgb(1, 2, 3)");
  assert.match(
    page,
    /^<!doctype html>.*<title>a&lt;b&gt;<\/title>.*background: rgb\(1, 2, 3\).*<body><svg><\/svg><\/body><\/html>$/,
  );
});
