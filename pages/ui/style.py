"""How what a page writes as HTML looks."""

from pathlib import Path


def style(file: Path) -> str:
    """The CSS of a file as an element that stands before what it is for."""
    return f"<style>{file.read_text(encoding='utf-8')}</style>"
