"""Numbers in links."""

import pytest

from pages.ui.pickers import linked_whole


@pytest.mark.parametrize(
    ("asked", "number"),
    [("4", 4), ("1200", 1200), (None, 7), ("", 7), ("0", 7), ("-1", 7), ("1.5", 7), ("²", 7), ("True", 7), ("9" * 10, 7)],
)
def test_a_link_gives_a_whole_number_of_any_size_of_a_text(asked: str | None, number: int) -> None:
    assert linked_whole(asked, 7, 1) == number
