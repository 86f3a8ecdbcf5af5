"""Links with markup in every value, in a real browser: the markup does not run, and no other host is contacted."""

from itertools import cycle
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Dialog

from tests.fuzz.hostile import CHARACTERS, MARKUP
from tests.pages.visitor import Visitor

pytestmark = pytest.mark.browser

# Five values for each link. An untrained model takes each word as a token, so the values are also in figures, tables and lists.
NASTIEST = [*MARKUP, *CHARACTERS[:2]]
VALUES = list(zip(*(NASTIEST[start::5] for start in range(5)), strict=True))
PAGES = {
    "tokens": {},
    "attention": {"part": "steps"},
    "masks": {},
    "layers": {"part": "ledger"},
    "positions": {},
    "patching": {},
    "": {},
}
UNTRAINED = {"model": "own-sizes", "n_layers": "1", "n_heads": "1", "d_model": "8", "d_ff": "8"}
TRAINED = {"model": "english-french"}
# Elements and attributes that could run a script or load a file. The links must not add any of them to a page.
PLANTED = "[onerror], [onload], [src='x'], [href^='javascript' i], script:not([src]):not([type]), iframe, [src*='elsewhere']"


@pytest.mark.slow
def test_no_markup_of_a_link_runs(visitor: Visitor) -> None:
    dialogs: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    visitor.page.on("dialog", dismiss)
    visitor.open()
    planted = visitor.page.locator(PLANTED).count()
    for values, (path, view) in zip(VALUES, cycle(PAGES.items()), strict=False):
        model = TRAINED if path in ("patching", "") else UNTRAINED
        texts = dict(zip(("source", "target", "batch", "batch_targets", "search"), values, strict=True))
        texts |= {"edits": values[0], "word": values[1], "locked": values[2], values[3]: values[4]}
        page = visitor.open(f"{path}?{urlencode(model | view | texts)}")
        assert page.evaluate("window.__hit") is None, values
        assert page.locator(PLANTED).count() == planted, values
        assert page.locator("h1").count(), values
    assert dialogs == []
    visitor.open("tokens?model=reverse&source=abc")
