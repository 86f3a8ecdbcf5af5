"""What the page Patching does not tell while a lesson asks about it."""

import pytest

from pages.lessons.content.lesson_answers import Answer
from pages.lessons.content.library import shipped
from pages.lessons.content.stop_views import view_of
from pages.lessons.playing.open_lesson import OPEN, OpenLesson
from pages.ui.text import text
from tests.pages.apps import charts, on_page
from tests.pages.lessons.bar import bar

NAME, WORDS = "needed-or-enough", text("patching")


@pytest.mark.slow
@pytest.mark.parametrize(("stop", "answer"), [(2, "1"), (3, "1~"), (4, "1"), (5, "2")])
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


@pytest.mark.slow
def test_the_head_of_a_stop_is_kept_while_its_pickers_are_hidden() -> None:
    """The pickers of the head are drawn at stop 4, hidden while stop 5 asks, and drawn again when it is answered."""
    before, view = (view_of(shipped()[NAME].stops[index]) for index in (3, 4))
    app = on_page("pages/patching/page.py", lesson=NAME, lesson_stop="4", answers="4~1", **before)
    assert app.session_state["head"] == int(before["head"])
    for name, value in view.items():
        app.query_params[name] = value
    app.session_state[OPEN] = OpenLesson(NAME, 4)
    assert charts(app.run()) == []
    app.session_state[OPEN] = OpenLesson(NAME, 4, {4: Answer("2")})
    assert charts(app.run())
    assert [app.session_state[name] for name in ("kind", "layer", "head")] == [
        view["kind"],
        int(view["layer"]),
        int(view["head"]),
    ]


def test_stops_whose_page_tells_the_answer_in_words_are_covered() -> None:
    assert [stop.cover for stop in shipped()[NAME].stops] == [True, False, False, False, False, True]
