"""Predicting a row or the map of a head before it is shown."""

import json
import re
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.shell.view.runs import runs
from tests.pages.apps import charts, on_page, shown
from transformer.analysis.prediction_scores import caught_attention

ATTENTION = "pages/attention/page.py"
SOURCE = "abcde"
HEAD = {"model": "reverse", "source": SOURCE, "kind": "cross", "layer": "1", "head": "2"}


def opened(**query: str) -> AppTest:
    app = on_page(ATTENTION, **HEAD, **query)
    assert not app.exception
    return app


def components(app: AppTest) -> list[dict[str, Any]]:
    """The data of all components that are sent as JSON."""
    texts = [each.proto.json for each in app.main.get("bidi_component")]
    return [data for data in map(json.loads, filter(None, texts)) if isinstance(data, dict)]


def marked(app: AppTest) -> dict[str, Any]:
    """The data of the component with the cells to mark."""
    (data,) = [data for data in components(app) if "round" in data]
    return data


def weights() -> np.ndarray:
    return runs().trace("reverse", (SOURCE,), (None,), ()).weights("cross", 0)[0, 1].numpy()


def buttons(app: AppTest) -> list[str]:
    return [button.label for button in app.main.button]


def press(app: AppTest, label: str) -> AppTest:
    (button,) = [button for button in app.main.button if button.label == label]
    app = button.click().run()
    assert not app.exception
    return app


def test_a_link_opens_the_question_and_the_page_shows_nothing_of_the_head() -> None:
    app = opened(predict="attention:")
    data = marked(app)
    assert data["truth"] is None
    assert data["columns"] == ["<sos>", *SOURCE, "<eos>"]
    assert not charts(app.main)
    assert len([data for data in components(app) if "opened" not in data]) == 1  # the overview of all heads is not drawn either
    assert not any("Silenced" in markdown.value or "%**" in markdown.value for markdown in app.markdown)
    assert "Show without a guess" in buttons(app)


def test_a_row_can_be_marked_answered_twice_shown_and_asked_again() -> None:
    app = opened()
    app = press(app, "Where will it look? Predict first")
    assert app.query_params["predict"] == "attention:"  # one question at a time
    app.session_state["predict"] = "attention.2:0.3"  # clicks on two cells set this
    app = press(app.run(), "Answer once more")
    assert app.query_params["predict"] == "attention.2:0.3~0.3"
    assert "Answer once more" not in buttons(app)
    app.session_state["predict"] = "attention.2:0.3~4"
    app = press(app.run(), "Show")
    assert app.query_params["predict"] == "attention.2:0.3~4~shown"
    row = weights()[2]
    data = marked(app)
    assert (data["marks"], data["before"]) == ([4], [0, 3])
    assert data["truth"]["values"] == [f"{weight:.2f}" for weight in row]
    sentences = shown(next(markdown.value for markdown in app.markdown if markdown.value.startswith("First answer")))
    first, second = sentences.split("\n\n")
    assert re.findall(r"(\d+)%", first)[:2] == [f"{100 * (row[0] + row[3]):.0f}", f"{200 / 7:.0f}"]
    assert re.findall(r"(\d+)%", second)[:2] == [f"{100 * row[4]:.0f}", f"{100 / 7:.0f}"]
    assert charts(app.main)  # the rest of the page is drawn as usual
    app = press(app, "Try again")
    assert app.query_params["predict"] == "attention.2:"
    app = press(app, "Stop predicting")
    assert "predict" not in app.query_params


@pytest.mark.parametrize(
    ("marks", "says"),
    [
        ("best", "You found where this head looks."),
        ("worst", "the head looks elsewhere"),
        ("all but the best", "the head looks elsewhere"),
    ],
)
def test_the_sentence_tells_the_difference(marks: str, says: str) -> None:
    trace = runs().trace("reverse", (SOURCE,), (None,), ())
    every = np.stack([trace.weights("cross", layer)[0].numpy() for layer in range(trace.layers("cross"))])
    layer, head, query, key = np.unravel_index(every.argmax(), every.shape)  # a row with nearly all weight on one token
    row = every[layer, head, query]
    others = ".".join(str(other) for other in range(row.size) if other != key)
    cell = {"best": key, "worst": row.argmin(), "all but the best": others}[marks]
    which = {"kind": "cross", "layer": str(layer + 1), "head": str(head + 1)}
    app = on_page(ATTENTION, **(HEAD | which), predict=f"attention.{query}:{cell}~shown")
    assert not app.exception
    (sentence,) = [markdown.value for markdown in app.markdown if "of the attention" in markdown.value]
    assert says in sentence


def test_a_question_can_be_about_the_map_and_masked_cells_cannot_be_marked() -> None:
    trace = runs().trace("reverse", (SOURCE,), (None,), ())
    own, allowed = (values[0, 0].numpy() for values in (trace.weights("decoder", 0), trace.allowed("decoder")[0]))
    app = on_page(ATTENTION, **(HEAD | {"kind": "decoder", "head": "1"}), predict="map:0.7~shown")
    assert not app.exception
    data = marked(app)
    assert data["closed"] == np.flatnonzero(~allowed).tolist() != []
    marks = np.zeros(own.size, bool)
    marks[[0, 7]] = True
    caught = caught_attention(own, allowed, marks.reshape(own.shape))
    (sentence,) = [markdown.value for markdown in app.markdown if "of the attention" in markdown.value]
    assert re.findall(r"(\d+)%", sentence)[:2] == [f"{100 * caught.share:.0f}", f"{100 * caught.even:.0f}"]


@pytest.mark.parametrize(
    ("head", "predict", "says"),
    [
        # Every row of this head has nearly all its weight on one key.
        ({"kind": "cross", "layer": "2", "head": "4"}, "map:{best}~shown", "as many marks can catch at most 17%"),
        # The first token that a decoder reads can attend only to itself.
        ({"kind": "decoder"}, "attention.0:0~shown", "This query may attend to no other key."),
    ],
)
def test_the_sentence_says_when_no_better_marks_were_possible(head: dict[str, str], predict: str, says: str) -> None:
    trace = runs().trace("reverse", (SOURCE,), (None,), ())
    best = int(trace.weights("cross", 1)[0, 3].numpy().argmax())
    app = on_page(ATTENTION, **(HEAD | head), predict=predict.format(best=best))
    (sentence,) = [markdown.value for markdown in app.markdown if "of the attention" in markdown.value]
    assert says in shown(sentence)


def test_another_head_starts_a_new_question() -> None:
    app = opened(predict="attention.2:0.3~shown")
    app.session_state["head"] = 1
    app = app.run()
    assert app.query_params["predict"] == "attention:"
    assert marked(app)["truth"] is None
