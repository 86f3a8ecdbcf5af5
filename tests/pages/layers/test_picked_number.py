"""A click on a cell of the walk explains its number."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from pages.layers.picked_number import NUMBER, OF_STOP
from pages.layers.walk_part import STOP, short_walk
from pages.ui.text import text
from tests.pages.apps import shown
from tests.pages.layers.opened import LAYER, at_stop, opened, spot
from tests.pages.visitor import Walker
from transformer import Pipeline
from transformer.analysis.walk import kind_of

WORDS = text("walk")["number"]
VIEW = {"model": "reverse", "source": "abcd"}


def linked(app: AppTest) -> list[str]:
    return app.query_params.get(NUMBER, [])


def said(app: AppTest) -> list[str]:
    """What is said of the picked number: above the picture, and beside its computation."""
    is_number = re.compile(r"\*\* · .* = \*\*")
    return [line.value for line in (*app.caption, *app.markdown) if is_number.search(line.value)]


def card_of(block: Block) -> Block | None:
    """The card of the picked number."""
    for child in block.children.values():
        if isinstance(child, Block):
            if card := card_of(child):
                return card
        elif child.type == "html" and f'id="{NUMBER}"' in child.proto.body:
            return block
    return None


@pytest.mark.slow
@pytest.mark.parametrize("model", ["reverse", "english-french", "addition"])
def test_every_stop_of_the_short_walk_explains_a_number(model: str) -> None:
    source = {"reverse": "abcd", "english-french": "the cat sleeps .", "addition": "12+34"}[model]
    pipeline = Pipeline.load(model)
    trace = pipeline.trace(source)
    for path in short_walk(trace.config.decoder_layers, trace.activations):
        views = 3 if path.endswith(("_embedding.sum", "head_output", "add_norm.sum")) else 2
        app = opened(model=model, source=source, stop=path, number=f"{views - 1}.0.1.0")
        if not linked(app):  # this stop has fewer inputs
            app = opened(model=model, source=source, stop=path, number="1.0.1.0")
        values = trace[path].numpy()[0]
        value = float(values[1, 0] if values.ndim == 2 else values[0, 1, 0])
        (above, beside) = said(app)
        assert above.startswith(beside)
        assert float(beside.split("= **")[1].strip("*").replace("−", "-")) == pytest.approx(value, rel=1e-4)
        row = trace.ids_of("target" if path.startswith("target") else "source")[0][1]
        is_read = any(f"in row {row} of the embedding table" in markdown.value for markdown in app.markdown)
        assert path.endswith(".token") == is_read
        assert not app.warning


@pytest.mark.slow
def test_a_number_belongs_to_its_stop_and_a_link_without_sense_is_ignored() -> None:
    app = opened(**VIEW, stop=f"{LAYER}.self_attention.weights", number="1.0.2.1")
    assert len(said(app)) == 2
    at_stop(app, f"{LAYER}.self_attention.scores")
    assert said(app) == linked(app) == []
    for number in ("9.0.0.0", "1.99.0.0", "1.0.0", "-1.0.0.0", "a", "1.0.0.0.0", "²", "1.0.0.99999"):
        app = opened(**VIEW, stop=f"{LAYER}.self_attention.weights", number=number)
        assert said(app) == linked(app) == []
        assert WORDS["hint"] in [caption.value for caption in app.caption]


def test_one_head_and_the_second_text_of_a_batch_are_those_of_the_picture() -> None:
    path = f"{LAYER}.self_attention.weights"
    app = opened(**VIEW, batch="hello", item="2", head="3", stop=path, number="1.0.4.2")
    weights = Pipeline.load("reverse").trace(["abcd", "hello"])[path].numpy()
    assert "head 3, query 4" in shown(said(app)[0])
    assert float(said(app)[1].split("= **")[1].strip("*")) == pytest.approx(float(weights[1, 2, 4, 2]), rel=1e-4)
    assert not app.warning  # it agrees with its computation


@pytest.mark.slow
@pytest.mark.browser
def test_a_click_on_a_cell_explains_its_number(walker: Walker) -> None:
    path = f"{LAYER}.self_attention_add_norm.sum"
    page = walker.at(f"model=reverse&source=abcd&stop={path}").page
    values = Pipeline.load("reverse").trace("abcd")[path].numpy()[0]
    page.mouse.click(*spot(walker, (2, 5), values.shape).values())
    page.wait_for_url(re.compile(r"number=2\.0\.2\.5"))
    frame = page.locator(".st-key-walk_picture .shapelayer path").last
    expect(frame).to_be_attached()
    box, at = frame.bounding_box(), spot(walker, (2, 5), values.shape)
    assert box
    assert box["x"] < at["x"] < box["x"] + box["width"]
    assert box["y"] < at["y"] < box["y"] + box["height"]
    page.get_by_role("link", name=WORDS["see"]).click()
    card = page.locator(".st-key-card-number")
    card.locator(".katex-display").wait_for()
    expect(frame).to_be_attached()
    assert np.isclose(float(card.locator("strong").last.text_content().replace("−", "-")), values[2, 5], rtol=1e-4)
    page.locator(".st-key-walk_Right button").click()
    expect(card).to_have_count(0)
    expect(page.locator(".st-key-walk_picture .shapelayer path")).to_have_count(0)


@pytest.mark.parametrize(
    ("number", "says"),
    [
        ("0.0.1.0", "The id of a token is its place in the vocabulary"),
        ("1.0.1.7", "number 7 in row 4 of the embedding table, the row of “the”. It is random"),
    ],
)
def test_an_id_and_a_row_of_the_table_say_where_they_come_from(number: str, says: str) -> None:
    app = opened(model="own-sizes", source="the cat", stop="source_embedding.token", number=number)
    assert any(says in shown(markdown.value) for markdown in app.markdown)


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        pytest.param({"model": "pytorch", "source": "1 5 6", "target": "1 7"}, id="pytorch"),
        pytest.param(VIEW, id="reverse"),
        pytest.param({"model": "shared_heads", "source": "1 5 6", "target": "1 7"}, id="shared_heads"),
        pytest.param({"model": "addition", "source": "1+2="}, id="addition"),
    ],
)
def test_every_number_is_explained_and_an_input_leads_to_the_stop_where_it_is_made(query: dict[str, str]) -> None:
    app = opened(**query)
    for path in {kind_of(path): path for path in app.selectbox(key=STOP).options}.values():
        for place in range(4):
            app.session_state[NUMBER], app.session_state[OF_STOP] = (place, 0, 0, 0), path
            app.selectbox(key=STOP).set_value(path).run()
            assert not app.exception
            if not linked(app):  # the picture has fewer tensors
                break
            above, beside = said(app)
            card = card_of(app.main)
            assert card
            assert len([*card.markdown, *card.get("latex")]) > 1, f"only this is said: {beside}"
            made = [button for button in app.button if button.key == "number_go"]
            if made:
                made[0].click().run()
                assert app.selectbox(key=STOP).value == made[0].help
                assert said(app)[0].split("=")[1] == above.split("=")[1]
