"""The text B that the page takes if nobody chose one."""

import pytest

from pages.patching.two_runs_to_patch import second_text
from pages.shell.view.view import View


@pytest.mark.parametrize(
    ("model", "source", "other"),
    [
        ("english-french", "it was too tired", "it was too wide"),
        ("everyday", "My keys are here.", "My books are here."),
        ("reverse", "abz", "aba"),
        ("addition", "12+39=", "12+30="),
    ],
)
def test_one_part_of_the_text_is_replaced(model: str, source: str, other: str) -> None:
    asked = second_text(View(model, (source,), (None,), model))
    assert asked is not None
    assert asked.source == other
    assert asked._replace(source="") == type(asked)()


def test_a_text_without_a_known_word_has_no_partner() -> None:
    assert second_text(View("english-french", ("hello",), (None,), "english-french")) is None
