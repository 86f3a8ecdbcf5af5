"""The sidebar and the view that a page gets from it: every kind of model, a batch, and examples."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.shell.frame.model_picker import FIRST_SIZES
from pages.shell.models.model_examples import starts
from pages.shell.models.model_texts import description
from pages.shell.view.view import FIELDS, View
from pages.ui.limits import PARAMETERS, SENTENCES, SIZES
from pages.ui.text import text
from tests.pages.apps import LINKED, on_page, shown, shown_errors, unfold
from transformer import PRESETS, Pipeline
from transformer.pipeline.untrained import LARGEST_ID, LONGEST, Untrained
from transformer.tracing.phrases import interventions

WORDS = text("sidebar")


def script() -> None:
    """Draw only the sidebar. Stores its view in the session as `seen`."""
    import streamlit as st

    from pages.shell.error_boundary import explained
    from pages.shell.frame.sidebar import sidebar
    from pages.shell.view.view import current_view

    st.session_state.setdefault("page", "layers")
    sidebar(False)
    with explained():
        st.session_state["seen"] = current_view()


def opened(**query: str) -> AppTest:
    app = AppTest.from_function(script, default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def view_of(app: AppTest) -> View:
    assert not app.exception
    assert not app.error
    return app.session_state["seen"]


def chosen(app: AppTest, model: str) -> AppTest:
    return app.sidebar.selectbox(key="model").set_value(model).run()


# --- the view ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_link_opens_the_worked_example() -> None:
    app = opened(**LINKED)
    view = view_of(app)
    assert view.model == "shared_heads"
    assert view.sources == (LINKED["source"], LINKED["batch"])
    assert view.targets == (LINKED["target"], LINKED["batch_targets"])
    assert view.batch_trace()["source_embedding.sum"].shape == (2, 9, 256)
    assert view.batch_trace().logits.shape == (2, 7, 10)
    assert view.trace().logits.shape == (1, 7, 10)
    assert view.batch_trace().source_tokens[0][-1] == "0"
    assert "7,616,010 parameters" in [caption.value for caption in app.sidebar.caption]


@pytest.mark.slow
@pytest.mark.parametrize("model", [*PRESETS, "own-sizes"])
def test_worked_example_is_offered_as_a_button(model: str) -> None:
    app = unfold(chosen(opened(), model), "examples")
    label = f"{LINKED['source']} (+ 1 more)"
    button = next(button for button in app.sidebar.button if button.label.replace("\\", "") == label)
    button.click().run()
    assert {name: app.session_state[name] for name in LINKED if name != "model"} == {
        name: value for name, value in LINKED.items() if name != "model"
    }
    assert view_of(app).batch_trace().logits.shape == (2, 7, 10)
    assert any("7 616 010" in info.value for info in app.sidebar.info)


def test_a_model_that_does_not_exist_is_named_above_the_list() -> None:
    warned = [warning.value for warning in opened(model="<b>none").warning]
    assert [shown(warning) for warning in warned] == [WORDS["no_model"].format(name="<b>none")]
    assert "<b>" not in warned[0].replace("\\<", "")
    for model in ("reverse", "vanilla", "own-sizes", "reverse@000316"):
        assert not opened(model=model, source="abc").warning


def test_batch_without_further_texts_is_the_first_sentence() -> None:
    view = view_of(opened(model="reverse", source="abc"))
    assert (view.source, view.target, view.sources, view.targets) == ("abc", None, ("abc",), (None,))
    assert view.batch_trace() is view.trace()  # the same key, so the same trace
    assert view.trace().target_tokens == (("<sos>", "c", "b", "a"),)


def test_batch_is_padded_and_missing_targets_become_answers() -> None:
    view = view_of(opened(model="reverse", source="abc", batch="\nab\n\nx\n", batch_targets="\nyy"))
    assert view.sources == ("abc", "ab", "x")
    assert view.targets == (None, None, "yy")
    trace = view.batch_trace()
    assert trace.source_tokens[2] == ("<sos>", "x", "<eos>", "<pad>", "<pad>")
    assert trace.target_tokens[1:] == (("<sos>", "b", "a", "<pad>"), ("<sos>", "y", "y", "<pad>"))


@pytest.mark.parametrize(
    ("typed", "targets"),
    [
        ("", (None, None)),
        ("\n\n\n", (None, None)),
        ("yy\n", ("yy", None)),
        ("yy\n ", ("yy", None)),
        ("\nyy\n", (None, "yy")),
        ("yy\nz\n\n\n", ("yy", "z")),
    ],
)
def test_empty_target_lines_become_answers(typed: str, targets: tuple[str | None, ...]) -> None:
    view = view_of(opened(model="reverse", source="abc", batch="ab\nx", batch_targets=typed))
    assert view.problem is None
    assert view.targets == (None, *targets)


def test_forced_view_reads_its_own_answer() -> None:
    for model, source in (("reverse", "abc"), ("own-sizes", "1 5 6"), ("own-sizes", "big cat")):
        view = view_of(opened(model=model, source=source))
        assert view.forced().trace().target_tokens == view.trace().target_tokens
        assert view.forced().key == view.key


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"batch": "a\nb\nc\nd"}, f"There are 4 further source texts; up to {SENTENCES - 1} can be read"),
        (
            {"batch": "a\nb", "batch_targets": "a\nb\nc"},
            "Further source texts: 2; targets for them: 3. Write one target for each",
        ),
        ({"batch_targets": "a"}, "Further source texts: 0; targets for them: 1."),
        (
            {"model": "vanilla", "source": "1 5", "target": "1", "batch": f"1 {LARGEST_ID + 1}"},
            f"allowed are 0 to {LARGEST_ID}",
        ),
    ],
)
def test_unreadable_batch_leaves_the_first_text(query: dict[str, str], expected: str) -> None:
    whole = {"model": "reverse", "source": "abc", "target": "cb", **query}
    view = view_of(opened(**whole))
    assert expected in str(view.problem)
    assert (view.sources, view.targets) == ((whole["source"],), (whole["target"],))
    assert view.trace() is view_of(opened(**{name: whole[name] for name in ("model", "source", "target")})).trace()


@pytest.mark.parametrize("model", ["vanilla", "own-sizes"])
@pytest.mark.parametrize("source", [f"1 {LARGEST_ID + 1}", "3 -1"])
def test_invalid_ids_are_explained(model: str, source: str) -> None:
    assert f"allowed are 0 to {LARGEST_ID}" in shown_errors(opened(model=model, source=source))


def test_own_sizes_set_the_configuration() -> None:
    app = opened(model="own-sizes", variant="pytorch", n_layers="3", n_heads="2", d_model="10", d_ff="7")
    config = view_of(app).pipeline.config
    assert (config.encoder_layers, config.decoder_layers, config.heads, config.d_model, config.d_ff) == (3, 3, 2, 10, 7)
    assert config.final_norm  # not set by a box, so it comes from the variant
    count = sum(each.numel() for each in view_of(app).pipeline.model.parameters())
    assert f"{count:,} parameters" in [caption.value for caption in app.sidebar.caption]


def test_sizes_in_a_link_above_the_limits_are_ignored() -> None:
    app = opened(model="own-sizes", **{name: str(most + 1) for name, most in SIZES.items()})
    config = view_of(app).pipeline.config
    assert all(getattr(config, field) <= SIZES[name] for name, fields in FIELDS.items() for field in fields)


def small_sizes() -> None:
    from pages.shell.frame.model_picker import show_sizes
    from pages.ui.limits import SIZES

    show_sizes(dict.fromkeys(SIZES, 2))


def test_a_model_of_own_sizes_starts_within_small_limits() -> None:
    app = AppTest.from_function(small_sizes).run()
    assert not app.exception
    assert {box.key: (box.value, box.max) for box in app.number_input} == dict.fromkeys(SIZES, (2, 2))


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("number", ["inf", "-inf", "1e999", "nan", "a lot", ""])
def test_invalid_numbers_in_a_link_are_ignored(number: str) -> None:
    """Streamlit raises on an infinite number in every rerun, so the visitor could not correct it on the page."""
    app = opened(model="own-sizes", d_model=number, n_heads="2")
    config = view_of(app).pipeline.config
    assert (config.d_model, config.heads) == (FIRST_SIZES["d_model"], 2)
    assert app.sidebar.number_input(key="d_model").set_value(10).run()
    assert view_of(app).pipeline.config.d_model == 10


def test_presets_with_the_longest_texts_are_below_the_parameter_limit() -> None:
    texts = [" ".join(f"{chr(97 + place // 26)}{chr(97 + place % 26)}{side}" for place in range(LONGEST)) for side in "wxyz"]
    for preset in PRESETS:
        assert Untrained.of(preset, texts, texts).parameters <= PARAMETERS


def test_untrained_model_has_importance_and_edits() -> None:
    for source in ("the cat", "1 5 0"):
        view = view_of(opened(model="own-sizes", source=source))
        edits = interventions("silence cross layer 1", view.pipeline.config)
        assert view.forced().trace(edits).target_tokens == view.trace().target_tokens
        before, drops = view.importance(edits, 0, lambda *_: None)
        assert before < 0
        assert abs(drops["cross"][0]).max() < 1e-5 < abs(drops["cross"][1]).max()  # layer 1 is silenced by the edit


# --- changing models ---------------------------------------------------------------------------------------------------


def test_texts_come_back_with_the_model_for_which_they_were_typed() -> None:
    app = opened(model="reverse", source="torch", target="hc", batch="ab")
    view = view_of(chosen(app, "dates"))
    assert view.sources == (starts("dates")[0].source,)
    view = view_of(chosen(app, "reverse"))
    assert (view.sources, view.targets) == (("torch", "ab"), ("hc", None))


def test_another_model_replaces_all_texts_by_its_first_example() -> None:
    app = opened(**LINKED)
    view = view_of(chosen(app, "reverse"))
    assert (view.sources, view.targets) == (("headlight",), (None,))
    view = view_of(chosen(app, "own-sizes"))
    assert (view.sources, view.targets) == ((WORDS["untrained_examples"][0]["source"],), (None,))


@pytest.mark.slow
def test_every_model_reads_its_examples() -> None:
    for model in (*Pipeline.available(), "own-sizes"):
        offered = starts(model)
        assert len(offered) >= 6
        assert any(start.batch for start in offered)
        put = opened(model=model)
        pipeline = view_of(put).pipeline
        for place, start in enumerate(offered):
            if start.batch:
                put.session_state["page"] = start.pages[0]
                unfold(put, "examples").sidebar.button(key=f"example-{place}").click().run()
                assert view_of(put).batch_trace().logits.isfinite().all()
                assert len(view_of(put).sources) == 1 + len(start.batch.splitlines())
                assert [info.value for info in put.sidebar.info] == [start.look_for]
            elif model != "own-sizes":
                assert not pipeline.encode(start.source).unknown


def test_hint_is_shown_only_while_the_example_is_unchanged() -> None:
    app = opened(**LINKED)
    assert any("7 616 010" in info.value for info in app.sidebar.info)
    app.sidebar.text_area(key="batch_targets").set_value("1 5 6").run()
    assert not app.sidebar.info


def test_hint_is_shown_only_on_the_pages_that_it_is_about() -> None:
    app = opened(model="reverse", source=starts("reverse")[0].source)
    assert not app.sidebar.info
    app.session_state["page"] = "attention"
    assert [info.value for info in app.run().sidebar.info] == [starts("reverse")[0].look_for]


def test_an_open_question_hides_the_hint_that_would_answer_it() -> None:
    view = {"model": "reverse", "source": starts("reverse")[0].source}
    app = on_page("pages/attention/page.py", **view)
    assert app.sidebar.info
    for button in ("attention", "attention show_without"):
        app.button(key=f"predict {button}").click().run()
        assert not app.sidebar.info
    assert app.button(key="predict attention leave").click().run().sidebar.info
    assert not on_page("pages/attention/page.py", **view, predict="attention:").sidebar.info


def test_a_lesson_gets_no_hint_because_it_would_answer_its_questions() -> None:
    view = {"model": "reverse", "source": starts("reverse")[0].source}
    lesson = {"lesson": "first-look", "lesson_stop": "3"}
    assert [bool(on_page("pages/attention/page.py", **view, **more).sidebar.info) for more in ({}, lesson)] == [True, False]


@pytest.mark.slow
def test_every_model_is_described_and_untrained_ones_are_marked() -> None:
    app = opened()
    for model in app.sidebar.selectbox(key="model").options:
        chosen(app, model)
        captions = [shown(caption.value) for caption in app.sidebar.caption]
        marked = any("untrained" in markdown.value for markdown in app.sidebar.markdown)
        trained = model in Pipeline.available()
        assert marked is not trained
        about = description(model) if trained else WORDS["presets"][model]
        assert any(about in caption.split("\n\n") for caption in captions)
