"""The requests that the app's server answers itself."""

from urllib.parse import parse_qsl, urlsplit

import pytest

from pages.shell.server.requests import turned_address
from pages.shell.view.card_heads import card_head
from tests.pages.visitor import Visitor
from transformer.tasks import find_task

TIRED, WIDE = (example.source for example in find_task("english-french").examples[:2])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (b"", {"source": TIRED, "b": WIDE}),
        (b"sentence_b=the+cat&predict=silencea:&lesson=own", {"source": TIRED, "b": "the cat", "lesson": "own"}),
        (b"model=reverse&source=abc&b=d&%ff=%0d%0aX", {"source": TIRED, "b": WIDE, "\ufffd": "\r\nX"}),
    ],
)
def test_a_link_to_the_former_page_names_its_sentences_and_the_head_of_the_card(query: bytes, expected: dict[str, str]) -> None:
    address = urlsplit(turned_address(query))
    head = {name: str(value) for name, value in card_head("english-french", "turning")._asdict().items()}
    assert address.path == "attention"
    assert dict(parse_qsl(address.query)) == {"model": "english-french", **head, **expected}


@pytest.mark.browser
def test_a_link_to_the_former_page_opens_the_comparison(visitor: Visitor) -> None:
    page = visitor.open("turning?model=reverse#overview")
    page.get_by_role("heading", name="Attention", level=1).wait_for()
    page.locator(".st-key-two-runs").wait_for()
    assert page.get_by_label("Source text", exact=True).input_value() == TIRED
