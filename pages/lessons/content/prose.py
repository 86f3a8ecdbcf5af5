"""The words of a lesson: paragraphs and lists, with **bold**, *italic* and `code`. Everything else is shown as plain text. A
lesson can come from anybody, so it has no HTML, no links and no pictures."""

import itertools
import re
from typing import Literal, NamedTuple

from markupsafe import Markup

Style = Literal["", "strong", "em", "code"]
MARKS = re.compile(r"`(?P<code>[^`\n]+)`|\*\*(?P<strong>[^*\n]+)\*\*|\*(?P<em>[^*\s](?:[^*\n]*[^*\s])?)\*")


class Block(NamedTuple):
    """A paragraph (`p`) or an item of a list (`li`).

    Attributes:
        tag: `p` or `li`.
        runs: the words of the block, as (style, text) pairs.
    """

    tag: Literal["p", "li"]
    runs: tuple[tuple[Style, str], ...]


def prose(text: str) -> list[Block]:
    """The blocks of a text. An empty line separates blocks. A line that begins with `- ` is an item of a list."""
    blocks: list[Block] = []
    for part in re.split(r"\n\s*\n", text.strip()):
        words: list[str] = []
        for line in part.split("\n"):
            if line.startswith("- "):
                blocks += _block("p", words)
                words = []
                blocks += _block("li", [line[2:]])
            elif blocks and blocks[-1].tag == "li" and line.startswith("  ") and not words:
                blocks[-1] = Block("li", (*blocks[-1].runs, *inline(" " + line.strip())))
            else:
                words.append(line.strip())
        blocks += _block("p", words)
    return blocks


def _block(tag: Literal["p", "li"], lines: list[str]) -> list[Block]:
    text = " ".join(line for line in lines if line)
    return [Block(tag, inline(text))] if text else []


def inline(text: str) -> tuple[tuple[Style, str], ...]:
    """The words of one line, as (style, text) pairs."""
    runs: list[tuple[Style, str]] = []
    end = 0
    for match in MARKS.finditer(text):
        if match.start() > end:
            runs.append(("", text[end : match.start()]))
        style = match.lastgroup or ""
        runs.append((style, match[style]))  # type: ignore[arg-type]
        end = match.end()
    if end < len(text):
        runs.append(("", text[end:]))
    return tuple(runs)


def plain(text: str) -> str:
    """A text without the characters that mark styles, for places that show plain text only."""
    return "".join(words for _, words in inline(text))


def as_html(text: str) -> Markup:
    """A text as HTML, with every word escaped."""
    parts: list[Markup] = []
    for tag, blocks in itertools.groupby(prose(text), key=lambda block: block.tag):
        items = Markup("").join(
            Markup("<{tag}>{words}</{tag}>").format(tag=tag, words=_html_of(block.runs)) for block in blocks
        )
        parts.append(Markup("<ul>{}</ul>").format(items) if tag == "li" else items)
    return Markup("").join(parts)


def line_as_html(text: str) -> Markup:
    """One line as HTML without a paragraph."""
    return _html_of(inline(" ".join(text.split())))


def _html_of(runs: tuple[tuple[Style, str], ...]) -> Markup:
    parts = [Markup("<{0}>{1}</{0}>").format(style, words) if style else Markup("{}").format(words) for style, words in runs]
    return Markup("").join(parts)
