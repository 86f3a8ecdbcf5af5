"""The row beside the text box: a note about the text takes the place of what the box may hold, and pushes nothing down."""

import pytest

from pages.ui.limits import TEXT_CHARACTERS
from tests.pages.apps import notes, on_page
from tests.pages.visitor import Visitor

# The app draws the row above every page; of these, one reads a run and one the texts alone. Texts that give a note: an unknown
# word, nothing to read.
PAGES = ("", "tokens", "attention")
NOTED = {"the zorglub is big": "“zorglub” is unknown to this model", " ": "There is nothing to read in your text"}
TOP = """() => Math.min(...[...document.querySelectorAll(
    '.stMain .st-key-page_place :is(h2, h3, .js-plotly-plot, canvas, [data-testid="stButtonGroup"])')]
    .filter((each) => each.getClientRects().length).map((each) => Math.round(each.getBoundingClientRect().top)))"""


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("page", PAGES)
def test_a_note_does_not_move_the_page(visitor: Visitor, page: str) -> None:
    """On a phone, the answer to the last text that could be read may take one line more, since it names that text."""
    opened = visitor.open(page)
    box = opened.locator(".st-key-source textarea")
    for (width, height), line in {(1280, 720): 0, (390, 844): 24}.items():
        opened.set_viewport_size({"width": width, "height": height})
        box.fill("the cat is big")
        box.press("Enter")
        visitor.settle()
        assert opened.locator(".st-key-notes").count() == 0
        top = opened.evaluate(TOP)
        for source, says in NOTED.items():
            box.fill(source)
            box.press("Enter")
            visitor.settle()
            note = opened.locator(".st-key-notes button").first
            note.get_by_text(says).wait_for()
            assert note.evaluate("(button) => button.offsetHeight") < 50  # one line
            assert 0 <= opened.evaluate(TOP) - top <= line


@pytest.mark.slow
@pytest.mark.browser
def test_a_note_opens_and_the_button_beside_it_opens_the_model_that_reads_any_words(visitor: Visitor) -> None:
    page = visitor.open("attention?source=The+zorglub+is+big")
    page.locator(".st-key-notes button").first.click()
    page.get_by_text("The source has “zorglub”, which this model does not know; it reads it as <unk>.").wait_for()
    page.keyboard.press("Escape")
    page.locator(".st-key-reads_any button").click()
    page.wait_for_url("**model=everyday**")
    visitor.settle()
    assert page.locator(".st-key-notes").count() == 0
    assert page.locator(".st-key-source textarea").input_value() == "The zorglub is big"


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("model", ["english-french", "vanilla"])
@pytest.mark.parametrize(("box", "says"), [("source", "Your text has"), ("target", "Your target has")])
def test_a_text_that_is_too_long_is_refused_in_a_sentence(model: str, box: str, says: str) -> None:
    app = on_page("pages/attention/page.py", model=model)
    boxes = [*app.main.text_area, *app.sidebar.text_input]
    (typed,) = [each for each in boxes if each.key == box]
    # Streamlit drops a pasted text that is longer than `max_chars`, and says nothing.
    assert not typed.proto.max_chars
    typed.set_value("a cat " * 500).run()
    assert f"{says} 3,000 characters; this app reads up to {TEXT_CHARACTERS:,}." in " ".join(notes(app))
    assert not app.exception


def test_several_notes_are_counted_in_the_row() -> None:
    app = on_page("pages/attention/page.py", model="reverse", source="1" + "abcdefghijklmn")
    assert len(notes(app)) == 2
    labels = [block.proto.popover.label for block in app.main.get("popover")]
    assert any(label.endswith("**2 notes: “1” is unknown to this model**") for label in labels)


@pytest.mark.parametrize(("source", "offered"), [("the zorglub is big", True), ("12", False), ("cat the the .", False)])
def test_the_model_that_reads_any_words_is_offered_only_if_a_word_is_unknown(source: str, offered: bool) -> None:
    app = on_page("pages/attention/page.py", model="english-french", source=source)
    assert ("reads_any" in {button.key for button in app.button}) == offered


def test_one_click_writes_a_text_in_capitals_as_sentences() -> None:
    app = on_page("pages/attention/page.py", model="everyday", source="HELLO… WHO ARE YOU? I'M FINE AND I WAIT.")
    assert any("learned from sentences in small letters" in note for note in notes(app))
    app.button(key="write_instead").click().run()
    assert app.text_area(key="source").value == "Hello… Who are you? I'm fine and I wait."
    assert not notes(app)


@pytest.mark.parametrize(("model", "source"), [("everyday", "who is it"), ("everyday", "NASA"), ("english-french", "THE CAT")])
def test_only_several_words_in_capitals_are_offered_as_a_sentence(model: str, source: str) -> None:
    app = on_page("pages/attention/page.py", model=model, source=source)
    assert "write_instead" not in {button.key for button in app.button}
