"""The app without a browser, opened as a link opens it, and the example that is worked through on many pages."""

import re

from streamlit.testing.v1 import AppTest

from tests.pages.conftest import ROOT

HOME = "pages/home/page.py"
EXAMPLE = {
    "source": "1 5 6 4 3 9 5 2 0",
    "target": "1 7 4 3 5 9 2",
    "batch": "1 8 7 3 4 5 6 7 2",
    "batch_targets": "1 5 6 2 4 7 6",
}
# With the model that is worked through: as a link holds it, and as it stands in an address behind the question mark.
LINKED = {"model": "shared_heads", **EXAMPLE}
WORKED = "&".join(f"{name}={value.replace(' ', '+')}" for name, value in LINKED.items())


def on_page(page: str, timeout: float = 60, /, **query: str | tuple[str, ...]) -> AppTest:
    """A page of the app, at a link that holds the query; `timeout`: of each run, in seconds."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=timeout)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    return app.switch_page(page).run() if page != HOME else app


def said(app: AppTest) -> str:
    """Every error that a page shows, as a person reads it."""
    assert not app.exception
    return " ".join(shown(error.value) for error in app.error)


def shown(markdown: str) -> str:
    """What a person reads of a text that `pages.ui.escaping` has made safe."""
    for _ in range(2):  # a span may stand in a span
        markdown = re.sub(r":color\[((?:\\.|[^\\\[\]])*)\]", r"\1", markdown)
    return markdown.replace("\\", "")
