"""What the pages say, read from `assets/text/`: a translation is another folder there."""

import tomllib
from pathlib import Path
from typing import Any

import streamlit as st

FOLDER = Path(__file__).parents[2] / "assets" / "text"
LANGUAGE = "en"


@st.cache_data(show_spinner=False)
def text(page: str) -> dict[str, Any]:
    """The texts of a page, by name."""
    return tomllib.loads((FOLDER / LANGUAGE / f"{page}.toml").read_text(encoding="utf-8"))


def has_text(page: str) -> bool:
    """Whether a page has texts; one without is not finished."""
    return (FOLDER / LANGUAGE / f"{page}.toml").exists()
