"""The part of Attention on how well heads align words, and what the banner says about the everyday model."""

import re

import pytest
from playwright.sync_api import expect
from streamlit.testing.v1 import AppTest

from pages.ui.format import fixed, whole
from pages.ui.text import text
from tests.pages.apps import charts, on_page, unfold
from tests.pages.explained import explained
from tests.pages.visitor import Visitor
from transformer import Pipeline
from transformer.analysis.word_alignment import alignment_error, head_links, read_alignments

PAGE = "pages/attention/page.py"
WORDS = text("head_patterns")["alignment"]
STRANGE = "can you help me with my zorglub"


def titles(app: AppTest) -> list[str]:
    return [title.value for title in app.subheader]


@pytest.mark.slow
def test_the_errors_of_the_card_are_drawn_with_both_baselines() -> None:
    alignment = Pipeline.load("everyday").card.measures["alignment"]
    app = on_page(PAGE, model="everyday", part="pattern", kind="cross", layer="1", head="2")
    assert WORDS["title"] in titles(app)
    said = " ".join(each.value for each in app.markdown)
    for value in (
        alignment["diagonal"],
        alignment["word_model"],
        min(map(min, alignment["errors"])),
        alignment["errors"][0][1],
    ):
        assert f"**{fixed(value, 2)}**" in said
    assert len(charts(app)) >= 1


@pytest.mark.slow
def test_the_errors_of_every_head_after_each_snapshot_unfold_below_the_smallest_ones() -> None:
    card = Pipeline.load("everyday").card
    alignment = card.measures["alignment"]
    by_step = {each["step"]: each["errors"] for each in alignment["snapshots"]} | {card.recipe["steps"]: alignment["errors"]}
    app = on_page(PAGE, model="everyday", part="pattern", kind="cross")
    (said,) = (caption.value for caption in app.caption if caption.value.startswith(WORDS["training"].partition("{")[0]))
    for step, errors in by_step.items():
        assert f"{whole(step)}: **{fixed(min(map(min, errors)), 2)}**" in said
    tables = [frame.value for frame in unfold(app, "by_step").dataframe]
    (table,) = (frame for frame in tables if whole(card.recipe["steps"]) in frame)
    assert len(table) == sum(map(len, alignment["errors"]))
    for step, errors in by_step.items():
        assert table[whole(step)].tolist() == [fixed(error, 2) for layer in errors for error in layer]
    assert table[["layer", "head"]].to_numpy().tolist() == [[layer, head] for layer in (1, 2, 3) for head in range(1, 9)]


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])
def test_the_error_of_a_head_is_computed_on_one_of_the_sentences(number: int) -> None:
    query = {"model": "everyday", "part": "pattern", "kind": "cross", "aligned": str(number)}
    found = explained(PAGE, "word-alignment.0.2.5", **query)
    pipeline, sentence = Pipeline.load("everyday"), read_alignments()[number - 1]
    assert f"**{pipeline.card.measures['alignment']['errors'][2][5]:.4f}**" in found.says
    assert found.drawn == pytest.approx(pipeline.card.measures["alignment"]["errors"][2][5])
    links = head_links(pipeline.trace(sentence.source, sentence.target), 2, 5)
    assert found.result == pytest.approx(alignment_error([links], [sentence]), rel=1e-4)
    assert found.says.count(" – ") == len(links | sentence.sure)


@pytest.mark.parametrize(("model", "kind"), [("everyday", "encoder"), ("english-french", "cross")])
def test_other_heads_and_models_have_no_such_part(model: str, kind: str) -> None:
    assert WORDS["title"] not in titles(on_page(PAGE, model=model, part="pattern", kind=kind))


def test_pieces_are_joined_at_first_and_one_click_shows_them() -> None:
    app = on_page(PAGE, model="everyday", source="Zorglub sleeps.")
    switch = app.toggle(key="join")
    assert switch.value
    switch.set_value(False).run()
    assert not app.toggle(key="join").value
    assert app.query_params["join"] in ("false", ["false"])


@pytest.mark.slow
def test_the_model_says_when_it_is_unsure_and_how_often_it_is_wrong_then() -> None:
    doubt = text("common")["doubt"].split("**")[1]

    def says(source: str) -> bool:
        return any(doubt in each.value for each in on_page(PAGE, model="everyday", source=source).markdown)

    assert says("Zorglub's spaceship is faster than mine!")
    assert not says("I forgot my keys at the office.")


@pytest.mark.slow
@pytest.mark.browser
def test_one_click_opens_a_strange_text_in_the_model_that_reads_any(visitor: Visitor) -> None:
    page = visitor.open(f"attention?model=english-french&source={STRANGE.replace(' ', '+')}")
    page.get_by_role("button", name=re.compile("open it there")).click()
    page.wait_for_url("**model=everyday**")
    expect(page.locator(".st-key-source textarea")).to_have_value(STRANGE)
    expect(page.get_by_text("which this model does not know")).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("open it there"))).to_have_count(0)
