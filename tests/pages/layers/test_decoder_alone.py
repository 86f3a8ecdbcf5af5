"""The views of the Layers page for a decoder that ran without a source. The app does not offer such a run yet."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.layers.walk_part import STOP


def decoder_alone_page() -> None:
    """A page with one view of a small decoder's run. `part` in the session state names the view."""
    import streamlit as st

    from pages.layers.arithmetic import show_arithmetic
    from pages.layers.calls import show_calls
    from pages.layers.filmstrip import show_filmstrip
    from pages.layers.ledger_part import show_ledger
    from pages.layers.residual_part import show_stream
    from pages.layers.walk_part import show_walk
    from pages.shell.view.runs import runs
    from pages.shell.view.view import View
    from pages.ui.link_values import start_run
    from transformer.pipeline.untrained import Untrained
    from transformer.tracing.trace import run_traced

    start_run()
    sizes = {"encoder_layers": 1, "decoder_layers": 2, "heads": 2, "d_model": 8, "d_ff": 16}
    key = Untrained.of("vanilla", ("a b c", "b"), ("a b", "c c c"), sizes)
    pipeline = runs().pipeline(key)
    targets = pipeline.trace(["a b c", "b"], ["a b", "c c c"]).target_ids
    trace = run_traced(pipeline.model, None, pipeline.batch(targets, "target"))
    view = View("vanilla", ("a b c", "b"), ("a b", "c c c"), key)
    part = st.session_state["part"]
    if part == "residual-stream":
        show_stream(trace, {})
    else:
        shown = {"walk": show_walk, "filmstrip": show_filmstrip, "arithmetic": show_arithmetic, "ledger": show_ledger}
        drawn = (trace,) if part in ("walk", "filmstrip") else ()
        (shown | {"calls": show_calls})[part](view, trace, *drawn)


def opened_part(part: str) -> AppTest:
    app = AppTest.from_function(decoder_alone_page, default_timeout=60)
    app.session_state["part"], app.session_state["page"] = part, "layers"
    app.run()
    assert not app.exception
    return app


def options(app: AppTest, key: str) -> list[Any]:
    groups: Any = app.get("button_group")
    return list(next(group.options for group in groups if group.key == key))


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("part", ["filmstrip", "residual-stream", "arithmetic", "ledger", "calls"])
def test_every_view_shows_a_decoder_without_a_source(part: str) -> None:
    app = opened_part(part)
    assert not app.error
    if part == "residual-stream":
        assert options(app, "stack") == ["decoder"]


@pytest.mark.slow
def test_the_walk_visits_every_tensor_of_a_decoder_without_a_source() -> None:
    app = opened_part("walk")
    paths = app.selectbox(key=STOP).options
    assert paths[0] == "target_mask"
    assert not [path for path in paths if "source" in path or "cross" in path or path.startswith("encoder")]
    layer = "decoder.layers.0"
    for path in [path for path in paths if not path.startswith("decoder.layers.1")]:
        app.selectbox(key=STOP).set_value(path).run()
        assert not app.exception, path
        if path == f"{layer}.self_attention.weights":
            assert options(app, "head") == ["all", "1", "2"]
