"""What the page Patching does not tell while a lesson asks about it."""

import pytest

from pages.lessons.content.library import shipped
from pages.lessons.content.stop_views import view_of
from pages.ui.text import text
from tests.pages.apps import charts, on_page
from tests.pages.lessons.bar import bar

NAME, WORDS = "needed-or-enough", text("patching")


@pytest.mark.parametrize(("stop", "answer"), [(2, "1"), (3, "0.5"), (4, "0.9"), (5, "2")])
def test_no_part_of_patching_is_drawn_before_the_answer(stop: int, answer: str) -> None:
    view = view_of(shipped()[NAME].stops[stop - 1])
    target = shipped()[NAME].stops[stop - 1].place
    for part in (view["part"], "places", "need", "others", "estimate"):
        app = on_page("pages/patching/page.py", lesson=NAME, lesson_stop=str(stop), **view | {"part": part})
        assert not app.exception
        assert charts(app) == []
        assert WORDS["asked"] in [info.value for info in app.info]
        assert bar(app)["target"] == ""
    app = on_page("pages/patching/page.py", lesson=NAME, lesson_stop=str(stop), answers=f"{stop}~{answer}", **view)
    assert not app.exception
    assert target in [chart.key for chart in charts(app)]
    assert bar(app)["target"] == target
    assert bar(app)["reveal"]


def test_stops_whose_page_tells_the_answer_in_words_are_covered() -> None:
    assert [stop.cover for stop in shipped()[NAME].stops] == [True, False, False, False, False, True]
