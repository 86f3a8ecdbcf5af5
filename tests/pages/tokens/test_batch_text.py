"""The picker of one text of a batch is the same in every part of a page, and its value is kept in the link."""

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.shell.view.runs import Runs
from pages.ui.text import text
from tests.pages.apps import charts, on_page
from tests.pages.layers.opened import LAYER, opened
from tests.pages.visitor import Visitor

TEXTS = ("abcd", "zyxw")
BATCH = {"model": "reverse", "source": TEXTS[0], "batch": TEXTS[1]}
WEIGHTS = f"{LAYER}.self_attention.weights"
PARTS = ("walk", "filmstrip", "residual-stream", "arithmetic")
EACH = pytest.mark.parametrize(("link", "item"), [("1", 0), ("2", 1), ("3", 0), ("0", 0), ("nonsense", 0)])


def picker(app: AppTest, key: str = "item") -> Any:
    (buttons,) = [group for group in app.button_group if group.key == key]
    return buttons


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("part", PARTS)
@EACH
def test_link_picks_the_text_of_the_batch(part: str, link: str, item: int) -> None:
    app = opened(**BATCH, part=part, item=link)
    assert picker(app).value == item + 1
    assert picker(app).label == text("common")["item"]
    assert "".join(app.query_params.get("item", "1")) == str(item + 1)


@pytest.mark.parametrize("part", PARTS)
def test_single_text_has_no_picker(part: str) -> None:
    app = opened(model="reverse", source="abcd", part=part, item="2")
    assert "item" not in [group.key for group in app.button_group]


@pytest.mark.parametrize("part", ["walk", "filmstrip"])
@pytest.mark.parametrize("item", [0, 1])
def test_the_picked_text_is_drawn(part: str, item: int) -> None:
    app = opened(**BATCH, part=part, stop=WEIGHTS, item=str(item + 1))
    traces = charts(app)[0].spec["data"]
    drawn = [trace["z"] for trace in traces if trace.get("meta") == WEIGHTS] if part == "filmstrip" else [traces[-1]["z"]]
    trace = Runs().trace("reverse", TEXTS, (None, None), ())
    values = [trace[WEIGHTS].numpy()[at].reshape(-1, trace[WEIGHTS].shape[-1]) for at in (item, 1 - item)]
    (shown,) = [each[~np.isnan(each).all(axis=1)] for each in drawn]  # without the rows between heads
    np.testing.assert_array_equal(shown, values[0])
    assert not np.array_equal(*values)


@pytest.mark.parametrize(("part", "key"), [("arithmetic", "position"), ("residual-stream", "position")])
@pytest.mark.parametrize("item", [0, 1])
def test_position_options_are_the_tokens_of_the_picked_text(part: str, key: str, item: int) -> None:
    app = opened(**BATCH, part=part, item=str(item + 1))
    tokens = Runs().trace("reverse", TEXTS, (None, None), ()).source_tokens[item]
    assert app.selectbox(key=key).options == [f"{at} · {token}" for at, token in enumerate(tokens)]


def test_tokens_page_reads_the_text_from_the_link() -> None:
    app = on_page("pages/tokens/page.py", **BATCH, item="2")
    assert not app.exception
    assert picker(app, "item").value == 2
    assert picker(app, "item").proto.help == text("tokens")["item_help"]


@pytest.mark.slow
@pytest.mark.browser
def test_picked_text_stays_across_parts_and_in_the_link(visitor: Visitor) -> None:
    page = visitor.open("layers?" + "&".join(f"{name}={value}" for name, value in BATCH.items()))
    visitor.choose("Text of the batch", "2")
    for part in ("filmstrip", "arithmetic", "residual stream", "walk"):
        visitor.choose("Look at", part)
        chosen = page.locator(".st-key-item [role=radio][aria-checked=true]")
        assert chosen.inner_text() == "2"
        assert "item=2" in page.url
