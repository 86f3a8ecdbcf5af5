"""Predictions in an address are written and read back, and invalid addresses are read without an error."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pages.ui.marking import cells_sent
from pages.ui.prediction_codec import Prediction, read, written

CELLS = st.sets(st.integers(0, 2000), max_size=40).map(lambda cells: tuple(sorted(cells)))
ANSWERS = st.one_of(st.tuples(CELLS), st.tuples(CELLS, CELLS))
PREDICTIONS = st.builds(Prediction, ANSWERS, st.none() | st.integers(0, 9999), st.booleans())


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.dictionaries(st.sampled_from(("attention", "map", "mask", "next")), PREDICTIONS))
def test_read_is_the_inverse_of_written(predictions: dict[str, Prediction]) -> None:
    assert read(written(predictions)) == predictions


def test_an_address_is_compact() -> None:
    assert written({"attention": Prediction()}) == "attention:"
    twice = Prediction(((3, 5, 6, 7, 8), (3, 4)), 7, True)
    assert written({"attention": twice, "silence": Prediction(((1,),))}) == "attention.7:3.5-8~3.4~shown,silence:1"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", {}),
        ("attention", {}),
        ("attention.x:3", {}),
        ("Attention:3", {}),
        ("attention.12345:3", {}),
        ("attention:x", {"attention": Prediction()}),
        ("attention.4:3.x~shown", {"attention": Prediction(place=4)}),
        ("attention:1~2~3", {"attention": Prediction()}),
        ("attention:8-3", {"attention": Prediction()}),
        ("attention:0-999999", {"attention": Prediction()}),
        ("attention:٣", {"attention": Prediction()}),
        ("attention:5.3.3", {"attention": Prediction(((3, 5),))}),
        ("attention:~shown", {"attention": Prediction(shown=True)}),
        (",".join(f"{chr(97 + index)}:" for index in range(20)), {chr(97 + index): Prediction() for index in range(8)}),
    ],
)
def test_a_question_with_an_invalid_answer_has_no_answers_and_an_invalid_question_is_left_out(
    value: str, expected: dict[str, Prediction]
) -> None:
    assert read(value) == expected


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_without_an_error(value: str) -> None:
    predictions = read(value)
    assert read(written(predictions)) == predictions


def test_cells_and_places_that_do_not_exist_are_left_out() -> None:
    assert Prediction(((0, 3, 9), (4,)), 5).within(4, 5) == Prediction(((0, 3), ()))
    assert Prediction(((3,),), 4).within(4, 5) == Prediction(((3,),), 4)


@pytest.mark.parametrize("sent", [None, "3", {"3": 1}, [True], [1.0], [-1], [9], ["1"], [2], [0] * 10_001])
def test_invalid_cells_from_a_browser_are_ignored(sent: object) -> None:
    assert cells_sent(sent, 9, frozenset({2})) is None


def test_cells_from_a_browser_are_sorted() -> None:
    assert cells_sent([5, 1, 5], 9) == (1, 5)
    assert cells_sent([], 9) == ()
