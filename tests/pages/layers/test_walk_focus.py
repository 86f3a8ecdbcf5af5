"""The play button used by the keyboard: it keeps the focus while the walk plays, while it is paused, and at the end."""

import pytest
from playwright.sync_api import expect

from tests.pages.visitor import Walker

pytestmark = pytest.mark.browser


@pytest.mark.slow
@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_the_same_key_plays_pauses_and_plays_again(walker: Walker, key: str) -> None:
    page = walker.at("model=reverse&source=abcd&speed=1&stop=source_mask").page
    button = page.locator(".st-key-walk_play button")
    button.focus()
    page.keyboard.press(key)
    for path in ("source_embedding.token", "source_embedding.scaled", "source_embedding.position"):
        walker.is_at(path)
        expect(button).to_be_focused()
        expect(button).to_contain_text("Pause")
    assert walker.timers  # the steps before were asked for by the browser itself
    page.keyboard.press(key)
    expect(button).to_contain_text("Play")
    expect(button).to_be_focused()
    walker.settle()
    assert not walker.plays
    page.keyboard.press(key)
    expect(button).to_contain_text("Pause")


@pytest.mark.slow
def test_the_button_keeps_the_focus_at_the_end_and_plays_again(walker: Walker) -> None:
    page = walker.at("model=reverse&source=abcd&speed=0.5&stop=logits").page
    button = page.locator(".st-key-walk_play button")
    button.focus()
    page.keyboard.press("Enter")
    walker.is_at("probabilities")
    expect(button).to_contain_text("Play again")
    walker.settle()
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    expect(button).to_contain_text("Pause")
    walker.page.wait_for_function("() => !location.search.includes('probabilities')")  # it plays on
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
