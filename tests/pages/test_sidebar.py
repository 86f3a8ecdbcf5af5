"""The sidebar: every kind of model, a batch, and a state that lives in the URL."""

from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from streamlit.testing.v1 import AppTest

from pages.widgets import pages, runs
from pages.widgets.examples import starts
from pages.widgets.limits import MODEL_BYTES, PARAMETERS, SENTENCES, SIZES
from pages.widgets.pages import page_files, tour
from pages.widgets.sidebar import FIELDS, View
from pages.widgets.text import text
from tests.pages.conftest import Visitor, serving
from transformer import PRESETS, ConfigError, InputError, Pipeline
from transformer.edits import interventions
from transformer.untrained import LARGEST_ID, LONGEST, Untrained

ROOT = Path(__file__).parents[2]
EXAMPLE = {
    "model": "shared_heads",
    "source": "1 5 6 4 3 9 5 2 0",
    "target": "1 7 4 3 5 9 2",
    "batch": "1 8 7 3 4 5 6 7 2",
    "batch_targets": "1 5 6 2 4 7 6",
}
LINK = "?" + "&".join(f"{name}={value.replace(' ', '+')}" for name, value in EXAMPLE.items())
ATTENTION = "pages/inside/attention.py"
WORDS = text("sidebar")


def script() -> None:
    """The sidebar alone, and what a page is told it holds."""
    import streamlit as st

    from pages.widgets.problems import explained
    from pages.widgets.sidebar import current_view, sidebar

    sidebar()
    with explained():
        st.session_state["seen"] = current_view()


def opened(**query: str) -> AppTest:
    app = AppTest.from_function(script, default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def seen(app: AppTest) -> View:
    assert not app.exception
    assert not app.error
    return app.session_state["seen"]


def chosen(app: AppTest, model: str) -> AppTest:
    return app.sidebar.selectbox(key="model").set_value(model).run()


def said(app: AppTest) -> str:
    assert not app.exception
    return " ".join(error.value for error in app.error).replace("\\", "")


# --- the view ----------------------------------------------------------------------------------------------------------


def test_the_worked_example_is_a_link() -> None:
    app = opened(**EXAMPLE)
    view = seen(app)
    assert view.model == "shared_heads"
    assert view.sources == (EXAMPLE["source"], EXAMPLE["batch"])
    assert view.targets == (EXAMPLE["target"], EXAMPLE["batch_targets"])
    assert view.batch_trace()["source_embedding.sum"].shape == (2, 9, 256)
    assert view.batch_trace().logits.shape == (2, 7, 10)
    assert view.trace().logits.shape == (1, 7, 10)
    assert view.batch_trace().source_tokens[0][-1] == "0"
    assert "7,616,010 parameters" in [caption.value for caption in app.sidebar.caption]


@pytest.mark.parametrize("model", [*PRESETS, "own sizes"])
def test_the_worked_example_is_one_of_the_examples(model: str) -> None:
    app = chosen(opened(), model)
    label = f"{EXAMPLE['source']} (+ 1 more)"
    button = next(button for button in app.sidebar.button if button.label.replace("\\", "") == label)
    button.click().run()
    assert {name: app.session_state[name] for name in EXAMPLE if name != "model"} == {
        name: value for name, value in EXAMPLE.items() if name != "model"
    }
    assert seen(app).batch_trace().logits.shape == (2, 7, 10)
    assert any("7 616 010" in info.value for info in app.sidebar.info)


def test_without_more_the_batch_is_the_first_sentence() -> None:
    view = seen(opened(model="reverse", source="abc"))
    assert (view.source, view.target, view.sources, view.targets) == ("abc", None, ("abc",), (None,))
    assert view.batch_trace() is view.trace()  # the same key, so the same trace
    assert view.trace().target_tokens == (("<sos>", "c", "b", "a"),)


def test_a_batch_is_padded_and_keeps_own_answers_where_no_target_is_typed() -> None:
    view = seen(opened(model="reverse", source="abc", batch="\nab\n\nx\n", batch_targets="\nyy"))
    assert view.sources == ("abc", "ab", "x")
    assert view.targets == (None, None, "yy")
    trace = view.batch_trace()
    assert trace.source_tokens[2] == ("<sos>", "x", "<eos>", "<pad>", "<pad>")
    assert trace.target_tokens[1:] == (("<sos>", "b", "a", "<pad>"), ("<sos>", "y", "y", "<pad>"))


def test_the_view_reads_its_own_answer_when_it_is_forced_to() -> None:
    for model, source in (("reverse", "abc"), ("own sizes", "1 5 6"), ("own sizes", "big cat")):
        view = seen(opened(model=model, source=source))
        assert view.forced().trace().target_tokens == view.trace().target_tokens
        assert view.forced().key == view.key


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"batch": "a\nb\nc\nd"}, f"up to {SENTENCES - 1} sentences"),
        ({"batch": "a\nb", "batch_targets": "a\nb\nc"}, "there are 2 further source texts"),
        ({"batch_targets": "a"}, "there are 0 further source texts"),
        (
            {"model": "vanilla", "source": "1 5", "target": "1", "batch": f"1 {LARGEST_ID + 1}"},
            f"allowed are 0 to {LARGEST_ID}",
        ),
    ],
)
def test_a_batch_that_cannot_be_read_leaves_the_first_text(query: dict[str, str], expected: str) -> None:
    whole = {"model": "reverse", "source": "abc", "target": "cb", **query}
    view = seen(opened(**whole))
    assert expected in str(view.problem)
    assert (view.sources, view.targets) == ((whole["source"],), (whole["target"],))
    assert view.trace() is seen(opened(**{name: whole[name] for name in ("model", "source", "target")})).trace()


@pytest.mark.parametrize("model", ["vanilla", "own sizes"])
@pytest.mark.parametrize("source", [f"1 {LARGEST_ID + 1}", "3 -1"])
def test_what_is_no_id_is_explained(model: str, source: str) -> None:
    assert f"allowed are 0 to {LARGEST_ID}" in said(opened(model=model, source=source))


def test_a_broken_batch_stops_only_pages_that_show_a_batch() -> None:
    app = AppTest.from_file(ROOT / "app.py", default_timeout=60)
    for name, value in {"model": "reverse", "source": "abc", "batch": "a\nb\nc\nd"}.items():
        app.query_params[name] = value
    app.run()
    for page in ("pages/start/home.py", ATTENTION, "pages/inputs/positions.py"):
        app.switch_page(page).run()
        assert not said(app)
        assert any(f"up to {SENTENCES - 1} sentences" in warning.value for warning in app.warning)
        assert any("cba" in line.value for line in app.markdown)
    app.switch_page("pages/inputs/masks.py").run()
    assert f"up to {SENTENCES - 1} sentences" in said(app)


def test_own_sizes_are_those_of_the_model() -> None:
    app = opened(model="own sizes", variant="pytorch", n_layers="3", n_heads="2", d_model="10", d_ff="7")
    config = seen(app).pipeline.config
    assert (config.encoder_layers, config.decoder_layers, config.heads, config.d_model, config.d_ff) == (3, 3, 2, 10, 7)
    assert config.final_norm  # the variant's own
    count = sum(each.numel() for each in seen(app).pipeline.model.parameters())
    assert f"{count:,} parameters" in [caption.value for caption in app.sidebar.caption]


def test_sizes_beyond_the_limits_of_a_link_are_not_taken() -> None:
    app = opened(model="own sizes", **{name: str(most + 1) for name, most in SIZES.items()})
    config = seen(app).pipeline.config
    assert all(getattr(config, field) <= SIZES[name] for name, fields in FIELDS.items() for field in fields)


def test_too_many_parameters_are_refused_before_anything_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Untrained, "build", lambda _: pytest.fail("built"))
    largest = {field: most for name, most in SIZES.items() for field in FIELDS[name]}
    with pytest.raises(ConfigError, match=f"parameters = .*{PARAMETERS:,}"):
        runs.load(Untrained.of("vanilla", ["a"], sizes=largest))


def test_a_preset_of_any_text_that_fits_is_under_the_limit() -> None:
    texts = [" ".join(f"{chr(97 + at // 26)}{chr(97 + at % 26)}{side}" for at in range(LONGEST)) for side in "wxyz"]
    for preset in PRESETS:
        assert Untrained.of(preset, texts, texts).parameters <= PARAMETERS


# --- changing models ---------------------------------------------------------------------------------------------------


def test_another_model_brings_its_first_example_and_takes_the_rest_away() -> None:
    app = opened(**EXAMPLE)
    view = seen(chosen(app, "reverse"))
    assert (view.sources, view.targets) == (("headlight",), (None,))
    view = seen(chosen(app, "own sizes"))
    assert (view.sources, view.targets) == ((WORDS["untrained_examples"][0]["source"],), (None,))


def test_every_model_has_examples_that_it_reads() -> None:
    for model in (*Pipeline.available(), "own sizes"):
        offered = starts(model)
        assert len(offered) >= 6
        assert any(start.batch for start in offered)
        put = opened(model=model)
        pipeline = seen(put).pipeline
        for at, start in enumerate(offered):
            if start.batch:
                put.sidebar.button(key=f"example-{at}").click().run()
                assert seen(put).batch_trace().logits.isfinite().all()
                assert len(seen(put).sources) == 1 + len(start.batch.splitlines())
                assert [info.value for info in put.sidebar.info] == [start.look_for]
            elif model != "own sizes":
                assert not pipeline.read(start.source).unknown


def test_the_sidebar_describes_every_model_and_marks_the_untrained() -> None:
    app = opened()
    for model in app.sidebar.selectbox(key="model").options:
        chosen(app, model)
        captions = [caption.value.replace("\\", "") for caption in app.sidebar.caption]
        marked = any("untrained" in markdown.value for markdown in app.sidebar.markdown)
        trained = model in Pipeline.available()
        assert marked is not trained
        assert (Pipeline.available()[model] if trained else WORDS["presets"][model]) in captions


# --- on the pages ------------------------------------------------------------------------------------------------------

READING = [str(file.relative_to(ROOT)) for file in page_files() if file.stem != "turning"]  # which has models of its own


def on_page(page: str, **query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    return app.switch_page(page).run() if page != READING[0] else app


@pytest.mark.parametrize("page", READING)
def test_an_untrained_model_says_so_on_every_page(page: str) -> None:
    app = on_page(page, model="own sizes")
    assert not said(app)
    assert any("untrained" in markdown.value for markdown in app.main.markdown)
    app = on_page(page, model="reverse")
    assert not any(":orange-badge" in markdown.value for markdown in app.main.markdown)


@pytest.mark.parametrize("look", ["map", "lines", "pattern", "steps", "combined", "what-if"])
@pytest.mark.parametrize("source", ["the cat", "1 5 0"])
def test_every_look_of_attention_works_on_an_untrained_model_and_a_batch(look: str, source: str) -> None:
    for kind in ("encoder", "cross"):
        app = on_page(ATTENTION, model="own sizes", source=source, batch="7 7", look=look, kind=kind, edits="no positions")
        assert not said(app)


def test_unknown_tokens_are_said_once_for_each_side_and_only_the_first_are_named() -> None:
    app = on_page(ATTENTION, model="reverse", source="a1b2c3d4e5f6", target="7")
    assert len(app.warning) == 2
    first, second = (warning.value.replace("\\", "") for warning in app.warning)
    assert all(f"The source has “{token}”" in first for token in "1234")
    assert "“5”" not in first
    assert "And 2 more." in first
    assert first.count("It was trained on 1 to 12 letters from a to z") == 1
    assert "The target has “7”" in second


def test_importance_and_edits_work_on_an_untrained_model() -> None:
    for source in ("the cat", "1 5 0"):
        view = seen(opened(model="own sizes", source=source))
        edits = interventions("silence cross layer 1", view.pipeline.config)
        assert view.forced().trace(edits).target_tokens == view.trace().target_tokens
        before, drops = view.importance(edits, 0, lambda *_: None)
        assert before < 0
        assert abs(drops["cross"][0]).max() < 1e-5 < abs(drops["cross"][1]).max()  # layer 1 is silent already


def test_a_bad_size_is_explained_on_the_page_that_then_still_leads_on() -> None:
    app = on_page(ATTENTION, model="own sizes", n_heads="3")
    assert "d_model = 64: must be a multiple of heads = 3" in said(app)
    assert len(app.get("page_link")) >= 1


def test_the_tour_goes_through_the_pages_that_are_there_in_order() -> None:
    stops = tour()
    assert [stop.stem for stop in stops] == [name for name in pages.TOUR if name in {file.stem for file in page_files()}]
    for at, stop in enumerate(stops):
        app = on_page(str(stop.relative_to(ROOT)), model="own sizes")
        assert f"Stop {at + 1} of {len(stops)}" in [caption.value for caption in app.main.caption]
        labels = [link.proto.label for link in app.main.get("page_link")][-2:]
        if at > 0:
            assert labels[0] == text(stops[at - 1].stem)["title"]
        onward = stops[at + 1] if at + 1 < len(stops) else stops[0]
        assert labels[-1].endswith(text(onward.stem)["title"])


def test_a_page_that_is_not_there_yet_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "TOUR", ("home", "nowhere", "attention"))
    assert [stop.stem for stop in tour()] == ["home", "attention"]


# --- what is kept ------------------------------------------------------------------------------------------------------


def test_models_are_kept_by_value_and_by_their_bytes() -> None:
    kept = runs.Runs()
    one, same, other = (Untrained.of("vanilla", [words], sizes={"d_model": 16, "d_ff": 8}) for words in "aab")
    assert kept.pipeline(one) is kept.pipeline(same)
    assert kept.pipeline(one) is not kept.pipeline(other)
    assert kept.trace(one, ("a",), (None,), ()) is kept.trace(same, ("a",), (None,), ())
    assert kept.trace(one, ("a",), (None,), ()) is not kept.trace(one, ("a", "a"), (None, None), ())
    assert kept.trace(one, ("a",), (None,), ()) is not kept.trace(one, ("a",), ("a",), ())
    base = Untrained.of("vanilla", ["a"])
    assert 2 * 4 * base.parameters < MODEL_BYTES  # two people may look at models of the paper's size
    assert 4 * PARAMETERS < MODEL_BYTES


def test_a_failure_to_build_is_not_kept() -> None:
    kept = runs.Runs()
    for _ in range(2):
        with pytest.raises(InputError):
            kept.pipeline("nobody")


# --- in a browser ------------------------------------------------------------------------------------------------------

BOXES = {
    "Source text": "source",
    "Target text": "target",
    "Further source texts": "batch",
    "Their target texts": "batch_targets",
}


def held(page: Page) -> dict[str, str]:
    """What the boxes and the picker of the sidebar hold."""
    boxes = {name: page.get_by_label(label, exact=True).input_value() for label, name in BOXES.items()}
    return {"model": page.get_by_test_id("stSidebar").get_by_role("combobox").first.input_value(), **boxes}


def go(visitor: Visitor, title: str) -> None:
    visitor.page.get_by_test_id("stSidebarNav").get_by_text(title, exact=True).click()
    visitor.page.get_by_role("heading", name=title, level=1).wait_for()
    visitor.settle()


@pytest.mark.browser
def test_state_survives_pages_back_forward_and_a_reload(visitor: Visitor) -> None:
    page = visitor.open(f"attention{LINK}")
    assert held(page) == EXAMPLE
    go(visitor, "The head that turns")
    assert held(page) == EXAMPLE
    visitor.type("Source text", "1 2 3")
    changed = {**EXAMPLE, "source": "1 2 3"}
    page.go_back()
    page.get_by_role("heading", name="Attention", level=1).wait_for()
    visitor.settle()
    assert held(page) == EXAMPLE  # the view that was left is the view one comes back to
    page.go_forward()
    page.get_by_role("heading", name="The head that turns", level=1).wait_for()
    visitor.settle()
    assert held(page) == changed
    page.reload()
    page.locator("h1").first.wait_for()
    visitor.settle()
    assert held(page) == changed


@pytest.mark.browser
def test_state_survives_the_links_at_the_foot(visitor: Visitor) -> None:
    page = visitor.open(f"attention{LINK}&kind=cross")
    foot = page.locator(".st-key-foot")
    foot.get_by_role("link").first.click()
    visitor.settle()
    assert "/attention" not in page.url
    assert held(page) == EXAMPLE
    assert all(value.replace(" ", "+") in page.url for value in EXAMPLE.values())


@pytest.mark.browser
def test_back_and_forward_lead_to_pages_as_they_were_left(visitor: Visitor) -> None:
    """What was chosen on a page is part of how it was left, whichever link led away."""
    page = visitor.open("masks?model=reverse&source=torch")
    visitor.choose("three conventions", "three conventions")
    seen = [page.url]
    go(visitor, "Attention")
    visitor.choose("cross", "cross")
    seen.append(page.url)
    page.get_by_test_id("stMain").get_by_role("link", name="Layers").last.click()  # the next stop of the tour
    page.get_by_role("heading", name="Layers", level=1).wait_for()
    visitor.settle()
    page.keyboard.press("ArrowRight")
    visitor.settle()
    seen.append(page.url)
    assert [url.rpartition("/")[2].partition("?")[0] for url in seen] == ["masks", "attention", "layers"]
    assert "mask_part=three+conventions" in seen[0]
    assert "kind=cross" in seen[1]
    assert "stop=" in seen[2]
    titles = ("Masks", "Attention", "Layers")
    for before, at in pairwise((2, 1, 0, 1, 2)):
        page.go_back() if at < before else page.go_forward()
        page.get_by_role("heading", name=titles[at], level=1).wait_for()
        visitor.settle()
        assert page.url == seen[at]
    page.go_back()
    page.get_by_role("heading", name="Cross-attention, layer 1, head 1").wait_for()


@pytest.mark.browser
def test_an_address_that_was_typed_is_no_link(visitor: Visitor) -> None:
    page = visitor.open(
        "tokens?source=http%3A%2F%2Fa.example+HTTPS%3A%2F%2Fb.example+WWW.c.example+d%40e.example&target=www.f.example"
    )
    assert page.get_by_text("a.example").count() > 0
    assert page.locator('a[href*="example"]').count() == 0


@pytest.mark.browser
def test_how_it_is_computed_is_open_on_the_pages_where_it_was_opened(visitor: Visitor) -> None:
    page = visitor.open("positions?positions_computed=true")
    go(visitor, "Masks")
    assert page.locator("details[open] pre").count() == 0
    page.get_by_text("How it is computed").click()
    visitor.settle()
    seen = page.url
    assert seen.endswith("masks?masks_computed=true")
    page.go_back()
    page.get_by_role("heading", name="Positions", level=1).wait_for()
    visitor.settle()
    assert page.url.endswith("positions?positions_computed=true")
    assert page.locator("details[open] pre").count() > 0
    page.go_forward()
    page.get_by_role("heading", name="Masks", level=1).wait_for()
    visitor.settle()
    assert page.url == seen
    assert page.locator("details[open] pre").count() > 0


@pytest.mark.browser
def test_sizes_and_model_survive_going_back_after_they_were_changed(visitor: Visitor) -> None:
    page = visitor.open("attention?model=own+sizes&n_heads=2&n_layers=1&source=big+cat")
    assert page.get_by_role("heading", name="1 layers × 2 heads").is_visible()
    go(visitor, "The head that turns")
    assert page.get_by_label("heads", exact=True).input_value() == "2"
    page.get_by_test_id("stSidebar").get_by_role("combobox").first.click()
    page.get_by_role("option", name="reverse", exact=True).click()
    visitor.settle()
    assert held(page) == {"model": "reverse", "source": "headlight", "target": "", "batch": "", "batch_targets": ""}
    page.go_back()
    page.get_by_role("heading", name="Attention", level=1).wait_for()
    visitor.settle()
    assert held(page)["model"] == "own sizes"
    assert held(page)["source"] == "big cat"
    assert page.get_by_label("heads", exact=True).input_value() == "2"
    assert page.get_by_role("heading", name="1 layers × 2 heads").is_visible()


@pytest.mark.browser
def test_a_cold_server_opens_the_link_at_once(browser: Browser) -> None:
    with serving(ROOT / "app.py") as url:
        visitor = Visitor(browser, url)
        page = visitor.open(f"attention{LINK}&kind=cross&layer=6&head=8")
        assert held(page) == EXAMPLE
        assert page.get_by_role("heading", name="Cross-attention, layer 6, head 8").is_visible()
        assert visitor.ticks(0, "x") == EXAMPLE["source"].split()
        assert page.get_by_text("untrained").first.is_visible()
        visitor.context.close()
        assert visitor.complaints == []
