"""The bar of a lesson on an opened page."""

import json
from typing import Any

from streamlit.testing.v1 import AppTest


def bar(app: AppTest) -> dict[str, Any]:
    """The data that the server has sent to the bar of the lesson."""
    for each in app.get("bidi_component"):
        if '"questions"' in each.proto.json:
            return json.loads(each.proto.json)
    raise AssertionError("no lesson is open")
