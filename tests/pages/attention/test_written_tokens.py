"""What counts as written on the Attention page: no end that was never written, and not the text that a decoder alone reads."""

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.shell.models.catalogue import trained_key
from pages.shell.view.runs import runs
from tests.pages.apps import charts, on_page, shown_errors
from transformer.pipeline.untrained import Untrained

PAGE = "pages/attention/page.py"
TEXT = "the cat sleeps ."


def opened(part: str, **query: str) -> AppTest:
    app = on_page(PAGE, source=TEXT, part=part, **query)
    assert shown_errors(app) == ""
    return app


def drawn(app: AppTest, key: str) -> dict[str, np.ndarray]:
    (chart,) = (each for each in charts(app) if each.key == key)
    return chart.spec["data"][0]


def picked_from(app: AppTest, key: str) -> list[str]:
    return list(app.selectbox(key=key).options)


@pytest.mark.slow
def test_an_answer_that_was_stopped_has_no_end() -> None:
    answer = Untrained.of("shared_heads", [TEXT]).build().answers([TEXT])[0]
    assert not answer.ended
    written, model = answer.tokens, {"model": "shared_heads", "kind": "decoder"}
    assert list(drawn(opened("map", **model), "head-map")["y"])[-1].endswith(f"{written[-1]} → …")
    app = opened("what-if", edits="no positions", **model)
    assert len(drawn(app, "probability-change")["x"]) == len(written)
    (offered,) = (group.options for group in app.button_group if group.key == "position")
    assert list(offered) == [f"{place}: {token}" for place, token in enumerate(written, 1)]
    offered = picked_from(opened("gradient", **model), "gradient_of")
    assert offered == [f"{place} · {token}" for place, token in enumerate(written)]
    # A typed target goes to its end.
    app = opened("gradient", target="le chat", **model)
    assert picked_from(app, "gradient_of")[-1].endswith("<eos>")


@pytest.mark.slow
def test_the_text_that_a_decoder_alone_reads_is_not_written(name_folders: Callable[..., None]) -> None:
    tiny = pytest.importorskip("tests.transformer.huggingface.tiny", reason="transformers is not installed")
    name_folders(tiny.folder_of("gpt2"))
    key, model = trained_key("gpt2"), {"model": "gpt2", "kind": "decoder"}
    answer, first = runs().answer(key, TEXT, ()), len(runs().encoding(key, "source", TEXT).ids) - 1
    written = len(answer.tokens) + answer.ended
    app = opened("what-if", edits="silence decoder layer 1 head 1", **model)
    trace = runs().trace(key, (TEXT,), (None,), ())
    ids = trace.target_ids[0][first + 1 :]
    before = trace.probabilities[0, first:].numpy()[np.arange(len(ids)), list(ids)]
    bars = drawn(app, "probability-change")["y"]
    assert len(bars) == written
    np.testing.assert_allclose(bars[: len(ids)], before, rtol=1e-5)
    offered = picked_from(opened("gradient", **model), "gradient_of")
    assert len(offered) == written
    assert offered[0].startswith(f"{first} · ")
