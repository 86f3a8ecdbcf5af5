"""The Patching page, tested without a browser."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.patching.pairs import SEED
from pages.shell.view.background import BACKGROUND
from pages.ui.format import fixed
from pages.ui.text import text
from tests.pages.apps import charts, on_page, shown, shown_errors
from transformer import Pipeline
from transformer.patching import average_needs, needs, pairs_of_task, patch_everywhere, run_pair

PAGE = "pages/patching/page.py"
TIRED = "the animal did not cross the street because it was too tired"
WIDE = "the animal did not cross the street because it was too wide"
FIELDS = ("direction", "what", "tokens", "steps")


def page(**query: str) -> AppTest:
    app = on_page(PAGE, 90, **{"model": "english-french", **query})
    assert not app.exception, app.exception
    return app


def lines(app: AppTest) -> str:
    return "\n".join(shown(each.value) for each in [*app.markdown, *app.caption, *app.info, *app.warning])


def test_the_page_opens_on_two_sentences_that_differ_in_one_word() -> None:
    app = page()
    assert shown_errors(app) == ""
    pipeline = Pipeline.load("english-french")
    pair = run_pair(pipeline, TIRED, WIDE)
    assert app.selectbox(key="step").value == pair.row + 1
    *_, patched = patch_everywhere(pair)
    corrupt, clean = patched.ends["logit"]
    says = lines(app)
    assert f"is **{clean:.2f}** in A and **{corrupt:.2f}** in B".replace("-", "−") in says
    assert TIRED.removesuffix("tired") in says
    assert [each.key for each in charts(app)] == ["patch-map", "patched-run"]
    # The place that moves most is opened, and its row of measures is in the table.
    shares = patched.shares()
    kind = max(shares, key=lambda kind: float(np.abs(shares[kind]).max()))
    layer, head, _ = np.unravel_index(np.abs(shares[kind]).argmax(), shares[kind].shape)
    assert (app.session_state["kind"], app.session_state["layer"], app.session_state["head"]) == (kind, layer + 1, head + 1)


def test_two_words_of_an_untrained_model_are_not_equal_although_their_ids_are() -> None:
    app = page(model="own-sizes", n_layers="1", n_heads="1", d_model="8", d_ff="8", source="a b", b="a c")
    assert text("patching")["equal"] not in [each.value for each in app.info]
    assert charts(app)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["own-sizes", "vanilla"])
def test_an_untrained_model_shows_the_answers_of_the_runs_that_are_measured(model: str) -> None:
    app = page(model=model, source="the cat sat on the mat", n_layers="3", n_heads="2", d_model="24")
    says = lines(app)
    assert text("patching")["both_texts"] in says
    answer = re.search(r"\*\*A\*\* · .* → (.*)", says.replace(":violet[", "").replace("]", ""))
    assert answer, says
    step = app.selectbox(key="step")
    # The label of a step is the token that A's decoder reads and, after it, the token of A's answer.
    names = [option.split(" → ")[-1] for option in step.options]
    assert answer[1].replace("*", "").split() == names[: len(answer[1].split())]


def test_a_trained_model_is_the_same_on_all_pages() -> None:
    assert text("patching")["both_texts"] not in lines(page())


def test_equal_texts_have_nothing_to_patch() -> None:
    app = page(source=TIRED, b=TIRED)
    assert text("patching")["equal"] in [each.value for each in app.info]
    assert shown_errors(app) == ""
    assert not charts(app)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(
    ("what", "titles", "place"),
    [
        ("residual_stream", ["Encoder", "Decoder"], "Encoder L"),
        ("embedding", ["Encoder", "Decoder"], "Encoder, embedding"),
        ("value", ["Encoder self-attention", "Decoder self-attention", "Cross-attention"], "encoder L"),
    ],
)
def test_a_map_is_named_after_the_stack_or_the_attention_of_its_tensors(what: str, titles: list[str], place: str) -> None:
    app = page(what=what, tokens="together", kind="encoder")
    (drawn,) = (chart for chart in charts(app) if chart.key == "patch-map")
    assert [note["text"].removeprefix("<b>").removesuffix("</b>") for note in drawn.spec["layout"]["annotations"]] == titles
    assert f"Framed: {place}" in lines(app)
    assert [each.label for each in app.get("button_group")].count("Layer") == (what != "embedding")


@pytest.mark.slow
def test_a_change_of_output_has_a_scale_from_zero_in_percent() -> None:
    (drawn,) = (chart for chart in charts(page(part="others")) if chart.key == "patch-changes")
    axis = drawn.spec["layout"]["coloraxis"]
    assert axis["cmin"] == 0 < axis["cmax"]
    assert axis["colorbar"]["tickformat"] == ".0%"


@pytest.mark.parametrize("part", ["need", "others", "estimate"])
def test_every_part_is_drawn(part: str) -> None:
    app = page(part=part)
    assert shown_errors(app) == ""
    assert charts(app)


def test_the_place_with_the_worst_estimate_is_named() -> None:
    app = page(part="estimate")
    (dots,) = [chart.spec["data"][1] for chart in charts(app) if chart.key == "estimate-dots"]
    exact, estimated = max(zip(dots["x"], dots["y"], strict=True), key=lambda dot: abs(dot[0] - dot[1]))
    (says,) = [markdown.value for markdown in app.main.markdown if "On the dotted line" in markdown.value]
    assert f"estimated {fixed(estimated, 2)}, patched {fixed(exact, 2)}." in says


def test_an_untrained_model_says_that_special_tokens_count() -> None:
    app = on_page(PAGE, model="vanilla")
    (prefers,) = [markdown.value for markdown in app.main.markdown if "Here both prefer" in markdown.value]
    assert "<eos" in prefers
    assert any("Here they count: “\\<eos\\>”" in caption.value for caption in app.main.caption)
    assert not any("Here they count" in caption.value for caption in page().main.caption)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    "choice",
    [("noise", "weights", "each", "all"), ("denoise", "value", "together", "this"), ("noise", "embedding", "each", "all")],
)
def test_a_link_opens_its_choices(choice: tuple[str, ...]) -> None:
    app = page(**dict(zip(FIELDS, choice, strict=True)))
    assert shown_errors(app) == ""
    assert all(app.session_state[name] == value for name, value in zip(FIELDS[:3], choice[:3], strict=True))


@pytest.mark.slow
def test_the_role_of_the_picked_head_is_said_with_its_numbers() -> None:
    app = page(part="need", kind="decoder", layer="2", head="1")
    pair = run_pair(Pipeline.load("english-french"), TIRED, WIDE)
    *_, denoised = patch_everywhere(pair)
    *_, noised = patch_everywhere(pair, direction="noise")
    found = needs(denoised, noised)
    (says,) = [each.value for each in app.info]
    assert "decoder L2 H1" in says
    assert f"{found.lost['decoder'][1, 0]:.1%}" in says
    assert f"{found.restored['decoder'][1, 0]:.1%}" in says
    assert text("patching")["roles"]["backup"] in says


def test_texts_of_different_lengths_are_refused_in_a_sentence_and_the_menu_stays() -> None:
    app = page(b="the cat sleeps .")
    assert "14" in shown_errors(app)
    assert "6" in shown_errors(app)
    assert not charts(app)


@pytest.mark.parametrize(
    "query",
    [
        {"b_model": "reverse"},
        {"b_edits": "silence cross layer 1 head 2"},
        {"b_target": "le chien dort ."},
        {"b_answer": "true", "target": "le chien dort ."},
    ],
)
def test_only_the_text_of_b_may_differ(query: dict[str, str]) -> None:
    assert "differ in their text only" in shown_errors(page(**query))


def test_a_text_without_a_partner_asks_for_one() -> None:
    app = page(source="hello")
    assert text("patching")["no_second"] in [each.value for each in app.info]
    assert shown_errors(app) == ""


def test_two_texts_with_almost_the_same_answer_have_no_shares() -> None:
    app = page(model="reverse", source="abc", b="abd", step="3")
    assert shown_errors(app) == ""
    assert text("patching")["barely"].partition("(")[0] in lines(app)


def few_pairs(count: int) -> None:
    """The averages on the page, over so few pairs that they are soon measured."""
    from pages.patching.pairs import show_pairs
    from pages.shell.view.patched_runs import Runs
    from pages.shell.view.view import View

    view = View("english-french-static", ("the cat sleeps .",), (None,), "english-french-static")
    show_pairs(Runs(view, view), (count,))


@pytest.mark.slow
def test_averages_are_measured_in_the_background_and_kept() -> None:
    assert list(page(part="pairs").segmented_control(key="pairs").options) == ["100", "300"]
    count = 6
    app = AppTest.from_function(few_pairs, args=(count,), default_timeout=90).run()
    assert not app.exception
    assert not charts(app)
    app.button(key="patch-pairs").click().run()
    assert app.session_state[BACKGROUND]["patch-pairs"].join(60)
    app.run()
    assert shown_errors(app) == ""
    (chart,) = charts(app)
    listed = pairs_of_task("english-french-static", count, SEED)
    *_, found = average_needs(Pipeline.load("english-french-static"), listed)
    dots = {
        name: (x, y)
        for each in chart.spec["data"]
        for x, y, (_, name) in zip(each["x"], each["y"], each.get("customdata", ()), strict=False)
    }
    mean = [of["cross"][0, 2] for of in (found.needs().lost, found.needs().restored)]
    assert dots["cross L1 H3"] == pytest.approx(mean)
    assert all(each["error_x"]["array"] for each in chart.spec["data"] if "customdata" in each)
    # The averages are in the cache now, so they are drawn without a click.
    assert charts(AppTest.from_function(few_pairs, args=(count,), default_timeout=90).run())


@pytest.mark.slow
def test_what_silencing_does_has_the_numbers_of_the_cards() -> None:
    assert not page(model="reverse", source="abc", part="pairs").table
    table = page(part="pairs").table[-1].value
    assert list(table.index) == ["english-french", "english-french-redundant", "english-french-static"]
    cards = [Pipeline.load(name).card.measures["pronouns"] for name in table.index]
    for column, values in {
        "right pronouns": [card["right"] for card in cards],
        "right without it": [card["right_without"] for card in cards],
        "right without that one": [card["needed"]["right_without"] for card in cards],
    }.items():
        shown = [float(value.replace("%", "").strip()) / 100 for value in table[column]]
        assert shown == pytest.approx(values, abs=6e-4)
    assert list(table["the head needed most"]) == ["cross L1 H2", "encoder L1 H2", "cross L1 H3"]


def test_hostile_values_of_a_link_are_ignored() -> None:
    app = page(direction="<b>", what="../..", tokens="each", token="999999", step="-1", metric="x", through="é", part="none")
    assert shown_errors(app) == ""
    assert [each.key for each in charts(app)] == ["patch-map", "patched-run"]


@pytest.mark.parametrize(("target", "said"), [("", "A's answer"), ("il ne dort pas", "the target that you typed")])
def test_what_both_runs_read_is_called_what_it_is(target: str, said: str) -> None:
    app = page(target=target, step="3")
    assert shown_errors(app) == ""
    (goes_on,) = [line for line in lines(app).splitlines() if line.startswith("From this step on")]
    assert said in goes_on
    help = app.selectbox(key="step").help
    assert ("what A writes" in help) == (not target)
    assert ("the target that you typed" in help) == bool(target)
