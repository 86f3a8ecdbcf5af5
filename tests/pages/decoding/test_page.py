"""The page on which an answer is written token by token has the numbers of the library."""

import json
import re
from itertools import combinations
from urllib.parse import parse_qs

import numpy as np
import pytest
from playwright.sync_api import expect
from streamlit.testing.v1 import AppTest

from pages.decoding.answer_steps import Run, as_json, player_steps, reason, table
from pages.decoding.beam import tree_table
from pages.decoding.decoding_settings import Settings, generated
from pages.lessons.content.library import shipped
from pages.shell.view.runs import runs
from pages.ui.caches import RESULTS
from pages.ui.escaping import quoted
from pages.ui.format import fixed
from pages.ui.text import text
from tests.pages.apps import charts, on_page, shown, shown_errors
from tests.pages.decoding.answers import CHOICES, example, player
from tests.pages.visitor import Visitor
from transformer import Pipeline
from transformer.figures.attention_figures import LEVELS
from transformer.figures.decoding_figures import percent
from transformer.pipeline.decoding.generation import Generation
from transformer.pipeline.decoding.logits_processors import LogitsProcessor, Temperature, TopK
from transformer.pipeline.decoding.methods import Beam, Greedy, Hypothesis, Method, Sample
from transformer.tracing.interventions import Ablate

PAGE = "pages/decoding/page.py"


def check(app: AppTest) -> AppTest:
    assert not app.exception
    assert not app.error
    return app


@pytest.mark.parametrize("query", [{}, {"method": "beam"}, {"force": "1: mat"}])
def test_an_untrained_model_says_the_share_of_the_bar_beside_its_own(query: dict[str, str]) -> None:
    sizes = {"n_layers": "3", "n_heads": "2", "d_model": "24"}
    sent = player(check(on_page(PAGE, model="own-sizes", source="the cat sat on the mat", **sizes, **query)))
    for step in sent["steps"]:
        (chosen,) = [bar for bar in step["bars"] if bar["chosen"]]
        own, allowed = percent(chosen["own"]), percent(chosen["share"])
        assert own != allowed
        assert f"{own} ({allowed} without special tokens)" in step["why"]
    assert sent["text"]["bars"] == text("decoding")["player_allowed"]["bars"]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["english-french", "reverse", "addition"])
@pytest.mark.parametrize(("query", "method", "logits_processors"), CHOICES, ids=["greedy", "hot", "order", "three", "beam"])
def test_a_link_shows_what_the_library_writes(
    model: str, query: dict[str, str], method: Method, logits_processors: tuple[LogitsProcessor, ...]
) -> None:
    app = check(on_page(PAGE, model=model, source=example(model), **query))
    pipeline = Pipeline.load(model)
    expected = Generation.of(pipeline.generate(example(model), method, logits_processors))
    chain, steps = expected.chain(expected.best), player(app)["steps"]
    assert [step["token"] for step in steps] == list(pipeline.target_vocabulary.tokens_of(made.token for made in chain))
    told = [markdown.value for markdown in app.markdown if markdown.value.startswith("With these settings the model writes")]
    assert len(told) == (method != Greedy())
    assert all(f"**{quoted(pipeline.target_vocabulary.text_of(expected.ids()))}**" in sentence for sentence in told)
    for made, step in zip(chain, steps, strict=True):
        own = expected.steps[made.step].own.probabilities[made.row]
        last = expected.steps[made.step].stages[-1].probabilities[made.row]
        for bar in step["bars"]:
            (token,) = pipeline.target_vocabulary.ids([bar["token"]])
            assert bar["own"] == pytest.approx(float(own[token]), abs=1e-5)
            assert bar["share"] == pytest.approx(float(last[token]), abs=1e-5)
            assert bar["chosen"] == (token == made.token)
        assert sum(bar["share"] for bar in step["bars"]) + step["rest"]["share"] == pytest.approx(1, abs=2e-4)
        cross = expected.steps[made.step].attention("cross", made.row)[-1].mean(0)
        assert np.array(step["cross"]) / LEVELS == pytest.approx(cross.numpy(), abs=0.5 / LEVELS + 1e-6)
        own_attention = expected.steps[made.step].attention("decoder", made.row)[-1].mean(0)
        assert step["self"] == pytest.approx(own_attention.tolist(), abs=1e-5)
        assert len(step["self"]) == len(step["read"]) == made.step + 1


def test_a_vocabulary_whose_tokens_all_have_a_bar_has_no_bar_for_others() -> None:
    app = on_page(PAGE, model="own-sizes", source="cat", part="probabilities")
    assert all(len(step["bars"]) == 5 and step["rest"] is None for step in player(app)["steps"])
    (stages,) = [chart.spec["data"] for chart in charts(app) if chart.key == "stages"]
    assert all(len(panel["y"]) == 5 for panel in stages)
    assert text("decoding")["stages_allowed"] in [caption.value for caption in app.caption]


@pytest.mark.slow
def test_the_same_link_draws_the_same_answer_and_another_seed_another_answer() -> None:
    query = {"model": "english-french", "method": "sampling", "controls": "temperature", "temperature": "3"}
    answers = [[step["token"] for step in player(on_page(PAGE, **query, seed=seed))["steps"]] for seed in ("1", "1", "2")]
    assert answers[0] == answers[1] != answers[2]


def test_the_link_contains_the_step_and_the_head_that_is_shown() -> None:
    app = check(on_page(PAGE, model="reverse", source="abc", step="2", shown_layer="1", shown_head="2"))
    data = player(app)
    assert data["step"] == 1
    step = Generation.of(Pipeline.load("reverse").generate("abc")).steps[1]
    assert data["steps"][1]["cross"] == np.rint(LEVELS * step.attention("cross")[0, 1].numpy()).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("model", ["shared_heads", "vanilla"])
def test_a_model_that_never_ends_is_stopped_and_the_page_says_so(model: str) -> None:
    app = check(on_page(PAGE, model=model, source="1 5 6 4", target=""))
    assert [warning.value for warning in app.warning] == ["The model did not end its answer. It was stopped after token 4."]
    assert player(app)["steps"][-1]["why"].endswith("There is no room for it: the answer is stopped after token 4.")


def test_the_page_says_only_once_that_a_trained_model_was_stopped() -> None:
    app = check(on_page(PAGE, model="copy", source="a" * 19))
    assert sum("not ended by the model" in line.value for line in app.main.markdown) == 1
    assert not app.warning


def test_forced_tokens_show_both_answers_and_their_first_difference_and_each_can_be_removed() -> None:
    app = check(on_page(PAGE, model="reverse", source="abcd", force="2 z, 4 y"))
    pipeline = Pipeline.load("reverse")
    second, fourth = pipeline.target_vocabulary.ids(["z", "y"])
    free, forced = (Generation.of(pipeline.generate("abcd", forced=given)) for given in (None, {1: second, 3: fourth}))
    boxes = [shown(markdown.value).replace("**", "") for markdown in app.markdown]
    for answer in (free, forced):
        assert " · ".join(pipeline.target_vocabulary.tokens_of(answer.ids())) in boxes
    steps = player(app)["steps"]
    assert [step["token"] for step in steps] == list(pipeline.target_vocabulary.tokens_of(made.token for made in chain(forced)))
    assert [index for index, step in enumerate(steps) if " was forced. " in step["why"]] == [1, 3]
    (parts,) = [shown(caption.value) for caption in app.caption if "They part at step 2." in caption.value]
    for step, token in ((1, second), (3, fourth)):
        assert f" at step {step + 1} {percent(float(forced.steps[step].own.probabilities[0, token]))}" in parts
    app.segmented_control(key="shown").set_value("answer").run()
    assert [step["token"] for step in player(check(app))["steps"]][1] != "z"
    app.button(key="undo 1").click().run()
    assert app.query_params["force"] == "4 y"
    assert not [button for button in check(app).button if button.key == "undo 1"]
    app.button(key="undo 3").click().run()
    assert "force" not in check(app).query_params


def chain(generation: Generation) -> tuple[Hypothesis, ...]:
    return generation.chain(generation.best)


def test_edits_are_active_while_the_model_writes_and_their_list_is_shown() -> None:
    app = check(on_page(PAGE, model="reverse", source="abcd", part="branch"))
    assert not [each for each in app.multiselect if each.key == "edits"]
    app.button(key="edit silence cross layer 2").click().run()
    assert check(app).multiselect(key="edits").value == ["silence cross layer 2"]
    pipeline, edit = Pipeline.load("reverse"), Ablate("decoder.layers.1.cross_attention.weights")
    plain, edited = (Generation.of(pipeline.generate("abcd", edits=edits)) for edits in ((), (edit,)))
    assert plain.ids() != edited.ids()
    assert [step["token"] for step in player(app)["steps"]] == list(
        pipeline.target_vocabulary.tokens_of(made.token for made in chain(edited))
    )
    for step, made in zip(player(app)["steps"], chain(edited), strict=True):
        assert step["bars"][0]["own"] == pytest.approx(float(edited.steps[made.step].own.probabilities.max()), abs=1e-4)
    boxes = [shown(markdown.value).replace("**", "") for markdown in app.markdown]
    for answer in (plain, edited):
        assert (" · ".join(pipeline.target_vocabulary.tokens_of(answer.ids())) or "–") in boxes
    # The link from the what-if view of the Attention page; then a phrase that names a missing place.
    two = ("no positions", "silence cross layer 2")
    app = check(on_page("pages/attention/page.py", model="reverse", source="abcd", part="what-if", edits=two))
    (link,) = [each.proto.url for each in app.main.get("link_button") if each.proto.url.startswith("decoding?")]
    query = parse_qs(link.partition("?")[2])
    assert query == {"model": ["reverse"], "source": ["abcd"], "edits": [*two]}
    app = check(on_page(PAGE, model="reverse", source="abcd", edits=tuple(query["edits"])))
    assert app.multiselect(key="edits").value == [*two]
    app = on_page(PAGE, model="reverse", source="abcd", edits="block cross layer 1 query 99 key 99")
    assert "There is no key 99" in shown_errors(app)


@pytest.mark.parametrize(
    ("force", "problem"),
    [
        ("99 a", "“99 a” must start with a step, a number from 1 to 5; then a space and a token."),
        ("a", "“a” must start with a step, a number from 1 to 5; then a space and a token."),
        ("1 ab", "“ab” is no token of this model's output."),
        ("2", "“2” must start with a step, a number from 1 to 5; then a space and a token."),
        ("1 a, 1 b", "“1 b” is left out: step 1 already has “1 a”."),
        ("5 a, 7 b", "“7 b” must start with a step, a number from 1 to 6; then a space and a token."),
        (f"1 {'long' * 100}", f"“{'long' * 19}lo” is no token of this model's output."),
    ],
)
def test_the_page_explains_why_a_phrase_cannot_be_forced(force: str, problem: str) -> None:
    app = check(on_page(PAGE, model="reverse", source="abcd", force=force))
    assert [shown(warning.value).partition(" Closest")[0] for warning in app.warning] == [problem]


def test_every_phrase_without_a_step_names_the_same_steps() -> None:
    app = check(on_page(PAGE, model="reverse", source="abcd", force="0 c, 5 a, 7 b"))
    says = "“{}” must start with a step, a number from 1 to 6; then a space and a token."
    assert [shown(warning.value) for warning in app.warning] == [says.format("0 c"), says.format("7 b")]


def test_several_forced_tokens_need_only_one_answer_besides_the_plain_one() -> None:
    source = "onlyhere"  # in no other test, so no answer to it is in the cache
    check(on_page(PAGE, model="reverse", source=source, force="1 x, 2 z, 4 y"))
    ids = Pipeline.load("reverse").target_vocabulary.ids("xzy")
    forced = tuple(zip((0, 1, 3), ids, strict=True))
    subsets = [subset for count in range(len(forced) + 1) for subset in combinations(forced, count)]
    written = [subset for subset in subsets if RESULTS.has(generated, "reverse", source, Settings(Greedy(), forced=subset))]
    assert written == [(), forced]


def test_the_check_sum_of_the_contributions_is_the_logit() -> None:
    app = check(on_page(PAGE, model="english-french", step="3", part="lens"))
    run = Generation.of(Pipeline.load("english-french").generate(app.text_area(key="source").value))
    made = run.chain(run.best)[2]
    logit = float(run.steps[2].own.logits[0, made.token])
    (sentence,) = [markdown.value for markdown in app.markdown if markdown.value.startswith("Check: all")]
    total, own, _ = [part.partition("**")[0] for part in sentence.split("**")[1::2]] + [""]
    assert float(total.replace("−", "-")) == pytest.approx(logit, abs=2e-4)
    assert float(own.replace("−", "-")) == pytest.approx(logit, abs=1e-4)


def test_teacher_forcing_reads_the_typed_target_or_the_right_answer() -> None:
    app = check(on_page(PAGE, model="reverse", source="abc", part="taught"))
    assert any(caption.value == "Both are the same." for caption in app.caption)
    app = check(on_page(PAGE, model="reverse", source="abc", target="cxa", part="taught"))
    assert any(caption.value.startswith("They part at step 2. Bold:") for caption in app.caption)


def run_of(model: str, source: str, settings: Settings) -> Run:
    return Run(runs().pipeline(model), runs().encoding(model, "source", source), generated(model, source, settings), settings)


def test_the_table_and_the_json_contain_the_steps() -> None:
    run = run_of("reverse", "abc", Settings(Sample(3), (Temperature(2.0),)))
    frame, data = table(run), json.loads(as_json(run, "abc"))
    assert list(frame["token"]) == list(run.tokens) == [step["token"] for step in data["steps"]]
    for made, (_, row), step in zip(run.chain, frame.iterrows(), data["steps"], strict=True):
        distributions = run.distributions(made)
        assert row["probability"] == step["probability"] == pytest.approx(distributions[0][made.token])
        assert row["probability_after_controls"] == pytest.approx(distributions[-1][made.token])
        assert row["total_log_probability"] == pytest.approx(made.total)
        assert step["top"][0]["probability"] == pytest.approx(distributions[0].max())
    assert (data["model"], data["controls"]) == ("reverse", ["Temperature(value=2.0)"])
    assert data["edits"] == []


def test_the_json_names_the_edits_with_which_the_steps_were_written() -> None:
    edit = Ablate("decoder.layers.0.cross_attention.weights", heads=(0,))
    data = json.loads(as_json(run_of("reverse", "abc", Settings(Greedy(), edits=(edit,))), "abc"))
    assert data["edits"] == [repr(edit)]


def test_a_low_temperature_does_not_cut_off_tokens() -> None:
    run = run_of("reverse", "abc", Settings(Sample(3), (Temperature(0.05),)))
    made, (step, *_) = run.chain[0], player_steps(run, 1, None)
    assert all(0 < bar["share"] < 1e-12 for bar in step["bars"] if not bar["chosen"])
    assert run.distributions(made)[1].min() > 0
    assert f"{len(run.own(made))} tokens are left to draw from" in reason(run, made)


def test_the_random_number_of_a_draw_lies_in_the_share_of_the_drawn_token() -> None:
    drawn = 0
    for seed in range(8):
        run = run_of("reverse", "abc", Settings(Sample(seed), (Temperature(3.0),)))
        for made in run.chain:
            said = re.search(r"reaches from (\S+) to (\S+); the random number was (\d\.\d+)\.", reason(run, made))
            assert said
            low, high, at = map(float, said.groups())
            assert low <= at <= high
            assert high - low == pytest.approx(run.distributions(made)[-1][made.token], abs=1.1e-4)
            drawn += run.rank(made) > 1
    assert drawn > 8  # not only the most probable tokens


def test_the_table_of_the_tree_has_every_hypothesis() -> None:
    run = run_of("reverse", "abc", Settings(Beam(2, 1.0)))
    frame = tree_table(run)
    assert list(frame.index) == [made.number for made in run.generation.hypotheses]
    for made, row in zip(run.generation.hypotheses, frame.to_dict("records"), strict=True):
        assert (row["parent"], row["step"], row["token"]) == (made.parent, made.step + 1, run.tokens_of([made.token])[0])
        assert (row["total"], row["score"]) == (made.total, made.score)
    pruned = frame["pruned_at"].dropna()
    assert {number: step + 1 for number, step in run.generation.pruned.items()} == pruned.to_dict()


@pytest.mark.parametrize("method", [Greedy(), Sample(2), Beam(8)])
def test_the_reason_names_the_token_and_the_probability_of_the_step(method: Method) -> None:
    run = run_of("reverse", "headlight", Settings(method, (Temperature(3.0), TopK(3)) if isinstance(method, Sample) else ()))
    for made, token in zip(run.chain, run.tokens, strict=True):
        sentence = reason(run, made)
        share = percent(run.own(made)[made.token])
        assert sentence.startswith(f"“{token}” is ")
        assert share in sentence
        if isinstance(method, Sample):
            assert "3 tokens are left to draw from" in sentence
    forced = run_of("reverse", "headlight", Settings(method, forced=((1, 9),)))
    assert reason(forced, forced.chain[1]).startswith(f"“{forced.tokens[1]}” was forced. The model gave it ")


def test_a_picked_head_links_to_the_question_about_the_row_of_the_step() -> None:
    def asks(**query: str) -> list[str]:
        app = check(on_page(PAGE, model="reverse", source="abc", step="2", **query))
        return [each.proto.url for each in app.main.get("link_button") if each.proto.url.startswith("attention?")]

    head = {"shown_layer": "1", "shown_head": "4"}
    # Row 1, counted from 0, writes step 2: the decoder has read the start token and one more token.
    assert asks(**head) == ["attention?model=reverse&source=abc&kind=cross&layer=1&head=4&predict=attention.1%3A"]
    assert asks() == asks(**head, method="beam") == []


@pytest.mark.parametrize(
    ("method", "told"), [("greedy", "greedy writes the same"), ("beam", "own probabilities"), ("sampling", "")]
)
def test_a_caption_below_the_player_says_which_method_the_logits_processors_belong_to(method: str, told: str) -> None:
    app = check(on_page("pages/decoding/page.py", model="reverse", source="ab", method=method))
    said = [caption.value for caption in app.caption if "belong to *sampling*" in caption.value]
    assert len(said) == bool(told)
    assert all(told in each for each in said)


# --- in a browser -----------------------------------------------------------------------------------------------------


# A component's picture as an SVG.
DRAWN = """(root) => {
    const event = new CustomEvent("picture", { detail: { svg: "" } });
    root.dispatchEvent(event);
    return event.detail.svg;
}"""


@pytest.mark.browser
def test_the_player_steps_with_keys_and_plays(visitor: Visitor) -> None:
    page = visitor.open("decoding?model=reverse&source=abcd")
    run = run_of("reverse", "abcd", Settings(Greedy()))
    root = page.locator(".player")
    assert root.locator("output").text_content() == "step 1 of 5"
    assert root.locator(".newest").text_content() == run.tokens[0]
    page.get_by_label("Step", exact=True).focus()
    page.keyboard.press("ArrowRight")
    assert root.locator("output").text_content() == "step 2 of 5"
    assert root.locator(".newest").text_content() == run.tokens[1]
    assert root.locator(".rows span").all_text_contents() == list(run.tokens[:2])
    # The saved picture has the boxes too: of each token that was read, of the one that is written now, and of each bar.
    picture = root.evaluate(DRAWN)
    boxes = root.locator(".chip, .track, .track i").count()
    assert picture.count("<rect") == boxes + 1  # and the ground
    assert picture.count('stroke-width="2px"') == 1
    assert "color(srgb" not in picture
    page.keyboard.press("End")
    visitor.settle()
    page.wait_for_url("**step=5**")
    page.get_by_role("heading", name="Step 5: from the model's probabilities to the choice").wait_for()
    root.get_by_role("button", name="Play").click()
    root.locator("output", has_text="step 2 of 5").wait_for()
    page.get_by_label("Step", exact=True).press(" ")
    root.get_by_role("button", name="Play").wait_for()
    visitor.settle()
    # The focus stays on the third bar: when the step changes, and after the bar's token was forced.
    bar = root.locator(".bars button").nth(2)
    bar.focus()
    page.keyboard.press("Home")
    expect(bar).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**force=*")
    visitor.settle()
    expect(root.locator(".why")).to_contain_text("was forced")
    expect(bar).to_be_focused()


@pytest.mark.slow
@pytest.mark.browser
def test_on_a_projector_a_clicker_reaches_the_player_and_its_alignment_is_large(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 1024, "height": 768})
    page = visitor.open("decoding?model=reverse&source=abc&present=1")
    page.keyboard.press("PageDown")
    expect(page.locator(".player .bars li").last).to_be_in_viewport()
    canvas, columns = page.locator(".player canvas").bounding_box(), page.locator(".player .columns span").count()
    assert canvas
    assert canvas["width"] / columns > 30


def test_the_rows_of_a_decoder_link_to_the_steps_that_they_wrote() -> None:
    said = text("attention")["rows_wrote"].partition("{links}")[0]
    app = check(on_page("pages/attention/page.py", model="reverse", source="ab", kind="cross"))
    (listed,) = [caption.value for caption in app.caption if said in caption.value]
    for step, token in enumerate(["b", "a", "\\<eos\\>"], start=1):
        assert f"[{token}](decoding?model=reverse&source=ab&step={step})" in listed
    app = check(on_page("pages/attention/page.py", model="reverse", source="ab", kind="encoder"))
    assert not [caption.value for caption in app.caption if said in caption.value]


@pytest.mark.slow
@pytest.mark.browser
def test_a_token_of_the_answer_on_home_links_to_its_step(visitor: Visitor) -> None:
    page = visitor.open("?model=reverse&source=abc", whole=True)
    page.locator(".map a.chip").nth(1).click()
    page.get_by_role("heading", name="Watch it write").wait_for()
    visitor.settle()
    assert page.locator(".player output").text_content() == "step 2 of 4"
    assert page.get_by_label("Source text", exact=True).input_value() == "abc"


@pytest.mark.parametrize(
    ("model", "source", "force", "told"),
    [
        ("reverse", "abcd", "", "is about what was asked for"),
        ("reverse", "abcd", "1 z", "the model does not take “z” for right: its most probable token is “d” with 9"),
        ("english-french", "the zorglub sleeps .", "", "the model is less sure of “le” than training asks for"),
    ],
)
def test_the_probability_of_a_token_is_compared_with_its_target_in_training(
    model: str, source: str, force: str, told: str
) -> None:
    app = check(on_page(PAGE, model=model, source=source, force=force, part="taught"))
    assert told in " ".join(shown(caption.value) for caption in app.caption)


def test_the_bar_of_all_other_tokens_is_cut_off_only_if_each_of_them_is() -> None:
    # In floating point, the sum over the ten tokens that are left is a little less than 1.
    query = {"method": "sampling", "controls": "temperature,top-k", "temperature": "2"}
    for top_k, left in (("5", False), ("20", True)):
        steps = player(check(on_page(PAGE, model="english-french", top_k=top_k, **query)))["steps"]
        assert {step["rest"]["share"] > 0 for step in steps} == {left}


def test_the_page_says_that_logits_processors_leave_one_token_or_have_no_effect() -> None:
    query = {"method": "sampling", "controls": "temperature,top-k", "temperature": "0", "draws": "true"}
    app = check(on_page(PAGE, model="reverse", source="abcd", **query))
    captions = " ".join(shown(caption.value) for caption in app.caption)
    assert "Without effect at this step: top-k 5." in captions
    assert "One token is left, “d”, so every draw gives it." in captions
    assert player(app)["steps"][0]["why"].startswith("“d” is the only token that the controls leave (9")


def test_for_the_sentence_that_the_text_names_a_beam_writes_better_than_greedy() -> None:
    (source,) = re.findall(r"such as `(.+?)`, and choose \*beam\* with width 4", text("decoding")["next_text"])
    greedy, beam = (Generation.of(Pipeline.load("english-french").generate(source, method)) for method in (Greedy(), Beam(4)))
    assert greedy.ids() != beam.ids()
    assert beam.best.total > greedy.best.total + 0.5


def test_with_greedy_decoding_the_page_says_what_a_temperature_would_do() -> None:
    app = check(on_page(PAGE, model="reverse", source="headlight", step="3"))
    step = Generation.of(Pipeline.load("reverse").generate("headlight")).steps[2]
    logits = step.own.logits[0]
    told = next(shown(markdown.value) for markdown in app.markdown if "temperature* would do here" in markdown.value)
    shares = [percent(float((logits / temperature).softmax(-1).max())) for temperature in (2.0, 1.0, 0.5)]
    assert all(f" {share}" in told for share in shares)
    assert len(set(shares)) == 3
    (token,) = Pipeline.load("reverse").target_vocabulary.tokens_of([int(logits.argmax())])
    assert f"At 2.0, {token} would have {shares[0]} instead of {shares[1]}, and at 0.5 it would have {shares[2]}." in told


@pytest.mark.slow
def test_a_higher_temperature_makes_the_first_token_less_probable_and_changes_what_is_drawn_in_the_lessons() -> None:
    """No filter is active until one is picked."""
    stops = [stop for lesson in shipped().values() for stop in lesson.stops if "temperature" in f"{stop.say} {stop.reveal}"]
    sources = {dict(stop.view)["source"] for stop in stops if stop.page == "decoding"}
    assert len(sources) > 1
    for source in sources:
        query = {"model": "english-french", "source": source, "method": "sampling"}
        steps = {temperature: player(check(on_page(PAGE, **query, temperature=temperature)))["steps"] for temperature in "0123"}
        assert len({tuple(step["token"] for step in written) for written in steps.values()}) >= 3
        shares = [max(bar["share"] for bar in written[0]["bars"]) for written in steps.values()]
        assert shares == sorted(shares, reverse=True)
        assert shares[1] - shares[2] > 0.5


def test_without_a_length_penalty_the_page_says_that_short_answers_have_an_advantage() -> None:
    for penalty, expected in (("0", "penalty_none"), ("0.5", "penalty_same")):
        app = check(on_page(PAGE, model="reverse", source="abc", method="beam", penalty=penalty))
        assert any(text("decoding")[expected].format(penalty=penalty) == caption.value for caption in app.caption)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "penalty"), [("reverse", 1.0), ("english-french-redundant@000196", 1.0)])
def test_the_effect_of_the_length_penalty_is_the_difference_from_the_beam_without_it(model: str, penalty: float) -> None:
    """The half-trained model ends its best short answer early, and the penalty prunes this answer before the end."""
    source = example(model)
    app = check(on_page(PAGE, model=model, source=source, method="beam", width="8", penalty=str(penalty)))
    beam, plain = (Generation.of(Pipeline.load(model).generate(source, Beam(8, each))) for each in (penalty, 0.0))
    told = next(shown(caption.value) for caption in app.caption if caption.value.startswith("The length penalty of 1.0"))
    if beam.ids() == plain.ids():
        assert "changes nothing here" in told
    else:
        tokens = " · ".join(Pipeline.load(model).target_vocabulary.tokens_of(plain.ids())) or "–"
        sums = (fixed(each.best.total, 3) for each in (plain, beam))
        expected = "without it, this beam writes {}. The sum of that is {}; the sum of the answer is {}."
        assert expected.format(tokens, *sums) in told


def test_the_table_of_the_beam_lists_each_answer_once_with_the_tokens_that_it_shows() -> None:
    """The answers of this model do not end; a token beyond the last allowed one is in none of them."""
    sizes = {"n_layers": "1", "n_heads": "1", "d_model": "8", "d_ff": "8"}
    app = check(on_page(PAGE, model="own-sizes", source="a b", method="beam", width="4", part="beam", **sizes))
    words, table = text("decoding"), app.dataframe[0].value
    assert not table[words["ended"]].any()
    assert table[words["answer"]].is_unique
    assert [len(answer.split()) for answer in table[words["answer"]]] == table[words["tokens"]].tolist()


@pytest.mark.slow
def test_the_table_of_the_beam_marks_the_answers_below_the_limit_of_doubt() -> None:
    """“Le magasin indique neuf heures.” is wrong, “Où est la gare ?” is right."""
    words = text("decoding")
    for source, unsure in {"The shop opens at nine.": True, "Where is the station?": False}.items():
        table = on_page(PAGE, model="everyday", source=source, method="beam", part="beam").main.dataframe[0].value
        assert table[words["unsure"]][0] == unsure
        np.testing.assert_allclose(table[words["mean"]], table[words["total"]] / table[words["tokens"]], atol=1e-3)


def test_an_empty_box_for_the_seed_is_its_first_seed() -> None:
    app = check(on_page(PAGE, model="reverse", source="abcdef", method="sampling", temperature="3", seed="0"))
    app.number_input(key="seed").set_value(None).run()
    assert "seed" not in check(app).query_params
    assert player(app)["steps"] == player(on_page(PAGE, **app.query_params))["steps"]


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("method", ["greedy", "sampling", "beam"])
def test_the_page_does_not_say_that_a_forced_token_was_chosen(method: str) -> None:
    query = {"method": method, "temperature": "2.5", "top_k": "20", "draws": "true", "force": "2 z", "part": "probabilities"}
    for step, forced in (("1", False), ("2", True)):
        app = check(on_page(PAGE, model="reverse", source="headlight", step=step, **query))
        told = " ".join(each.value for each in (*app.markdown, *app.caption))
        assert ("At this step no token was chosen: it was forced." in told) == forced
        assert ("which would stand here if no token were forced" in told) == (forced and method == "sampling")
        assert ("which was written. With 100 draws" in told) == (not forced and method == "sampling")


def test_if_no_right_answer_is_known_the_page_asks_for_a_target() -> None:
    """The model's task has right answers, but not for this text."""
    source = "it was too tired because the street did not cross the animal"
    for query in ({}, {"target": "il dort"}):
        app = check(on_page(PAGE, model="english-french", source=source, part="taught", **query))
        assert any("The right answer to this text is not known." in info.value for info in app.info) == (not query)


def test_descriptions_of_charts_quote_a_text_as_typed() -> None:
    app = check(on_page(PAGE, source="the cat sleeps .", part="taught"))
    told = [chart.alt for chart in charts(app)]
    assert any("of the target le chat dort . under" in alt for alt in told)
    assert not any("\\" in alt for alt in told)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "trained"), [("vanilla", False), ("reverse", True)])
def test_the_part_on_teaching_says_first_whether_the_model_was_trained(model: str, trained: bool) -> None:
    app = check(on_page(PAGE, model=model, source="abc", part="taught"))
    captions = [caption.value for caption in app.caption]
    assert (text("decoding")["parts"]["taught"] in captions) == trained
    assert (text("decoding")["taught_untrained"] in captions) != trained
