"""The maps of the Patching page, in a browser."""

import pytest
from playwright.sync_api import Locator, expect

from tests.pages.visitor import Visitor


def widths(maps: Locator) -> list[float]:
    return maps.evaluate_all("maps => maps.map((each) => each.getBoundingClientRect().width)")


@pytest.mark.slow
@pytest.mark.browser
def test_the_maps_are_redrawn_if_their_columns_turn_into_tokens_and_back(visitor: Visitor) -> None:
    page = visitor.open("patching?model=reverse&source=abc&b=abd", whole=True)
    chart = page.locator(".st-key-patch-map .chart")
    titles, maps = chart.locator(".annotation"), chart.locator(".hm image")
    of_heads = (titles.all_inner_texts(), widths(maps))
    assert len(of_heads[1]) == 3
    visitor.choose("Tokens", "each")
    expect(chart).to_have_attribute("data-state", "drawn")
    assert all(wide > 1.5 * narrow for wide, narrow in zip(widths(maps), of_heads[1], strict=True))
    page.go_back()
    visitor.settle()
    expect(chart).to_have_attribute("data-state", "drawn")
    assert titles.all_inner_texts() == of_heads[0]
    assert widths(maps) == pytest.approx(of_heads[1], abs=1)
    page.set_viewport_size({"width": 390, "height": 844})
    visitor.settle()
    expect(chart).to_have_attribute("data-state", "drawn")
    assert visitor.complaints == []
