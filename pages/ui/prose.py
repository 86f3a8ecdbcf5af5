"""Written words as elements: paragraphs and lists, with **bold**, *italic* and `code`. Everything else is shown as plain text.
A lesson can come from anybody, so its words have no HTML, no links and no pictures."""

import re

from markupsafe import Markup, escape

from pages.ui.component import Element

MARKS = re.compile(r"`(?P<code>[^`\n]+)`|\*\*(?P<strong>[^*\n]+)\*\*|\*(?P<em>[^*\s](?:[^*\n]*[^*\s])?)\*")


def prose(text: str) -> list[Element]:
    """The paragraphs (`p`) and lists (`ul`) of a text. An empty line separates paragraphs. A line that begins with `- ` is an
    item of a list."""
    blocks: list[Element] = []
    for part in re.split(r"\n\s*\n", text.strip()):
        words: list[str] = []
        for line in part.split("\n"):
            in_list = bool(blocks) and blocks[-1][0] == "ul"
            if line.startswith("- "):
                if words:
                    blocks += _paragraph(words)
                    words, in_list = [], False
                if not in_list:
                    blocks.append(["ul", {}])
                blocks[-1].append(["li", {}, *inline(line[2:])])
            elif in_list and line.startswith("  ") and not words:
                blocks[-1][-1] += inline(" " + line.strip())
            else:
                words.append(line.strip())
        blocks += _paragraph(words)
    return blocks


def _paragraph(lines: list[str]) -> list[Element]:
    text = " ".join(line for line in lines if line)
    return [["p", {}, *inline(text)]] if text else []


def inline(text: str) -> list[Element | str]:
    """One line as plain texts and elements; an element (`code`, `strong` or `em`) has the words of one style."""
    parts: list[Element | str] = []
    end = 0
    for match in MARKS.finditer(text):
        if match.start() > end:
            parts.append(text[end : match.start()])
        style = match.lastgroup or ""
        parts.append([style, {}, match[style]])
        end = match.end()
    if end < len(text):
        parts.append(text[end:])
    return parts


def plain(text: str) -> str:
    """A text without the characters that mark styles, for places that show plain text only."""
    return "".join(part if isinstance(part, str) else part[2] for part in inline(text))


def as_html(text: str) -> Markup:
    """A text as HTML paragraphs and lists, with every word escaped."""
    return Markup("").join(map(_html_of, prose(text)))


def line_as_html(text: str) -> Markup:
    """A text as HTML without paragraphs and lists. Line breaks become spaces."""
    return Markup("").join(map(_html_of, inline(" ".join(text.split()))))


def _html_of(part: Element | str) -> Markup:
    if isinstance(part, str):
        return escape(part)
    tag, _, *children = part
    return Markup("<{0}>{1}</{0}>").format(tag, Markup("").join(map(_html_of, children)))
