"""The sentence about the answer without the shown head."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.shell.view.runs import runs
from pages.ui.text import text
from tests.pages.apps import charts, on_page, shown
from transformer.tracing.interventions import Ablate

ATTENTION = "pages/attention/page.py"
TIRED = "the animal did not cross the street because it was too tired"


def said(app: AppTest) -> str:
    assert not app.exception
    (sentence,) = [markdown.value for markdown in app.markdown if "**Silenced**" in markdown.value]
    return sentence


def of_head(model: str, source: str, head: int, **more: str) -> str:
    return said(on_page(ATTENTION, model=model, source=source, kind="cross", layer="1", head=str(head), **more))


@pytest.mark.slow
@pytest.mark.parametrize("head", [1, 2])
def test_the_answer_without_the_head_is_the_one_that_the_model_writes(head: int) -> None:
    edits = (Ablate("decoder.layers.0.cross_attention", heads=(head - 1,)),)
    clean, edited = (runs().answer("english-french", TIRED, some).text for some in ((), edits))
    sentence = of_head("english-french", TIRED, head)
    if edited == clean:
        assert "The answer stays the same." in sentence
    else:
        assert f"The answer becomes “**{edited}**”." in sentence.replace("\\", "")


@pytest.mark.slow
def test_the_token_named_is_the_one_that_loses_most() -> None:
    edits = (Ablate("decoder.layers.0.cross_attention", heads=(1,)),)
    answer = runs().answer("english-french", TIRED, ())
    pipeline = runs().pipeline("english-french")
    clean, edited = (pipeline.trace(TIRED, answer, some).probabilities[0] for some in ((), edits))
    ids = [*pipeline.vocabulary("target").ids(answer.tokens), pipeline.target_vocabulary.eos]
    losses = [float(clean[row, token] - edited[row, token]) for row, token in enumerate(ids)]
    row = losses.index(max(losses))
    expected = f"“{[*answer.tokens, '<eos>'][row]}”: {clean[row, ids[row]]:.1%} → {edited[row, ids[row]]:.1%}"
    assert expected in of_head("english-french", TIRED, 2).replace(" %", "%").replace("\\", "")


def test_for_a_typed_target_the_sentence_names_only_the_token() -> None:
    sentence = of_head("english-french", TIRED, 2, target="le chat dort .")
    assert "→" in sentence
    assert "The answer" not in sentence


def test_a_model_with_random_weights_has_no_such_sentence() -> None:
    app = on_page(ATTENTION, model="shared_heads", source="the cat")
    assert not app.exception
    assert not any("**Silenced**" in markdown.value for markdown in app.markdown)


@pytest.mark.parametrize(("answers", "says"), [("", 0), ("4~1~", 1), ("4~2~", 1)])
def test_while_a_lesson_asks_about_the_answer_the_sentence_waits(answers: str, says: int) -> None:
    query = {"model": "english-french", "source": TIRED, "kind": "cross", "layer": "1", "head": "2", "part": "map"}
    app = on_page(ATTENTION, lesson="first-look", lesson_stop="4", answers=answers, **query)
    assert not app.exception
    assert sum("**Silenced**" in markdown.value for markdown in app.markdown) == says


def test_the_learner_can_predict_whether_the_answer_changes() -> None:
    query = {"model": "reverse", "source": "abcde", "kind": "cross", "layer": "1", "head": "1"}
    app = on_page(ATTENTION, **query, predict="silence:1")
    assert not app.exception
    assert not any("**Silenced**" in markdown.value for markdown in app.markdown)
    app = on_page(ATTENTION, **query, predict="silence:1~0~shown")
    edits = (Ablate("decoder.layers.0.cross_attention", heads=(0,)),)
    clean, edited = (runs().answer("reverse", "abcde", some).text for some in ((), edits))
    (sentence,) = [markdown.value for markdown in app.markdown if "**Silenced**" in markdown.value]
    yes, no = ("right", "it is the other way round") if clean != edited else ("it is the other way round", "right")
    assert f"First answer: **You said Yes: {yes}.**\n\nSecond answer: **You said No: {no}.**" in sentence


@pytest.mark.parametrize("first", ["attention", "map"])
def test_the_question_is_offered_after_the_learner_has_answered_where_the_head_looks(first: str) -> None:
    query = {"model": "reverse", "source": "abcde", "kind": "cross", "layer": "1", "head": "1"}
    assert not [each for each in on_page(ATTENTION, **query).button if each.key == "predict silence"]
    app = on_page(ATTENTION, **query, predict=f"{first}:1~shown")
    assert not any("**Silenced**" in markdown.value for markdown in app.markdown)
    app.button(key="predict silence").click().run()
    assert app.query_params["predict"].endswith(",silence:")
    assert any(markdown.value == text("prediction")["silence"]["ask"] for markdown in app.markdown)
    app.button(key="predict silence show_without").click().run()
    assert any("**Silenced**" in markdown.value for markdown in app.markdown)


def test_the_page_does_not_reveal_the_answer_while_the_question_is_open() -> None:
    app = on_page(ATTENTION, model="english-french", source=TIRED, silenced="2", predict="silence:1")
    assert not any("**Silenced**" in markdown.value or "Why several heads" in markdown.value for markdown in app.markdown)


def test_another_head_of_the_layer_that_looks_elsewhere_is_named() -> None:
    named = runs().pipeline("english-french").card.measures["pronouns"]
    app = on_page(ATTENTION, model="english-french", source=TIRED, layer=str(named["layer"]), head=str(named["head"]))
    (sentence,) = [markdown.value for markdown in app.markdown if "Why several heads" in markdown.value]
    trace = runs().trace("english-french", (TIRED,), (None,), ())
    queries, keys = trace.tokens("cross")
    row = queries.index("qu'")
    weights = trace.weights("cross", named["layer"] - 1)[0, :, row]
    assert f"puts {weights[named['head'] - 1].max():.2f} on *animal*" in sentence
    other = int(sentence.split("and head ")[1].split(" ")[0]) - 1
    assert other != named["head"] - 1
    assert f"puts {weights[other].max():.2f} on *{keys[int(weights[other].argmax())]}*" in sentence
    # Either of the two heads, or both, can be silenced here.
    lost = {}
    for chosen, heads in ((str(named["head"]), (named["head"] - 1,)), ("both", (named["head"] - 1, other))):
        app.button_group(key="silenced").set_value(chosen).run()
        (lost[chosen],) = [m.value for m in app.markdown if "volume_off" in m.value and "**Silenced**" in m.value[20:60]][1:]
        edits = (Ablate("decoder.layers.0.cross_attention", heads=heads),)
        answer = runs().answer("english-french", TIRED, edits).text
        assert (f"becomes “**{answer}**”" in lost[chosen].replace("\\", "")) or "stays the same" in lost[chosen]
    assert app.query_params["silenced"] in ("both", ["both"])


def test_another_need_is_told_with_the_rows_columns_and_weights_of_the_joined_picture() -> None:
    source = "i dont no wat to do tomorow"
    page = on_page(ATTENTION, model="everyday", source=source, join="true")
    (sentence,) = [shown(each.value) for each in page.main.markdown if "Why several heads?" in each.value]
    (picture,) = [each for each in charts(page) if each.key == "head-map"]
    layout = picture.spec["layout"]
    row, weight, token = re.search(r"In the row of \*(.+?)\*, this head puts ([\d.]+) on \*(.+?)\*", sentence).groups()
    rows, columns = (layout[axis]["ticktext"] for axis in ("yaxis", "xaxis"))
    cells = np.asarray(picture.spec["data"][-1]["z"], float)
    assert any(
        f"{cells[at][to]:.2f}" == weight
        for at, name in enumerate(rows)
        for to, key in enumerate(columns)
        if (name, key) == (row, token)
    )
