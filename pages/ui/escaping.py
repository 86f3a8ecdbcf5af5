"""Typed text inside the page's own sentences: shown as typed, never rendered as markup, copied with nothing added."""

import re
import string
import unicodedata

from pages.ui.terms import named_in
from transformer.errors import cut
from transformer.text.tokenizer import unseen

# Most characters quoted of one word, of one text, and of an unknown token.
WORD, TEXT, TOKEN = 100, 400, 40
MARKUP = set("\\`*_{}[]()#+-.!|<>~$:&^=")
# Streamlit replaces these after Markdown is parsed and its backslashes are gone: `http://`, `www.` and `a@b` become links,
# `:smile:` and `:material/home:` pictures, `->` an arrow. It searches each text node alone, so putting these characters into
# nodes of their own prevents a match.
APART = re.compile(r":(?=[\w+-])|(?<=:)/(?=/)|(?<=www)\.|@|(?<=[<-])-|(?<=-)>|(?<=[<>~])=", re.IGNORECASE)
# Directional control characters: each sets the direction of all text after it, even of the page's own words.
DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")
DOTTED_CIRCLE = "\u25cc"


def literal(text: str) -> str:
    """A text as Markdown that shows it unchanged. Right-to-left letters do not reorder the text around them, and no word of it
    is explained as a term of the glossary (`terms.js`)."""
    text = DIRECTIONS.sub("", text)
    turns = any(unicodedata.bidirectional(sign) in ("R", "AL", "AN") for sign in text)
    return span(escaped(text)) if turns or named_in(text) else escaped(text)


def quoted(text: str) -> str:
    """A typed text, or an answer, to quote in a sentence of the page: `literal`, shortened if too long."""
    text = cut(" ".join(cut(word, WORD) for word in text.split()), TEXT)
    return literal(" ".join(map(code, text)) if unseen(text) else text)


def quoted_token(token: str, invisible: str) -> str:
    """A token to quote in a sentence of the page: `literal`, shortened if too long, by its Unicode number if invisible.

    Args:
        token: the token as typed.
        invisible: a template for an invisible token; `{code}` is its number.
    """
    parts = [code(sign) if unseen(sign) else sign for sign in cut(token, TOKEN)]
    if unseen(token):
        return escaped(invisible.format(code=" ".join(parts)))
    # A combining accent without a letter would be drawn on the quotation mark before it.
    return literal(DOTTED_CIRCLE * bool(unicodedata.combining(parts[0][0])) + "".join(parts))


def code(sign: str) -> str:
    """The Unicode number of a character: `U+200B`."""
    return f"U+{ord(sign):04X}"


def filled(template: str, **values: str) -> str:
    """A template of plain text, escaped, with values in its `{places}` that are Markdown already."""
    parts = string.Formatter().parse(template)
    return "".join(escaped(words) + (values[name] if name else "") for words, name, _, _ in parts)


def escaped(text: str) -> str:
    """A text escaped for Streamlit's Markdown: no markup, link, icon or arrow is made of it."""
    parts, end = [], 0
    for match in APART.finditer(text):
        parts += [_backslashed(text[end : match.start()]), span(_backslashed(match[0]))]
        end = match.end()
    return "".join([*parts, _backslashed(text[end:])])


def span(markdown: str) -> str:
    """Markdown in a `<span>` without a style: Streamlit's directive for a colour, without a colour. `app.css` isolates its text
    direction."""
    return f":color[{markdown}]"


def _backslashed(text: str) -> str:
    return "".join(f"\\{sign}" if sign in MARKUP else sign for sign in text)
