"""Links that ask for what a page does not have: the page says so, and shows its usual choice."""

import pytest

from pages.ui.text import text
from tests.pages.apps import on_page

REVERSE = {"model": "reverse", "source": "abc"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "query", "refused"),
    [
        ("attention", {**REVERSE, "layer": "99", "head": "-1"}, ["layer=99", "head=-1"]),
        ("attention", {**REVERSE, "kind": "banana", "computed": "maybe"}, ["kind=banana", "computed=maybe"]),
        ("attention", {"model": "nothing", "source": "the cat"}, ["model=nothing"]),
        ("layers", {"model": "", "source": "the cat", "part": "<b>"}, ["model=", "part=<b>"]),
        ("layers", {**REVERSE, "stop": "x", "number": "1.2"}, ["stop=x", "number=1.2"]),
        ("masks", {**REVERSE, "predict": "what?"}, ["predict=what?"]),
        ("decoding", {**REVERSE, "step": "999", "method": "beam", "width": "1e3"}, ["step=999", "width=1e3"]),
        ("tokens", {"model": "own-sizes", "source": "a b", "n_layers": "999", "variant": "x"}, ["n_layers=999", "variant=x"]),
        ("training", {**REVERSE, "snapshot": "12", "token": "99"}, ["snapshot=12", "token=99"]),
        ("attention", {**REVERSE, "language": "xx"}, ["language=xx"]),
        ("attention", {**REVERSE, "layer": "2", "head": "1", "kind": "cross"}, []),
    ],
)
def test_a_page_says_which_values_of_a_link_it_does_not_have(page: str, query: dict[str, str], refused: list[str]) -> None:
    app = on_page(f"pages/{page}/page.py", **query)
    assert not app.exception
    said = [toast.value.replace("\\", "") for toast in app.toast]
    start, end = text("common")["link_refused"].split("{values}")
    assert [{*says.removeprefix(start).removesuffix(end).split(", ")} for says in said] == ([{*refused}] if refused else [])
    assert not app.run().toast
