"""Texts as cells of a table that a spreadsheet may open."""

# A spreadsheet computes a cell that begins with one of these.
FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def as_cell(text: str) -> str:
    """The text for a cell of a CSV file, with an apostrophe before it if a spreadsheet would read it as a formula."""
    return f"'{text}" if text.startswith(FORMULAS) else text
