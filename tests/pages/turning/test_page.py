"""The page of the head that turns."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.shell.models.model_texts import COMPARED, description
from pages.shell.view.pronouns import run_model
from pages.shell.view.runs import runs
from pages.turning.comparison import needed_head
from pages.ui.text import text
from tests.pages.apps import on_page
from tests.pages.visitor import Visitor
from transformer import InputError, Pipeline
from transformer.tasks import find_task

TURNING = "pages/turning/page.py"
SHOWN = "silencea:1~shown,silenceb:0~shown,silencec:~shown"  # the page asks about the effect of silencing before it shows it
A, B = (example.source for example in find_task("english-french").examples[:2])


@pytest.fixture(scope="module")
def app() -> AppTest:
    """The page with an empty text box in the sidebar, because the page must not need this text."""
    app = on_page(TURNING, source="", predict=SHOWN)
    assert not app.exception
    assert not app.error
    return app


def card(name: str) -> dict:
    return Pipeline.load(name).card.measures["pronouns"]


def test_in_two_models_a_head_turns_and_in_one_it_does_not(app: AppTest) -> None:
    shifts = [float(metric.value) for metric in app.metric if metric.label == "Shift on these two sentences"]
    assert len(shifts) == 3
    assert min(shifts[:2]) >= 0.9
    assert shifts[2] <= 0.2


def test_the_table_and_the_metrics_have_the_numbers_of_the_cards(app: AppTest) -> None:
    shifts = [metric.value for metric in app.metric if metric.label.startswith("Mean shift")]
    assert shifts == [f"{card(name)['shift']:.3f}" for name in COMPARED]
    table = app.table[-1].value
    assert list(table.index) == list(COMPARED)
    for column, values in {
        "right pronouns": [card(name)["right"] for name in COMPARED],
        "right without that head": [card(name)["right_without"] for name in COMPARED],
        "right without it": [card(name)["needed"]["right_without"] for name in COMPARED],
    }.items():
        shown = [float(value.replace("%", "").strip()) / 100 for value in table[column]]
        assert shown == pytest.approx(values, abs=6e-4)


def test_silencing_is_tried_on_both_sentences(app: AppTest) -> None:
    for place, name in enumerate(COMPARED):
        table = app.table[place].value
        assert len(table) in (2, 3)
        clean = [runs().answer(name, source, ()).text for source in (A, B)]
        assert [table["a: answer"].iloc[0], table["b: answer"].iloc[0]] == clean
        head = card(name)
        edits = f"cross-attention, layer {head['layer']}, head {head['head']}"
        assert edits in table.index[1]


def test_the_page_first_asks_about_silencing_and_then_judges_the_guess(app: AppTest) -> None:
    said = [markdown.value for markdown in app.markdown if "You said" in markdown.value or "no guess" in markdown.value]
    for name, guess, sentence in zip(COMPARED, (True, False, None), said, strict=True):
        table = app.table[COMPARED.index(name)].value
        letters = [table[f"{letter}: answer"] for letter in "ab"]
        changed = any(answers.iloc[0] != answers.iloc[1] for answers in letters)
        assert ("no guess" in sentence) == (guess is None)
        assert (": right." in sentence) == (guess is not None and guess == changed)
    asked = on_page(TURNING, source="")
    assert not asked.exception
    # Nothing else on the page reveals the answer: neither the averages nor the descriptions of the models.
    assert len(asked.table) == 0
    assert not [metric for metric in asked.metric if "silenced" in metric.label]
    assert not [heading.value for heading in asked.header if "decides" in heading.value]
    for model in COMPARED:
        answer = description(model).rpartition(";")[2]
        shown = [*asked.sidebar.caption, asked.sidebar.selectbox(key="model")]
        assert not [part for part in shown if answer in (getattr(part, "value", "") + getattr(part, "help", ""))]
    # After the question is answered, the sidebar shows the description.
    assert any(description(COMPARED[0]) in caption.value for caption in app.run().sidebar.caption)
    assert "Looking is not deciding" in app.info[0].value
    assert not [info for info in asked.info if "Looking is not deciding" in info.value]
    assert sum("Will one of the two answers change" in markdown.value for markdown in asked.markdown) == 3


def test_without_the_head_that_turns_one_model_guesses_and_the_other_does_not() -> None:
    assert card("english-french")["shift"] >= 0.9
    assert card("english-french")["right_without"] <= 0.6
    assert card("english-french-redundant")["shift"] >= 0.9
    assert card("english-french-redundant")["right_without"] >= 0.9
    assert card("english-french-static")["shift"] <= 0.2


def test_the_head_needed_most_is_searched_over_all_heads() -> None:
    name = "english-french-redundant"
    pipeline = runs().pipeline(name)
    a, b = (run_model(pipeline, name, source) for source in (A, B))
    found = needed_head(name, (a, b))

    def drop(head: tuple[str, int, int]) -> float:
        edits = found._replace(kind=head[0], layer=head[1], head=head[2]).silenced
        total = 0.0
        for run in (a, b):
            (token,) = pipeline.target_vocabulary.ids([run.pronoun])
            silenced = pipeline.trace(run.source, run.answer, edits)
            total += np.log(run.probability) - np.log(float(silenced.probabilities[0, run.row, token]))
        return total

    heads = [(kind, layer, head) for kind in ("encoder", "decoder", "cross") for layer in range(2) for head in range(4)]
    assert max(heads, key=drop) == tuple(found)


def test_two_sentences_that_the_visitor_typed_are_compared() -> None:
    own = {
        "sentence_a": "the dog did not cross the bridge because it was too tired",
        "sentence_b": "the dog did not cross the bridge because it was too long",
    }
    app = on_page(TURNING, **own)
    assert not app.exception
    shown = " ".join(markdown.value for markdown in app.markdown)
    for name, source in own.items():
        assert app.text_input(key=name).value == source
        assert runs().answer("english-french", source, ()).text in shown.replace("\\", "")


def test_a_sentence_without_a_pronoun_is_refused_for_each_model_and_the_rest_stays() -> None:
    app = on_page(TURNING, sentence_a="the cat sleeps .")
    assert not app.exception
    assert sum("has no pronoun" in warning.value for warning in app.warning) == 3
    assert [heading.value for heading in app.header if heading.value == text("turning")["overview_title"]]


def test_the_page_names_the_row_and_says_that_the_sidebar_changes_nothing(app: AppTest) -> None:
    assert any("the row of qu' predicts the pronoun" in markdown.value for markdown in app.markdown)
    assert text("turning")["fixed"] in [caption.value for caption in app.caption]


def test_an_answer_without_a_pronoun_is_refused_in_a_sentence() -> None:
    with pytest.raises(
        InputError, match=r"^The model's answer “.+” has no pronoun; this page needs one of il, elle, ils, elles\.$"
    ):
        run_model(runs().pipeline("english-french"), "english-french", "the cat sleeps .")


@pytest.mark.browser
def test_one_click_on_the_home_page_opens_the_page(visitor: Visitor) -> None:
    page = visitor.open(whole=True)
    page.get_by_test_id("stMain").locator('a[href*="turning"]').first.click()
    page.get_by_role("heading", name="The head that turns", exact=True).wait_for()
    visitor.settle()
    visitor.see_all()
    assert page.url.split("?")[0].endswith("/turning")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        visitor.settle()
        for chart in (0, 1):
            assert "tired/wide" in visitor.ticks(chart, "x")
            assert visitor.ticks(chart, "y") == ["a: tired → il", "b: wide → elle"]
        letters, page_text = page.evaluate("""() => [".js-plotly-plot .xtick text", ".stApp"].map(
            (selector) => getComputedStyle(document.querySelector(selector)))
            .map((style, place) => place ? style.color : style.fill)""")
        assert letters == page_text


@pytest.mark.browser
def test_its_head_can_be_opened_on_the_attention_page(visitor: Visitor) -> None:
    page = visitor.open("turning")
    link = page.get_by_role("link", name="Open this head on the Attention page").first.get_attribute("href")
    measures = card("english-french")
    learnt = page.get_by_role("link", name="See it being learnt").first.get_attribute("href") or ""
    head = f"kind=cross&layer={measures['layer']}&head={measures['head']}"
    assert "training?model=english-french&" in learnt
    assert learnt.endswith(head)
    page = visitor.open((link or "").split("/")[-1])
    assert page.get_by_role("heading", name=f"Cross-attention, layer {measures['layer']}, head {measures['head']}").is_visible()
    assert page.get_by_label("Source text", exact=True).input_value().endswith("tired")
