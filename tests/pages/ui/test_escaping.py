"""What a person typed, in the page's own sentences: not obeyed, not in their way, not unseen, not endless."""

from urllib.parse import quote

import pytest
from playwright.sync_api import Page

from pages.ui.escaping import FIRST_STRONG_ISOLATE, TEXT, TOKEN, WORD, WORD_JOINER, literal, quoted, quoted_token
from pages.ui.text import text
from tests.pages.apps import on_page, said
from tests.pages.conftest import Visitor

HEBREW, OVERRIDE, ZERO_WIDTH = "שלום", "\u202e", "\u200b"
INVISIBLE = text("common")["invisible"]
# What Streamlit's Markdown makes of a text after the backslashes are gone: icons, emoji, a logo, signs that stand for others.
CODES = [":material/home:", ":smile:", ":+1:", ":streamlit:", "a -> b", "<-", "<->", "x -- y", ">= <= ~=", "http://a.b"]


@pytest.mark.parametrize("code", CODES)
def test_a_code_is_broken_by_a_sign_that_nobody_sees(code: str) -> None:
    shown = literal(code).replace("\\", "")
    assert WORD_JOINER in shown
    assert shown.replace(WORD_JOINER, "") == code


@pytest.mark.parametrize("plain", ["a: b", "12:30", "python -m a.b --world x", "a-b", "x => y", "::", "said:"])
def test_what_is_no_code_can_be_copied_as_it_is(plain: str) -> None:
    assert literal(plain).replace("\\", "") == plain


def test_only_letters_that_run_from_right_to_left_are_set_apart() -> None:
    assert literal("the cat") == "the cat"
    assert literal(f"a {HEBREW}") == f"\u2068a {HEBREW}\u2069"
    for command in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069":
        assert literal(f"a{command}b") == "ab"
        # An isolate that is ended by the text itself would set nothing apart.
        assert literal(f"{HEBREW}{command}") == f"\u2068{HEBREW}\u2069"


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
def test_a_token_is_named_so_that_it_is_seen(token: str, named: str) -> None:
    assert quoted_token(token, INVISIBLE) == named


def test_what_is_long_is_quoted_in_part_and_what_is_not_wholly() -> None:
    sentence = "the animal did not cross the street because it was too tired"
    assert quoted(f"  {sentence}\n ") == sentence
    assert quoted("x" * WORD) == "x" * WORD
    assert quoted(f"a {'x' * 3000} b") == f"a {'x' * (WORD - 1)}… b"
    assert len(quoted("word " * 1000)) == TEXT
    assert quoted("") == ""
    assert quoted(OVERRIDE + ZERO_WIDTH) == "U\\+202E U\\+200B"


@pytest.mark.parametrize("model", ["english-french", "vanilla"])
def test_the_warning_and_the_answer_line_stay_short(model: str) -> None:
    app = on_page("pages/attention/page.py", model=model, source="a" * 1000, target="b" * 1000)
    assert not said(app)
    shown = [element.value for element in (*app.warning, *app.main.markdown, *app.main.caption)]
    quotes = [value for value in shown if "aaaa" in value or "bbbb" in value]
    assert len(quotes) == (4 if model == "english-french" else 2)  # one that is not trained knows every word
    for value in quotes:
        assert "…" in value
        assert "a" * WORD not in value
        assert "b" * WORD not in value


def order(page: Page, letters: str) -> list[str]:
    """Words of the page's own, in the order in which they stand on the screen, from left to right, in the line that has them
    all."""
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


@pytest.mark.browser
def test_an_icon_is_not_drawn_and_the_pages_own_words_are_not_turned(visitor: Visitor) -> None:
    page = visitor.open(f"attention?model=english-french&source={quote('the :material/home: :streamlit: -> cat')}")
    answer = page.locator("strong", has_text="cat").first
    assert answer.inner_text().replace(WORD_JOINER, "") == "the :material/home: :streamlit: -> cat"
    assert answer.locator("img, span").count() == 0
    for typed in (f"the {OVERRIDE}cat", f"{HEBREW} the", f"the {HEBREW}"):
        page = visitor.open(f"attention?model=english-french&source={quote(typed)}")
        assert order(page, "The source has|which this model|reads it as") == [
            "The source has",
            "which this model",
            "reads it as",
        ]
        warned = page.get_by_role("alert").first.inner_text()
        assert ("“U+202E (invisible)”" in warned) == (OVERRIDE in typed)
        assert (FIRST_STRONG_ISOLATE in warned) == (HEBREW in typed)
        assert page.evaluate("() => document.body.innerText.includes('→')")
