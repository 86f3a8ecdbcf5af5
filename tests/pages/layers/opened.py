"""The Layers page without a browser, and its walk."""

from typing import Any

from streamlit.testing.v1 import AppTest

from pages.layers.walk import STOP
from tests.pages.apps import on_page

LAYER = "encoder.layers.0"


def opened(**query: str) -> AppTest:
    """The page at a link that holds the query, with nothing gone wrong."""
    app = on_page("pages/layers/page.py", 120, **query)
    assert not app.exception
    assert not app.error
    return app


def at_stop(app: AppTest, path: str) -> Any:
    """Go to a stop; the table of what it was made of."""
    app.selectbox(key=STOP).set_value(path).run()
    assert not app.exception
    return app.table[0].value
