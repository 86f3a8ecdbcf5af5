"""Style sheets for the HTML of the pages.

All HTML of the pages is made by `markupsafe.Markup(template).format(…)`, which escapes every value that is not a `Markup`.
"""

from pathlib import Path

from markupsafe import Markup

from transformer.figures.theme import STYLE_COLORS


def style(file: Path) -> Markup:
    """The CSS of a file as a `<style>` element. Put it before the HTML that it styles."""
    return style_element(file.read_text(encoding="utf-8"))


def app_style(file: Path) -> Markup:
    """A `<style>` element with the CSS of the whole app (`file`) and the colours that all styles share, as variables."""
    colors = "".join(f"--headlight-{name}: {color}; " for name, color in STYLE_COLORS.items())
    return style_element(f":root {{ {colors}}}\n{file.read_text(encoding='utf-8')}")


def style_element(css: str) -> Markup:
    """A `<style>` element. The CSS is not escaped: never put typed text in it."""
    return Markup("<style>{css}</style>").format(css=Markup(css))
