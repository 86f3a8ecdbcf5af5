"""The tour: its pages in order, each with links to the previous and next stop."""

from benchmarks.app_server import ROOT
from pages.shell.frame.navigation import name_of, page_files, tour
from pages.ui.text import text
from tests.pages.apps import on_page

SHIPPED = ["home", "tokens", "positions", "masks", "attention", "layers", "patching"]


def test_each_stop_links_to_the_stops_before_and_after() -> None:
    stops = tour()
    assert [name_of(stop) for stop in stops if name_of(stop) in SHIPPED] == SHIPPED
    for index, stop in enumerate(stops):
        app = on_page(str(stop.relative_to(ROOT)), model="own-sizes")
        assert f"Stop {index + 1} of {len(stops)}" in [caption.value for caption in app.main.caption]
        labels = [link.proto.label for link in app.main.get("page_link")][-2:]
        if index > 0:
            assert labels[0] == text(name_of(stops[index - 1]))["title"]
        onward = stops[index + 1] if index + 1 < len(stops) else stops[0]
        assert labels[-1].endswith(text(name_of(onward))["title"])


def test_the_tour_has_the_order_of_the_navigation() -> None:
    assert tour() == tuple(page for page in page_files() if page in tour())


def test_page_without_a_tour_place_is_not_a_stop() -> None:
    (lessons,) = (page for page in page_files() if name_of(page) == "lessons")
    assert "tour_place" not in text("lessons")
    assert lessons not in tour()
    app = on_page(str(lessons.relative_to(ROOT)))
    assert not [caption for caption in app.main.caption if caption.value.startswith("Stop ")]
