"""What the pages say, read from `assets/text/`: a translation is another folder there."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from transformer.figures.labels import LABELS

FOLDER = Path(__file__).parents[2] / "assets" / "text"
LANGUAGE = "en"


# Not Streamlit's cache: that makes a copy each time, and a page asks up to 400 times.
@cache
def text(page: str) -> dict[str, Any]:
    """The texts of a page, by name. Shared by everybody: not to be written to."""
    return tomllib.loads((FOLDER / LANGUAGE / f"{page}.toml").read_text(encoding="utf-8"))


@cache
def figure_labels() -> Mapping[str, str]:
    """The words that figures draw: those of the language, in English where it has none."""
    return {**LABELS, **(text("figures") if has_text("figures") else {})}


def has_text(page: str) -> bool:
    """Whether a page has texts; one without is not finished."""
    return (FOLDER / LANGUAGE / f"{page}.toml").exists()
