"""Every page on which a head can be picked has a link to the training of that head."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.apps import on_page


def links(app: AppTest) -> list[str]:
    """The addresses of the links to the page Training: of buttons, and in paragraphs."""
    assert not app.exception
    buttons = [each.proto.url for each in app.main.get("link_button")]
    written = [url for each in [*app.main.markdown, *app.main.caption] for url in re.findall(r"\]\((.*?)\)", each.value)]
    return [url for url in (*buttons, *written) if url.startswith("training?")]


HEAD = {"kind": "cross", "layer": "2", "head": "3"}
TEXT = "training?model=reverse&source=abc"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "query", "addresses"),
    [
        ("attention", HEAD, [f"{TEXT}&kind=cross&layer=2&head=3"]),
        (
            "layers",
            {"part": "filmstrip", "group": "decoder-2"},
            [f"{TEXT}&kind={kind}&layer=2" for kind in ("decoder", "cross")],
        ),
        ("layers", {"part": "filmstrip", "group": "encoder-1"}, [f"{TEXT}&kind=encoder&layer=1"]),
        ("layers", {"part": "filmstrip", "group": "output"}, []),
        ("masks", {**HEAD, "part": "three-conventions"}, [f"{TEXT}&kind=cross&layer=2&head=3"]),
        ("decoding", {"shown_layer": "1", "shown_head": "4"}, [f"{TEXT}&kind=cross&layer=1&head=4"]),
        ("decoding", {}, []),
    ],
)
def test_a_picked_head_has_a_link_to_its_training(page: str, query: dict[str, str], addresses: list[str]) -> None:
    file = f"pages/{page}/page.py"
    assert links(on_page(file, model="reverse", source="abc", **query)) == addresses
    assert links(on_page(file, model="copy", source="abc", **query)) == []  # this model has no snapshots


def test_a_typed_target_is_in_the_link() -> None:
    app = on_page("pages/attention/page.py", model="reverse", source="a b", target="x&y", kind="decoder")
    assert {*links(app)} == {"training?model=reverse&source=a+b&target=x%26y&kind=decoder&layer=1&head=1"}
