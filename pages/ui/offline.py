"""A page as one file: components of this project with their data. The page needs no server and no network."""

import base64
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st
from markupsafe import Markup

from pages.ui.component import style_of
from pages.ui.scripts import name_of
from transformer.figures.theme import STYLE_COLORS

PAGE = Markup("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
{style}
body {{ max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font-family: var(--st-font); line-height: 1.5;
  color: var(--st-text-color); background: var(--st-background-color); }}
</style>
</head>
<body>
{body}
<script type="application/json" id="data">{data}</script>
<script type="importmap">{modules}</script>
<script type="module">
{script}
</script>
</body>
</html>
""")
PLACE = Markup(
    '<div id="{place}"><template shadowrootmode="open"><style>{style}</style><div class="{name}"></div></template></div>'
)
# The file of an import: `import { a, b } from "./file.js";`, on one line or several. The scripts use no other form.
IMPORTED = re.compile(r'(?<= from ")\.{1,2}/[^"]+(?=";$)', re.MULTILINE)
FONT = "system-ui, sans-serif"


def place(name: str, path: Path) -> Markup:
    """The HTML element in which a component is mounted. `name` is its `id`; `path` is that of the component's files, without
    their endings."""
    return PLACE.format(place=name, style=Markup(style_of(path)), name=path.name)


def offline_page(title: str, body: Markup, data: Mapping[str, Any], run: Path) -> str:
    """A page with components of this project, as HTML.

    Args:
        body: the HTML of the page, made with `Markup.format`. It has a `place` for each component.
        data: the argument of `run`'s default export. It is sent as JSON.
        run: a script whose default export is called with `data`. It imports the components.
    """
    call = 'run(JSON.parse(document.getElementById("data").textContent));'
    return str(
        PAGE.format(
            title=title,
            style=Markup(_theme()),
            body=body,
            data=Markup(json.dumps(data).replace("<", "\\u003c")),  # `</script` in the data would end the script
            modules=Markup(json.dumps({"imports": modules(run)})),
            script=Markup(f"import run from {json.dumps(name_of(run))};\n{call}"),
        )
    )


def modules(script: Path) -> dict[str, str]:
    """The import map of a page: name → URL, for `script` and all scripts that it imports, directly or not.

    The page has no other files, so each URL (`data:`) contains the script itself. An import cannot be relative to such a URL,
    so it is replaced by the name of the imported script.
    """
    waiting, found = [script], dict[str, str]()
    while waiting:
        file = waiting.pop()
        if name_of(file) not in found:
            source = file.read_text(encoding="utf-8")
            waiting += [file.parent / imported for imported in IMPORTED.findall(source)]
            named = IMPORTED.sub(lambda imported, folder=file.parent: name_of(folder / imported[0]), source)
            found[name_of(file)] = f"data:text/javascript;base64,{base64.b64encode(named.encode()).decode()}"
    return found


def _theme() -> str:
    """The colours of the app as CSS variables. They are light or dark, as set in the reader's system."""
    names = {"primary-color": "primaryColor", "background-color": "backgroundColor", "text-color": "textColor"}
    schemes = {
        scheme: "".join(f"--st-{name}: {st.get_option(f'theme.{scheme}.{option}')}; " for name, option in names.items())
        for scheme in ("light", "dark")
    }
    shared = "".join(f"--headlight-{name}: {color}; " for name, color in STYLE_COLORS.items())
    return (
        f":root {{ color-scheme: light dark; --st-font: {FONT}; --st-button-radius: 0.4rem; {schemes['light']}{shared}}}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {schemes['dark']}}} }}"
    )
