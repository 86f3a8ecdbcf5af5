"""A person's text inside the page's own sentences: shown as typed, never read as markup, copied with nothing added."""

import re
import string
import unicodedata

from transformer.errors import cut
from transformer.text.tokenizer import unseen

# Characters that a sentence of the page quotes of one word, of one text, and of a token that is not known.
WORD, TEXT, TOKEN = 100, 400, 40
MARKUP = set("\\`*_{}[]()#+-.!|<>~$:&^=")
# Streamlit looks for these once Markdown has been read and its backslashes are gone: `http://`, `www.` and `a@b` become links,
# `:smile:` and `:material/home:` pictures, `->` an arrow. It looks in one piece of text at a time, so each of these characters
# stands in a piece of its own.
APART = re.compile(r":(?=[\w+-])|(?<=:)/(?=/)|(?<=www)\.|@|(?<=[<-])-|(?<=-)>|(?<=[<>~])=", re.IGNORECASE)
# From one of these on, all text runs in the direction it says, the page's own words after it, too.
DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")
DOTTED_CIRCLE = "\u25cc"


def literal(text: str) -> str:
    """A text as Markdown that shows it as it is. Letters that run from right to left do not turn what stands around them."""
    text = DIRECTIONS.sub("", text)
    turns = any(unicodedata.bidirectional(sign) in ("R", "AL", "AN") for sign in text)
    return span(escaped(text)) if turns else escaped(text)


def quoted(text: str) -> str:
    """A person's text, or an answer to it, as a sentence of the page quotes it: `literal`, what is too long cut."""
    text = cut(" ".join(cut(word, WORD) for word in text.split()), TEXT)
    return literal(" ".join(map(code, text)) if unseen(text) else text)


def quoted_token(token: str, invisible: str) -> str:
    """A token as a sentence of the page names it: `literal`, not too long, and by its code where nothing would be seen.

    Args:
        token: what was typed.
        invisible: how to name what cannot be seen; `{code}` stands for it.
    """
    parts = [code(sign) if unseen(sign) else sign for sign in cut(token, TOKEN)]
    if unseen(token):
        return escaped(invisible.format(code=" ".join(parts)))
    # An accent by itself would be drawn on the page's own quotation mark.
    return literal(DOTTED_CIRCLE * bool(unicodedata.combining(parts[0][0])) + "".join(parts))


def code(sign: str) -> str:
    """The number of a character in Unicode: `U+200B`."""
    return f"U+{ord(sign):04X}"


def filled(template: str, **values: str) -> str:
    """A sentence that has no Markdown of its own, with values that are Markdown already in its `{places}`."""
    parts = string.Formatter().parse(template)
    return "".join(escaped(words) + (values[name] if name else "") for words, name, _, _ in parts)


def escaped(text: str) -> str:
    """A text with nothing in it that Streamlit's Markdown would read as markup, a link, an icon or an arrow."""
    parts, end = [], 0
    for match in APART.finditer(text):
        parts += [_backslashed(text[end : match.start()]), span(_backslashed(match[0]))]
        end = match.end()
    return "".join([*parts, _backslashed(text[end:])])


def span(markdown: str) -> str:
    """Markdown in a `<span>` without a style: Streamlit's directive for a colour, without a colour. Its direction is set apart
    from that of the text around it in `app.css`."""
    return f":color[{markdown}]"


def _backslashed(text: str) -> str:
    return "".join(f"\\{sign}" if sign in MARKUP else sign for sign in text)
