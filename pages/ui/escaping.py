"""Put typed text into the page's sentences: shown as typed, never rendered as markup, copied without added characters."""

import re
import string
import unicodedata
from collections.abc import Collection, Sequence

from pages.ui.text import text
from transformer.errors import cut
from transformer.text.tokenizer import unseen

# Most characters quoted of one word, of one text, and of an unknown token.
WORD, TEXT, TOKEN = 100, 400, 40
MARKUP = set("\\`*_{}[]()#+-.!|<>~$:&^=")
# Streamlit replaces these patterns after it has parsed Markdown and removed the backslashes: `http://`, `www.` and `a@b` become
# links, `:smile:` and `:material/home:` pictures, `->` an arrow. It searches each text node separately, so a separate node for
# each of these characters prevents a match.
APART = re.compile(r":(?=[\w+-])|(?<=:)/(?=/)|(?<=www)\.|@|(?<=[<-])-|(?<=-)>|(?<=[<>~])=", re.IGNORECASE)
# Directional control characters. Each sets the direction of all text after it, even of the page's own words.
DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")
DOTTED_CIRCLE = "\u25cc"


def literal(text: str) -> str:
    """Markdown that shows a text as typed, without characters that control the writing direction. Right-to-left letters do not
    reorder the text around them."""
    text = encodable(DIRECTIONS.sub("", text))
    turns = any(unicodedata.bidirectional(sign) in ("R", "AL", "AN") for sign in text)
    return span(escaped(text)) if turns else escaped(text)


def encodable(text: str) -> str:
    """A text that can be sent as UTF-8. A byte of a file's name that is not UTF-8 becomes an escape: `\\udcff`."""
    return text.encode(errors="backslashreplace").decode()


def quoted(text: str) -> str:
    """Markdown (`literal`) that quotes a typed text, or a model's answer, in a sentence of the page. A long text is shortened.
    An invisible text is written as the Unicode numbers of its characters."""
    text = cut(" ".join(cut(word, WORD) for word in text.split()), TEXT)
    return literal(" ".join(map(code, text)) if unseen(text) else text)


def quoted_token(token: str) -> str:
    """Markdown that quotes a token in a sentence of the page, shortened if it is too long. Invisible characters are written as
    their Unicode numbers."""
    parts = [code(sign) if unseen(sign) else sign for sign in cut(token, TOKEN)]
    if unseen(token):
        return escaped(text("common")["invisible"].format(code=" ".join(parts)))
    # A combining accent without a letter would be drawn on the quotation mark before it.
    return literal(DOTTED_CIRCLE * bool(unicodedata.combining(parts[0][0])) + "".join(parts))


def quoted_tokens(tokens: Sequence[str], bold: Collection[int] = ()) -> str:
    """Tokens as Markdown in one line. The tokens at the positions `bold` are bold."""
    return " · ".join(f"**{literal(token)}**" if at in bold else literal(token) for at, token in enumerate(tokens))


def code(sign: str) -> str:
    """The Unicode number of a character: `U+200B`."""
    return f"U+{ord(sign):04X}"


def filled(template: str, **values: str) -> str:
    """A plain-text template as escaped Markdown. Each `{name}` is replaced by the value of that name, already Markdown."""
    parts = string.Formatter().parse(template)
    return "".join(escaped(words) + (values[name] if name else "") for words, name, _, _ in parts)


def escaped(text: str) -> str:
    """A text escaped for Streamlit's Markdown, which then makes no markup, link, icon or arrow from it."""
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
