"""The glossary lists its terms on every page, while it is open."""

from pages.shell.glossary import listed
from pages.ui.text import text
from tests.pages.apps import on_page, unfold

# The words on the blocks of Home's map, and those that the sentences of the pages set in bold.
ON_MAP = ("add & norm", "memory", "linear", "softmax", "feed-forward", "<sos>")
IN_SENTENCES = ("query", "key", "value", "head", "attention weight", "mask", "token")


def test_every_term_is_listed_once_below_a_page() -> None:
    terms = text("glossary")["terms"]
    assert {*ON_MAP, *IN_SENTENCES} <= set(terms)
    assert all(says.endswith(".") for says in terms.values())
    app = on_page("pages/tokens/page.py", model="reverse", source="abc")
    assert listed() not in [element.value for element in app.markdown]
    assert listed() in [element.value for element in unfold(app, "glossary").markdown]
