"""The tour: the pages in their order, each with its way on."""

import pytest

from pages.shell import navigation as pages
from pages.shell.navigation import page_files, tour
from pages.ui.text import text
from tests.pages.apps import on_page
from tests.pages.conftest import ROOT


def test_the_tour_goes_through_the_pages_that_are_there_in_order() -> None:
    stops = tour()
    assert [stop.parent.name for stop in stops] == [
        name for name in pages.TOUR if name in {file.parent.name for file in page_files()}
    ]
    for at, stop in enumerate(stops):
        app = on_page(str(stop.relative_to(ROOT)), model="own-sizes")
        assert f"Stop {at + 1} of {len(stops)}" in [caption.value for caption in app.main.caption]
        labels = [link.proto.label for link in app.main.get("page_link")][-2:]
        if at > 0:
            assert labels[0] == text(stops[at - 1].parent.name)["title"]
        onward = stops[at + 1] if at + 1 < len(stops) else stops[0]
        assert labels[-1].endswith(text(onward.parent.name)["title"])


def test_a_page_that_is_not_there_yet_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "TOUR", ("home", "nowhere", "attention"))
    assert [stop.parent.name for stop in tour()] == ["home", "attention"]
