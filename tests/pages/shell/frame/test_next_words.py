"""The chips below the text box, for a task whose grammar gives the possible next words."""

from pages.shell.frame import next_words
from tests.pages.apps import on_page, shown

HOME = "pages/home/page.py"


def test_a_click_on_a_chip_adds_the_word_to_the_text() -> None:
    app = on_page(HOME, model="english-french", source="my cat is")
    chips = app.sidebar.button_group(key=next_words.KEY)
    assert 0 < len(chips.options) <= next_words.MOST
    first = chips.options[0]
    chips.select(first).run()
    assert not app.exception
    assert app.text_area(key="source").value == f"my cat is {first}"


def test_a_model_without_a_grammar_has_no_chips() -> None:
    app = on_page(HOME, model="reverse", source="abc")
    assert not [group for group in app.sidebar.get("button_group") if group.key == next_words.KEY]
    assert next_words.next_words("reverse", "abc") == ()


def test_all_words_are_listed_on_request() -> None:
    app = on_page(HOME, model="english-french")
    assert not app.sidebar.dataframe
    app.session_state["all_words"] = True
    app.run()
    assert list(app.sidebar.dataframe[0].value["word"])[:1]


def test_the_limit_is_below_the_box() -> None:
    app = on_page(HOME, model="sort")
    assert any(
        "Trained on up to 12 characters: 1 to 12 letters from a to z." in shown(caption.value) for caption in app.main.caption
    )
