"""What the pages say of a model, in the language of the session: its text in `models.toml`, else what its file holds."""

from pages.shell.runs import available, runs
from pages.ui.text import has_text, text
from transformer.pipeline.untrained import ACCEPTS, LARGEST_ID, LONGEST

# In `models.toml`: every model that was never trained.
UNTRAINED = "untrained"


def description(model: str) -> str:
    """One line on what a shipped model does."""
    return _of_language(model, "description") or available()[model]


def accepts(model: str) -> str:
    """What a person may type for a model of the picker, as a clause."""
    if model in available():
        return _of_language(model, "accepts") or runs().pipeline(model).card.accepts
    return _of_language(UNTRAINED, "accepts").format(words=LONGEST, largest=LARGEST_ID) or ACCEPTS


def _of_language(model: str, field: str) -> str:
    """A text of a model; empty where `models.toml` does not name the model."""
    return text("models").get(model, {}).get(field, "") if has_text("models") else ""
