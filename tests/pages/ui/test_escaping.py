"""Typed text in the page's own sentences is never markup, never reorders the sentence, and is never invisible or too long."""

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import BrowserContext, Page

from pages.ui.escaping import TEXT, TOKEN, WORD, filled, literal, quoted, quoted_token
from tests.pages.apps import on_page, shown, shown_errors
from tests.pages.visitor import Visitor, serving
from transformer.text.tokenizer import unseen

HEBREW, OVERRIDE, ZERO_WIDTH = "שלום", "\u202e", "\u200b"
# Texts that Streamlit's Markdown would turn into links, icons, emoji, a logo, arrows, formulas, code or other markup.
NASTY = (
    "http://y.com/a_b_c",
    "HTTPS://y.com and www.y.com",
    "mail d@e.example, or mailto:d@e.example",
    ":smile: :+1: :streamlit: :material/home: :material/home",
    "a -> b <- c <-> d -- e >= f <= g ~= h",
    "@-> <->= --> <-- ---",
    "**a** _b_ ~~c~~ `d` $e$ $$f$$ # g",
    "[a](http://b.c) ![d](e) [f]: g [^1] <i>h</i> &amp; &#65;",
    ':red[a] :color[b]{foreground="red"} :help[c] :small[d] ::e',
    "1. a - b + c | d | e \\\\ f \\* g",
    "shown_errors: 12:30, x => y, python -m a.b --world x",
    f"the {HEBREW} http://y.com",
)
SCRIPT = """
import sys
import streamlit as st
from pages.ui.escaping import quoted

st.title("Texts")
for text in NASTY:
    st.markdown(f"**{quoted(text)}** → *{quoted(text)}*.")
    st.caption(f"“{quoted(text)}”")
    st.warning(quoted(text))
    st.button(quoted(text), key=text)
"""


@pytest.mark.parametrize("text", NASTY)
def test_literal_adds_no_invisible_characters(text: str) -> None:
    assert shown(literal(text)) == text.replace("\\", "")
    assert not [sign for sign in "".join(literal(text).split()) if unseen(sign)]


def test_only_right_to_left_letters_are_isolated_in_a_span() -> None:
    assert literal("the cat, a query") == "the cat, a query"
    assert literal("<sos>") == r"\<sos\>"
    assert literal(f"a {HEBREW}") == f":color[a {HEBREW}]"
    for command in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069":
        assert literal(f"a{command}b") == "ab"
        assert literal(f"{HEBREW}{command}") == f":color[{HEBREW}]"


def test_filled_escapes_the_template_but_not_its_values() -> None:
    assert filled("<unk> is {token}.", token="*a*") == r"\<unk\> is *a*\."


@pytest.mark.slow
@pytest.mark.browser
def test_typed_text_is_shown_and_copied_unchanged(known: BrowserContext, tmp_path: Path) -> None:
    script = tmp_path / "texts.py"
    script.write_text(f"NASTY = {NASTY!r}\n{SCRIPT}")
    with serving(script) as address:
        visitor = Visitor(known, address)
        page = visitor.open()
        containers = '[data-testid="stMarkdownContainer"]'
        read = page.locator(f"{containers} :is(strong, em)").all_text_contents()
        assert read == [text for text in NASTY for _ in range(2)]
        assert page.get_by_test_id("stCaptionContainer").all_text_contents() == [f"“{text}”" for text in NASTY]
        assert page.get_by_test_id("stAlertContentWarning").all_text_contents() == list(NASTY)
        assert page.get_by_test_id("stButton").all_text_contents() == list(NASTY)
        markup = "a, img, code, del, [role=img], .katex, i, span[class], span[style]"
        assert page.locator(f"{containers} p :is({markup})").count() == 0
        visitor.close()
        assert visitor.complaints == []


@pytest.mark.parametrize(
    ("token", "named"),
    [
        (ZERO_WIDTH, "U+200B (invisible)"),
        ("\u200d", "U+200D (invisible)"),
        ("\x00", "U+0000 (invisible)"),
        (OVERRIDE, "U+202E (invisible)"),
        ("\u3164", "U+3164 (invisible)"),
        ("\U000e0041", "U+E0041 (invisible)"),
        ("a\u200bb", "aU+200Bb"),
        ("\u0301", "\u25cc\u0301"),
        ("é", "é"),
        ("x" * 500, "x" * (TOKEN - 1) + "…"),
    ],
)
def test_quoted_token_shows_invisible_characters_by_number(token: str, named: str) -> None:
    assert shown(quoted_token(token)) == named


def test_quoted_cuts_only_long_words_and_texts() -> None:
    sentence = "the animal did not cross the street because it was too tired"
    assert quoted(f"  {sentence}\n ") == sentence
    assert quoted("x" * WORD) == "x" * WORD
    assert quoted(f"a {'x' * 3000} b") == f"a {'x' * (WORD - 1)}… b"
    assert len(quoted("word " * 1000)) == TEXT
    assert quoted("") == ""
    assert quoted(OVERRIDE + ZERO_WIDTH) == "U\\+202E U\\+200B"


@pytest.mark.slow
@pytest.mark.parametrize("model", ["english-french", "vanilla"])
def test_warnings_and_answers_quote_long_texts_in_part(model: str) -> None:
    app = on_page("pages/attention/page.py", model=model, source="a" * 1000, target="b" * 1000)
    assert not shown_errors(app)
    # Without the addresses of links, which contain the whole text and are not shown.
    shown = [re.sub(r"\]\([^)]*\)", "]", element.value) for element in (*app.warning, *app.main.markdown, *app.main.caption)]
    quotes = [value for value in shown if "aaaa" in value or "bbbb" in value]
    assert len(quotes) == (4 if model == "english-french" else 2)  # an untrained model has no unknown words, so no warnings
    for value in quotes:
        assert "…" in value
        assert "a" * WORD not in value
        assert "b" * WORD not in value


def order(page: Page, letters: str) -> list[str]:
    """The page's own words in their order on the screen, from left to right, in the line that contains all of them."""
    return page.evaluate(
        """(words) => {
            const all = [...document.querySelectorAll('[data-testid="stMarkdownContainer"] p')];
            const line = all.find((each) => words.every((word) => each.textContent.includes(word)));
            const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
            const found = [];
            for (let node = walker.nextNode(); node; node = walker.nextNode())
                for (const word of words) {
                    const at = node.textContent.indexOf(word);
                    if (at < 0) continue;
                    const range = document.createRange();
                    range.setStart(node, at);
                    range.setEnd(node, at + 1);
                    const first = range.getBoundingClientRect();
                    range.setStart(node, at + word.length - 1);
                    range.setEnd(node, at + word.length);
                    found.push([word, first.left, range.getBoundingClientRect().left, first.top]);
                }
            found.sort((a, b) => a[3] - b[3] || a[1] - b[1]);
            return found.map(([word, first, last]) => (last > first ? word : `${word} mirrored`));
        }""",
        letters.split("|"),
    )


@pytest.mark.slow
@pytest.mark.browser
def test_typed_icons_and_text_direction_do_not_affect_the_page(visitor: Visitor) -> None:
    page = visitor.open(f"masks?model=english-french&source={quote('the :material/home: :streamlit: -> cat')}")
    answer = page.locator("strong", has_text="cat").first
    assert answer.inner_text() == "the :material/home: :streamlit: -> cat"
    assert answer.locator("img, [role=img]").count() == 0
    page = visitor.open(f"masks?model=english-french&source={quote(f'the {OVERRIDE}cat sleeps .')}")
    assert page.locator(".st-key-notes").count() == 0  # the model reads the text without the character
    assert page.locator("strong", has_text="cat").first.inner_text() == "the cat sleeps ."
    for typed in (f"{HEBREW} the", f"the {HEBREW}"):
        page = visitor.open(f"attention?model=english-french&source={quote(typed)}")
        page.locator(".st-key-notes button").first.click()
        page.get_by_text("The source has").first.wait_for()
        assert order(page, "The source has|which this model|reads it as") == [
            "The source has",
            "which this model",
            "reads it as",
        ]
        warned = page.get_by_test_id("stPopoverBody").inner_text()
        assert not [sign for sign in warned.replace("\n", "") if unseen(sign) and not sign.isspace()]
        assert page.evaluate("() => document.body.innerText.includes('→')")
