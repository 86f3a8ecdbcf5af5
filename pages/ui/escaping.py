"""A person's text inside the page's own sentences: nothing in it is obeyed, nothing reaches beyond it, nothing is unseen."""

import re
import unicodedata

from transformer.errors import cut
from transformer.text.tokenizer import unseen

# Characters that a sentence of the page quotes of one word and of one text, and of a token that is not known.
WORD, TEXT, TOKEN = 100, 400, 40
# Where a sign of no width goes, as these are looked for in the text that is left when Markdown has been read, so that no
# backslash is in their way: an address; `:material/home:` and `:smile:`; a sign that stands for another, such as `->`.
ADDRESS = re.compile(r"(?<=://)|(?<=www)(?=\.)|(?<=@)", re.IGNORECASE)
ICON = re.compile(r"(?<=:)(?=[\w+-][^\s:]*:)")
ARROW = re.compile(r"(?<!\S)(?:<->|->|<-|--|>=|<=|~=)(?!\S)")
WORD_JOINER = "\u2060"
# From one of these on, all that follows runs the way it says, whatever its letters: the page's words after it, too.
DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")
FIRST_STRONG_ISOLATE, END_OF_ISOLATE = "\u2068", "\u2069"
DOTTED_CIRCLE = "\u25cc"


def literal(said: str) -> str:
    """A text with nothing in it that Streamlit's Markdown would read as markup or as an icon, and none of whose letters, if
    they run from right to left, turns what stands around it."""
    return escaped(isolated(said))


def quoted(said: str) -> str:
    """A person's text, or an answer to it, as a sentence of the page quotes it: `literal`, what is too long cut."""
    said = cut(" ".join(cut(word, WORD) for word in said.split()), TEXT)
    return literal(" ".join(map(code, said)) if unseen(said) else said)


def quoted_token(token: str, invisible: str) -> str:
    """A token as a sentence that has yet to be `escaped` names it: not too long, and by its code where nothing would be seen.

    Args:
        token: what was typed.
        invisible: how to name what cannot be seen; `{code}` stands for it.
    """
    parts = [code(sign) if unseen(sign) else sign for sign in cut(token, TOKEN)]
    if unseen(token):
        return invisible.format(code=" ".join(parts))
    # An accent by itself would be drawn on the page's own quotation mark.
    return isolated(DOTTED_CIRCLE * bool(unicodedata.combining(parts[0][0])) + "".join(parts))


def code(sign: str) -> str:
    """What Unicode numbers a character by: `U+200B`."""
    return f"U+{ord(sign):04X}"


def isolated(said: str) -> str:
    """A text without commands to run the other way, and apart from its surroundings where its letters do so by themselves."""
    said = DIRECTIONS.sub("", said)
    turns = any(unicodedata.bidirectional(sign) in ("R", "AL", "AN") for sign in said)
    return f"{FIRST_STRONG_ISOLATE}{said}{END_OF_ISOLATE}" if turns else said


def escaped(said: str) -> str:
    """A text with nothing in it that Streamlit's Markdown would read as markup or as an icon."""
    said = ARROW.sub(lambda found: WORD_JOINER.join(found[0]), said)
    for between in (ADDRESS, ICON):
        said = between.sub(WORD_JOINER, said)
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]()#+-.!|<>~$:&^=" else sign for sign in said)
