"""Helpers that open the Layers page, and a stop of its walk, without a browser."""

from typing import Any

from streamlit.testing.v1 import AppTest

from pages.layers.walk_part import STOP
from tests.pages.apps import on_page

LAYER = "encoder.layers.0"


def opened(**query: str) -> AppTest:
    """Open the Layers page by a link with this query, and assert that it shows no error; returns the app."""
    app = on_page("pages/layers/page.py", 120, **query)
    assert not app.exception
    assert not app.error
    return app


def at_stop(app: AppTest, path: str) -> Any:
    """Go to a stop; returns its table of inputs, parameters and result."""
    app.selectbox(key=STOP).set_value(path).run()
    assert not app.exception
    return app.table[0].value
