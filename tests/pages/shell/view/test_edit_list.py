"""The edits of the model: they stay while a person opens other pages, and end if an address without edits is opened."""

import pytest
from playwright.sync_api import expect

from tests.pages.visitor import Visitor


@pytest.mark.slow
@pytest.mark.browser
def test_edits_stay_on_other_pages_and_end_at_an_address_without_edits(visitor: Visitor) -> None:
    page = visitor.open("decoding?model=reverse&source=abc&edits=no+positions")
    edit = page.get_by_role("button", name="Remove no positions")

    def arrive(title: str) -> None:
        page.get_by_role("heading", name=title, level=1).wait_for()
        visitor.settle()

    def go(title: str) -> None:
        page.get_by_test_id("stSidebarNav").get_by_text(title, exact=True).click()
        arrive(title)

    expect(edit).to_have_count(1)
    go("Masks")
    go("Watch it write")
    expect(edit).to_have_count(1)
    page.go_back()  # to the address of Masks, which has no edits and whose page has no list of them
    arrive("Masks")
    go("Watch it write")
    expect(edit).to_have_count(0)
    page.go_back()
    arrive("Masks")
    page.go_back()
    arrive("Watch it write")
    expect(edit).to_have_count(1)
