"""The bar of a lesson: its stops open real pages, its truths are computed, and answers are kept in the address."""

import json
import re
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import ViewportSize, expect
from streamlit.testing.v1 import AppTest

from benchmarks.app_server import ROOT
from pages.lessons.content.grading import Verdict, judge, right_answer
from pages.lessons.content.lesson import ABOUT_HEADS, Lesson, LessonError, Question, Stop, Truth, Value
from pages.lessons.content.lesson_answers import Answer, fits, parse, write
from pages.lessons.content.library import CORE, lesson_of, shipped
from pages.lessons.content.packing import pack
from pages.lessons.content.question_data import as_words, question_data
from pages.lessons.content.stop_views import view_of, words_of
from pages.lessons.content.truths import filled, head_of, truth_of
from pages.lessons.playing.asked import ROW as OF_ROW
from pages.lessons.playing.ending import line_of_sheet
from pages.shell.frame.glossary import terms
from pages.shell.frame.navigation import name_of, page_files, path
from pages.shell.models.catalogue import available
from pages.shell.view.card_heads import card_head
from pages.shell.view.runs import runs
from pages.ui.pickers import option_id
from pages.ui.term_links import address_of, names_of
from pages.ui.text import text
from tests.fuzz.links import watched
from tests.pages.apps import charts, on_page
from tests.pages.legibility import CUT_OFF, PROJECTORS, SMALL
from tests.pages.lessons.bar import bar
from tests.pages.visitor import Visitor
from transformer import HeadlightError, InputError, Pipeline
from transformer.figures.decoding_figures import percent
from transformer.tracing.phrases import interventions

SCRIPTS = {name_of(file): str(file.relative_to(ROOT)) for file in page_files()}
# A short form has the stops of the long one.
LONG = [name for name in shipped() if not name.endswith(CORE)]
STOPS = [(name, index) for name in LONG for index in range(len(shipped()[name].stops))]
SIDEBAR = {"model", "source", "target", "batch", "batch_targets"}


def stop_of(name: str, index: int) -> Stop:
    return shipped()[name].stops[index]


# --- the shipped lessons -------------------------------------------------------------------------------------------------


@pytest.mark.few_cases(12)
@pytest.mark.parametrize(("name", "index"), STOPS, ids=str)
def test_the_truth_of_a_shipped_stop_can_be_computed(name: str, index: int) -> None:
    stop = stop_of(name, index)
    assert stop.page in SCRIPTS
    view = view_of(stop)
    assert view.get("model", "reverse") in available()
    for words in (stop.say, stop.reveal, stop.question.ask if stop.question else ""):
        assert "{" not in filled(stop, words)
    if stop.question is None:
        return
    truth, question = truth_of(stop), stop.question
    assert (truth is None) == (question.truth is None)
    if question.kind == "tokens":
        assert truth is not None
        best = sorted(range(len(truth.row)), key=lambda place: -truth.row[place])[: question.most]
        assert judge(question, "-".join(map(str, best)), truth).right
        worst = str(min(range(len(truth.row)), key=lambda place: truth.row[place]))
        assert not judge(question, worst, truth).right
    elif question.kind == "number":
        assert truth is not None
        assert judge(question, str(round(truth.number, 6)), truth).right
        assert not judge(question, str(round(truth.number + 2 * question.tolerance + 1, 6)), truth).right
    else:
        count = len(question.options)
        answers = (
            [str(option) for option in range(1, count + 1)] if question.kind == "choose" else ["-".join(map(str, range(count)))]
        )
        assert sum(judge(question, answer, truth).right for answer in answers) == 1
        assert all(judge(question, answer, truth).says for answer in answers)


def test_a_model_is_a_little_less_sure_than_it_could_be() -> None:
    """Stop 5 of “How it writes, how it learns”: the model answers with the share that training asked for, not with 1."""
    stop = stop_of("writing-and-learning", 4)
    pipeline, source = Pipeline.load("english-french"), view_of(stop)["source"]
    sure = pipeline.trace(source).probabilities[0, 2].max()
    assert float(sure) == pytest.approx(1 - pipeline.card.recipe["label_smoothing"], abs=0.02)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("first-look", {1: True, 2: True, 4: True}),
        ("one-lesson", {3: True, 5: True, 8: True, 9: False}),
        ("inside-one-head", {4: True, 6: False}),
        ("does-attention-explain", {2: True, 4: False, 5: False, 6: False}),
        ("needed-or-enough", {3: True, 4: False}),
    ],
)
def test_the_words_of_a_stop_agree_with_its_experiment(name: str, changes: dict[int, bool]) -> None:
    """The revealed text says how the experiment ends. With other weights of a model, it can end differently."""
    for number, expected in changes.items():
        truth = truth_of(stop_of(name, number - 1))
        assert truth
        assert bool(truth.number) == expected, (number, truth.words)


@pytest.mark.parametrize(("name", "index"), [("first-look", 2), ("one-lesson", 4)])
def test_without_scaling_the_largest_share_of_each_row_grows(name: str, index: int) -> None:
    view = view_of(stop_of(name, index))
    layer, head = int(view["layer"]) - 1, int(view.get("head", 1)) - 1
    clean, edited = (
        runs().trace(view["model"], (view["source"],), ("thgildaeh",), edits).weights("cross", layer)[0, head].numpy()
        for edits in ((), interventions(f"no scaling cross layer {layer + 1}", runs().pipeline(view["model"]).config))
    )
    assert (edited.max(-1) > clean.max(-1)).all()
    assert (edited.argmax(-1) == clean.argmax(-1)).all()


def test_the_vectors_of_a_stop_make_its_scores_and_its_scores_its_shares() -> None:
    """Stop 3 of First look says what a query and a key make, and what softmax makes of that."""
    app = on_page(
        SCRIPTS["attention"], **view_of(stop_of("first-look", 2)), lesson="first-look", lesson_stop="3", answers="3~8-9"
    )
    assert not app.exception
    (said,) = (each.value for each in app.markdown if each.value.startswith("The numbers of this row."))
    numbers = [float(number.replace("−", "-")) for number in re.findall(r"−?\d+\.\d+", said)]
    products, scores, shares = (np.array(numbers[place : place + 2]) for place in (0, 2, 4))
    width = runs().pipeline("reverse").config.d_head
    assert np.allclose(products / width**0.5, scores, rtol=0.01)
    assert np.isclose(np.exp(scores[0] - scores[1]), shares[0] / shares[1], rtol=0.03)
    trace = runs().trace("reverse", ("headlight",), ("thgildaeh",), ())
    assert np.isclose(shares[0], trace.head("cross", 0, 3)[0].max(), rtol=0.01)
    assert trace.source_tokens[0][int(trace.head("cross", 0, 3)[0].argmax())] == "t"  # the words name it


def test_without_cross_attention_the_same_words_are_written_for_every_sentence() -> None:
    """Stop 1 of First look says so."""
    stop = stop_of("first-look", 0)
    written = {
        dict(truth.words)["after"]
        for source in ("the cat sleeps .", "she left")
        if (truth := truth_of(replace(stop, view=tuple((dict(stop.view) | {"source": source}).items()))))
    }
    assert len(written) == 1
    assert written != {"–"}


def test_without_one_head_the_answer_stays_and_a_letter_is_nearly_lost() -> None:
    """Stop 6 of “Inside one head” says so, with both probabilities."""
    stop = stop_of("inside-one-head", 5)
    model, source = (dict(stop.view)[name] for name in ("model", "source"))
    kind, layer, head = head_of(stop)
    config, answer = runs().pipeline(model).config, source[::-1]
    clean, edited = (
        runs().trace(model, (source,), (answer,), edits).probabilities[0]
        for edits in ((), interventions(f"silence {kind} layer {layer + 1} head {head + 1}", config))
    )
    letter, place = runs().pipeline(model).vocabulary("target").ids(["l"])[0], answer.index("l")
    assert f"`l` falls from {clean[place, letter]:.2f} to {edited[place, letter]:.2f}" in stop.reveal
    assert int(edited[place].argmax()) == letter  # “still the most probable letter”
    assert float((clean - edited).max()) == float(clean[place, letter] - edited[place, letter])
    all_heads = interventions(f"silence {kind} layer {layer + 1}", config)
    assert runs().answer(model, source, all_heads).text[:3] != answer[:3]  # “its answer is gone”


@pytest.mark.parametrize("index", [1, 2, 4])
def test_a_stop_about_one_number_opens_its_matrix_at_this_number(index: int) -> None:
    """Stops 2, 3 and 5 of “Inside one head” ask for one number, and their words point at its matrix."""
    stop, view = stop_of("inside-one-head", index), view_of(stop_of("inside-one-head", index))
    truth = truth_of(stop)
    assert truth
    app = on_page(SCRIPTS["attention"], lesson="inside-one-head", lesson_stop=str(index + 1), answers=f"{index + 1}~1", **view)
    assert not app.exception
    names = dict(truth.words)
    (framed,) = [each.value for each in app.caption if each.value.startswith("Framed: the row of the query")]
    assert names["query"].strip("<>") in framed
    (sheet,) = [each.spec for each in charts(app) if each.key == f"step-{view['step']}"]
    keys = [str(name).split(" ")[-1] for name in sheet["layout"]["xaxis"]["ticktext"]]
    assert names["key"].strip("<>") in keys[int(view.get("column", 0))]
    step = text("steps")["steps"][view["step"]]["title"]
    assert index == 4 or f"*{step}*" in stop.reveal


@pytest.mark.parametrize(
    ("name", "stop", "answers", "said"), [("first-look", 3, "3~8-9~", True), ("one-lesson", 5, "5~2~", False)]
)
def test_a_sentence_about_frames_is_written_only_below_frames(name: str, stop: int, answers: str, said: bool) -> None:
    app = on_page(SCRIPTS["attention"], lesson=name, lesson_stop=str(stop), answers=answers, **view_of(stop_of(name, stop - 1)))
    assert not app.exception
    (row,) = [each.spec for each in charts(app) if each.key == "experiment-row"]
    assert bool(row["layout"].get("shapes")) == said
    assert any(text("lesson")["experiment"]["row_marked"] in each.value for each in app.caption) == said


def test_a_model_without_the_head_that_it_needs_guesses_the_pronoun() -> None:
    """Stop 8 of Two lessons and stop 2 of Does attention explain? say so."""
    assert 0.4 < runs().pipeline("english-french").card.measures["pronouns"]["right_without"] < 0.6


def of_each_page() -> list[tuple[str, dict[str, str]]]:
    """The pages of the stops, each with the longest view of each of its parts. Other views are left out, because opening one
    takes a second, and a page reads the same parameters for every text."""
    views: dict[tuple[str, str, str], dict[str, str]] = {}
    for name, index in STOPS:
        stop = stop_of(name, index)
        view = view_of(stop)
        key = (stop.page, view.get("part", ""), view.get("method", ""))
        if view.keys() - SIDEBAR:  # the parameters of the sidebar have their own tests
            views[key] = max(views.get(key, {}), view, key=len)
    return [(page, view) for (page, _, _), view in sorted(views.items())]


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(("page", "view"), of_each_page(), ids=str)
def test_the_page_of_a_stop_reads_every_parameter_of_its_view(page: str, view: dict[str, str]) -> None:
    with watched() as (names, _):
        app = on_page(SCRIPTS[page], **view)
    assert not app.exception
    assert not app.error
    assert view.keys() <= names | SIDEBAR
    for name in view.keys() & {"model", "source", "kind", "layer", "head", "part", "method", "force", "batch"}:
        if name in app.session_state:  # an invalid value is replaced by the default
            taken = app.session_state[name]
            values = taken if isinstance(taken, list) else [taken]  # `force` is a list with several tokens
            assert view[name] in [*values, *map(option_id, values)], name


def test_a_stop_gets_its_head_from_the_card_of_the_model() -> None:
    stop = Stop(
        title="a", say="layer {layer}, head {head}", page="attention", view=(("model", "english-french"),), head="turning"
    )
    measures = runs().pipeline("english-french").card.measures["pronouns"]
    assert view_of(stop) == {
        "kind": "cross",
        "layer": str(measures["layer"]),
        "head": str(measures["head"]),
        "model": "english-french",
    }
    assert words_of(stop, stop.say) == f"layer {measures['layer']}, head {measures['head']}"
    with pytest.raises(InputError, match="names no head 'turning'"):
        card_head("reverse", "turning")


# --- truths and judgements -----------------------------------------------------------------------------------------------


def asked(**truth: Any) -> Stop:
    question = Question(kind="number", ask="?", truth=Truth(**truth))
    view = (("model", "reverse"), ("source", "cab"), ("kind", "cross"), ("layer", "2"), ("head", "1"))
    return Stop(title="a", say="b", page="attention", view=view, question=question)


def test_a_question_is_about_the_head_with_which_the_page_opens() -> None:
    """A lesson that is written by hand can leave out the head."""
    question = Question(kind="tokens", ask="?", truth=Truth(name="attention-row", query="<sos>"))
    for model in ("reverse", "english-french"):
        stop = Stop(title="t", say="s", page="attention", view=(("model", model), ("source", "abc")), question=question)
        app = on_page(SCRIPTS["attention"], model=model, source="abc")
        kind, layer, head = head_of(stop)
        assert [str(app.session_state[name]) for name in ("kind", "layer", "head")] == [kind, str(layer + 1), str(head + 1)]
    of_encoder = replace(stop, question=replace(question, truth=Truth(name="attention-row", query="<sos>", kind="encoder")))
    assert head_of(of_encoder) == ("encoder", 0, 0)


def test_truths_agree_with_the_trace() -> None:
    trace = runs().trace("reverse", ("cab",), (None,), ())
    row = trace.weights("cross", 1)[0, 0, 0]

    def value(**truth: Any) -> Value:
        computed = truth_of(asked(**truth))
        assert computed is not None
        return computed

    assert value(name="attention-weight", query="<sos>", key="b").number == pytest.approx(float(row[3]))
    assert value(name="attention-weight", query="0", key="3", head=2).number == pytest.approx(
        float(trace.weights("cross", 1)[0, 1, 0, 3])
    )
    assert value(name="most-attended-key", query="<sos>").number == int(row.argmax()) == 3
    assert value(name="sum-of-weights", query="<sos>").number == pytest.approx(1)
    assert value(name="attention-row", query="<sos>").row == pytest.approx(row.tolist())
    assert value(name="token-count", side="source").number == 5
    assert value(name="head-width").number == trace.config.d_model / trace.config.heads
    cells = [trace[f"decoder.layers.1.cross_attention.{name}"].values[0, 0, 0, 3] for name in ("scores", "scaled_scores")]
    assert value(name="score", query="<sos>", key="b").number == pytest.approx(float(cells[0]))
    assert value(name="scaled-score", query="<sos>", key="b").number == pytest.approx(float(cells[1]))
    assert float(cells[1]) == pytest.approx(float(cells[0]) / value(name="head-width").number ** 0.5)
    assert value(name="head-count").number == trace.config.heads
    assert value(name="vector-length").number == trace.config.d_model
    assert value(name="next-word-probability", query="<sos>").number == pytest.approx(float(trace.probabilities[0, 0].max()))
    assert dict(value(name="next-word-probability", query="<sos>").words)["token"] == "b"
    # The target is <sos> b a c <eos> without <eos>. The first row may attend only to itself.
    assert value(name="mask-row", query="<sos>").row == (1, 0, 0, 0)
    assert value(name="mask-row", query="a").row == (1, 1, 1, 0)
    vectors = trace["source_embedding.position"].numpy().reshape(-1, trace.config.d_model)[:5]
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    alike = value(name="most-alike-position", query="a")
    assert alike.row == pytest.approx([0 if place == 2 else float(vectors[place] @ vectors[2]) for place in range(5)])
    assert dict(alike.words)["query"] == "2 · a"
    changed = value(name="edit-changes-answer", edit="no positions")
    answers = [runs().answer("reverse", "cab", ()).text, dict(changed.words)["before"], dict(changed.words)["after"]]
    assert changed.number == float(answers[1] != answers[2])
    assert answers[0] == answers[1] == "bac"


def test_the_most_probable_of_several_tokens_is_the_right_answer() -> None:
    probabilities = runs().trace("reverse", ("cab",), (None,), ()).probabilities[0, 0]
    vocabulary = runs().pipeline("reverse").vocabulary("target")
    shares = {token: percent(float(probabilities[vocabulary.ids([token])[0]])) for token in "abc"}

    def verdict(options: tuple[str, ...], answer: str) -> Verdict:
        question = Question(kind="choose", ask="?", options=options, truth=Truth(name="next-token", query="<sos>"))
        return judge(question, answer, truth_of(replace(asked(name="head-count"), question=question)))

    assert verdict(("a", "b", "c"), "2").right
    wrong = verdict(("a", "c"), "1")
    assert wrong.right == (probabilities[vocabulary.ids(["a"])[0]] > probabilities[vocabulary.ids(["c"])[0]])
    assert f"most probable of all: b {shares['b']}" in wrong.says
    assert f"a {shares['a']}" in wrong.says
    with pytest.raises(LessonError, match="no token 'hello'"):
        verdict(("a", "hello"), "1")


def test_rows_of_masks_and_positions_are_judged() -> None:
    mask = Question(kind="tokens", ask="?", truth=Truth(name="mask-row", query="x"), most=3)
    row = Value(row=(1.0, 1.0, 0.0), tokens=("a", "x", "b"), words=(("query", "x"),))
    assert judge(mask, "0-1", row) == (True, "The row of x may look at a, x.")
    wrong = judge(mask, "1-2", row)
    assert (wrong.right, wrong.says) == (False, "The row of x may look at a, x. You left out a. Hidden from it, but marked: b.")
    alike = Question(kind="tokens", ask="?", truth=Truth(name="most-alike-position", query="1"), most=1)
    words = (("query", "1 · x"), ("most", "0 · a and 2 · b"), ("value", "0.90"))
    cosines = Value(1.0, (0.9, 0.0, 0.9 - 1e-7, -0.5), ("0 · a", "1 · x", "2 · b", "3 · c"), words)
    assert [judge(alike, str(place), cosines).right for place in range(4)] == [True, False, True, False]
    assert judge(alike, "3", cosines).says == "3 · c has cosine −0.50 with 1 · x. Most alike: 0 · a and 2 · b, with 0.90."
    assert judge(alike, "1", cosines).says.startswith("1 · x is the position itself.")


def test_numbers_in_a_text_agree_with_the_trace() -> None:
    stop = asked(name="head-count")
    cell = runs().trace("reverse", ("cab",), (None,), ())["decoder.layers.1.cross_attention.scores"].values[0, 0, 0, 3]
    assert filled(stop, "It is {score <sos> b}.") == f"It is {float(cell):.3g}.".replace("-", "−")
    for words in ("{score <sos> z}", "{token-count source}", "{score}", "{score.__class__ a b}"):
        assert filled(stop, words) == words
    assert filled(stop, "{score 0 0}" * 20).count("{") == 8
    config = runs().trace("reverse", ("cab",), (None,), ()).config
    width = config.d_model // config.heads
    assert filled(stop, "{d_model} {heads} {d_head} {√d_head}") == f"{config.d_model} {config.heads} {width} {width**0.5:g}"


@pytest.mark.parametrize(
    ("truth", "sentence"),
    [
        ({"name": "attention-row", "query": "z"}, "There is no token 'z' among"),
        ({"name": "attention-row", "query": "99"}, "There is no token '99'"),
        ({"name": "attention-row", "query": "0", "layer": 9}, "no head 1 in layer 9 of cross"),
        ({"name": "edit-changes-answer", "edit": "__import__('os')"}, "__import__"),
    ],
)
def test_a_truth_that_cannot_be_computed_is_refused(truth: dict[str, Any], sentence: str) -> None:
    with pytest.raises(HeadlightError, match=re.escape(sentence)):
        truth_of(asked(**truth))


def test_a_judgement_gives_the_exact_reason() -> None:
    row = Value(row=(0.1, 0.7, 0.2), tokens=("a", "b", "c"), words=(("query", "x"), ("most", "b")))
    tokens = Question(kind="tokens", ask="?", truth=Truth(name="attention-row", query="x"))
    assert judge(tokens, "1", row) == (
        True,
        "What you marked (b) gets 70.0% of the attention of x; the largest share is on b, 70.0%.",
    )
    assert not judge(tokens, "0-2", row).right
    number = Question(kind="number", ask="?", truth=Truth(name="sum-of-weights", query="x"), tolerance=0.1)
    assert judge(number, "0.9", row._replace(number=1.0)).right
    wrong = judge(number, "0,5", row._replace(number=1.0))
    assert wrong.says.startswith("You said 0.5; that is off by 0.5. The weights of x add up to 1")
    order = Question(kind="order", ask="?", options=("first", "second", "third"), reasons=("Because.",))
    assert judge(order, "0-1-2", None).right
    assert judge(order, "0-2-1", None).says == "Place 2 is “second”, not “third”. Because."


def test_a_judgement_has_no_style_markup() -> None:
    options, reasons = ("*copy* it", "**read** `<pad>`."), ("No, `copy`.", "It *is*.")
    choose = Question(kind="choose", ask="?", options=options, reasons=reasons, answer=1)
    assert judge(choose, "2", None).says == "It is."
    assert [as_words(choose, given, ()) for given in ("1", "2")] == ["“copy it”", "“read <pad>.”"]
    assert right_answer(choose, None) == "No, copy."
    order = Question(kind="order", ask="?", options=options, reasons=("*Because*.",))
    assert judge(order, "1-0", None).says == "Place 1 is “copy it”, not “read <pad>”. Because."
    assert as_words(order, "1-0", ()) == "read <pad> → copy it"


# --- answers ---------------------------------------------------------------------------------------------------------------


def test_answers_survive_the_address() -> None:
    answers = {
        0: Answer("2"),
        4: Answer("0-2-1", ""),
        6: Answer("-0.5", "0,95"),
        9: Answer("1", "", "3"),
        11: Answer("1", "2", "3"),
    }
    assert write(answers) == "1~2_5~0-2-1~_7~-0.5~0,95_10~1~~3_12~1~2~3"
    assert parse(write(answers)) == answers
    assert parse("") == parse("0~1") == parse("x") == parse("1~") == parse("1~<b>") == parse("1~" + "1" * 50) == {}


def test_an_answer_must_be_valid_for_its_question() -> None:
    choose = Question(kind="choose", ask="?", options=("a", "b"), answer=1)
    assert [fits(choose, given, 0) for given in ("1", "2", "0", "3", "1-2", "", "x")] == [True, True] + [False] * 5
    order = Question(kind="order", ask="?", options=("a", "b"))
    assert [fits(order, given, 0) for given in ("1-0", "0-0", "0", "0-1-2")] == [True, False, False, False]
    tokens = Question(kind="tokens", ask="?", most=2)
    assert [fits(tokens, given, 3) for given in ("2", "0-1", "3", "0-1-2", "1-1")] == [True, True, False, False, False]
    number = Question(kind="number", ask="?")
    assert [fits(number, given, 0) for given in ("-1.5", "1,5", ".5", "5.", "1e9", "nan", "", ".")] == [True] * 4 + [False] * 4


# --- the bar ---------------------------------------------------------------------------------------------------------------


def test_the_bar_has_the_stop_and_its_links_keep_the_answers() -> None:
    lesson = shipped()["first-look"]
    app = on_page(SCRIPTS["attention"], lesson="first-look", lesson_stop="3", answers="2~1~2", **view_of(lesson.stops[2]))
    assert not app.exception
    data = bar(app)
    assert (data["place"], data["title"], data["covers"]) == ("3 of 7", lesson.stops[2].title, True)
    assert data["next"].startswith("attention?")
    assert "lesson_stop=4&answers=2~1~2" in data["next"]
    (question,) = data["questions"]
    assert question["tokens"][:2] == ["<sos>", "h"]
    assert not question["weights"]  # the right answer is not sent before the question is answered
    assert data["reveal"] == []
    assert data["notes"] is None  # the session neither presents nor teaches a class
    assert "Stop " not in " ".join(caption.value for caption in app.main.caption)  # no links of the tour below


def frames(app: AppTest) -> list[tuple[float, float, str]]:
    """Key, query and line style of each frame on a map; of a row, the key in its middle."""
    (spec,) = [each.spec for each in charts(app) if each.key == "head-map"]
    shapes = spec["layout"].get("shapes", [])
    black = [shape for shape in shapes if shape["line"]["color"] == "black"]
    return [((s["x0"] + s["x1"]) / 2, (s["y0"] + s["y1"]) / 2, s["line"]["dash"]) for s in black]


ROW = (5, 0, "solid")  # the frame of the whole row, which has 11 keys


@pytest.mark.few_cases(3)
@pytest.mark.parametrize(
    ("answers", "others", "expected"),
    [
        ("3~1-9~", {}, [ROW, (1, 0, "solid"), (9, 0, "solid")]),
        ("3~1~9", {}, [ROW, (1, 0, "dot"), (9, 0, "solid")]),
        ("3~1", {}, [ROW, (1, 0, "solid")]),  # it cannot be changed, because the judgement names the right token
        ("3~99~", {}, []),  # not a token of the row
        ("3~1~9", {"head": "2"}, []),  # another head than that of the question
        ("3~1~9", {"source": "lamp"}, []),
        ("3~1~9", {"hide_special": "true"}, []),
    ],
)
def test_the_marks_of_an_answer_are_framed_on_the_map(
    answers: str, others: dict[str, str], expected: list[tuple[float, float, str]]
) -> None:
    view = view_of(stop_of("first-look", 2)) | others
    app = on_page(SCRIPTS["attention"], lesson="first-look", lesson_stop="3", answers=answers, **view)
    assert not app.exception
    assert frames(app) == expected
    assert any(caption.value.startswith("Framed in the row") for caption in app.main.caption) == bool(expected)


def picture(app: AppTest) -> dict[str, Any] | None:
    """The data of the picture on which tokens are marked; None if it is not drawn."""
    assert not app.exception
    drawn = [json.loads(each.proto.json) for each in app.get("bidi_component") if '"closed"' in each.proto.json]
    return drawn[0] if drawn else None


def test_an_answer_is_marked_on_the_row_of_the_head_without_its_weights() -> None:
    view = view_of(stop_of("first-look", 2))
    app = on_page(SCRIPTS["attention"], lesson="first-look", lesson_stop="3", marked="1.9", **view)
    drawn, (question,) = picture(app), bar(app)["questions"]
    assert drawn
    assert drawn["columns"] == question["tokens"] == ["<sos>", *"headlight", "<eos>"]
    assert (drawn["most"], drawn["marks"], drawn["truth"]) == (2, [1, 9], None)
    assert question["marked"] == [1, 9]
    assert bar(app)["target"] == "lesson-marks"
    (check,) = [button for button in app.button if button.key == "lesson-check"]
    check.click().run()
    assert app.query_params["answers"] == "3~1-9~"
    assert "marked" not in app.query_params
    assert picture(app) is None
    assert (bar(app)["target"], bar(app)["covers"], bar(app)["questions"][0]["right"]) == ("lesson-marks", False, True)


def test_in_a_class_the_picture_stays_until_the_answer_is_kept_or_changed() -> None:
    index = next(
        index for index, stop in enumerate(lesson_of("one-lesson").stops) if stop.question and stop.question.kind == "tokens"
    )
    query = {"lesson": "one-lesson", "lesson_stop": str(index + 1), **view_of(stop_of("one-lesson", index))}
    noted = on_page(SCRIPTS["attention"], answers=f"{index + 1}~6", **query)
    changing = on_page(SCRIPTS["attention"], answers=f"{index + 1}~6", marked="2", **query)
    for app, marks in ((noted, ([6], None)), (changing, ([2], [6]))):
        drawn = picture(app)
        assert drawn
        assert (drawn["marks"], drawn["before"]) == marks
        assert bar(app)["covers"]
        assert not bar(app)["questions"][0]["weights"]
    assert picture(on_page(SCRIPTS["attention"], answers=f"{index + 1}~6~2", **query)) is None


@pytest.mark.parametrize("marked", ["99", "0-9999", "1.2.3.4", "<b>", "-1", "1" * 50, "9~1~shown"])
def test_a_hostile_address_marks_no_more_tokens_than_the_question_allows(marked: str) -> None:
    view = view_of(stop_of("first-look", 2))
    drawn = picture(on_page(SCRIPTS["attention"], lesson="first-look", lesson_stop="3", marked=marked, **view))
    assert drawn
    assert drawn["marks"] == ([1, 2] if marked == "1.2.3.4" else [0, 1] if marked == "0-9999" else [])


def test_only_the_row_of_the_question_is_drawn() -> None:
    stop = stop_of("first-look", 2)
    question = Question(kind="tokens", ask="?", truth=Truth(name="attention-row", query="2"))
    lesson = pack(Lesson(title="t", stops=(replace(stop, page="tokens", question=question),)))
    drawn = picture(on_page(SCRIPTS["tokens"], lesson=lesson, marked="3", **view_of(stop)))
    assert drawn
    assert (drawn["rows"], drawn["marks"]) == ([""], [3])


def test_a_wrong_answer_can_be_changed_once_and_both_answers_stay() -> None:
    question = bar(on_page(SCRIPTS["home"], lesson="first-look", lesson_stop="2", answers="2~1"))["questions"][0]
    assert (question["right"], question["may_change"], question["settled"]) == (False, True, False)
    data = bar(on_page(SCRIPTS["home"], lesson="first-look", lesson_stop="2", answers="2~1~2"))
    (question,) = data["questions"]
    assert (question["right"], question["may_change"], question["given"]) == (True, False, [2])
    assert "No, the letters" in question["was"]
    assert data["reveal"]


@pytest.mark.parametrize("stop", [1, 3, 5])
def test_each_bold_term_in_the_words_of_a_stop_is_marked(stop: int) -> None:
    names = names_of(*terms())
    say = bar(on_page(SCRIPTS["home"], lesson="first-look", lesson_stop=str(stop)))["say"]
    bold = re.findall(r"\*\*(.+?)\*\*", lesson_of("first-look").stops[stop - 1].say)
    expected = [(address_of(names[words.lower()]), words) for words in bold if words.lower() in names]
    assert marks(say) == expected != []


def marks(elements: list[Any]) -> list[tuple[str, str]]:
    """The address and the words of each mark of a term in some elements of the bar."""
    found = []
    for tag, attributes, *children in (element for element in elements if not isinstance(element, str)):
        if tag == "a":
            found.append((attributes["href"], children[0][2]))
        found += marks(children)
    return found


def test_the_end_asks_the_missed_questions_again() -> None:
    lesson = shipped()["first-look"]
    answers = "1~2_2~1~_3~9_4~2_5~1_6~3_7~1~~3"
    data = bar(on_page(SCRIPTS["home"], lesson="first-look", lesson_stop="8", answers=answers))
    assert [question["stop"] for question in data["questions"]] == [2, 7]
    assert [question["open"] for question in data["questions"]] == [True, False]
    assert data["questions"][1]["right"]
    # A question that is first answered at the end stays with its judgement, too.
    late = bar(on_page(SCRIPTS["home"], lesson="first-look", lesson_stop="8", answers="5~2~~1"))["questions"]
    assert [(question["stop"], question["right"]) for question in late if not question["open"]] == [(5, True)]
    ((_, _, (_, _, (_, _, *head)), (_, _, *lines)),) = data["sheet"]
    assert [each[2] for each in head] == ["Answer sheet", "first", "at the end"]  # nobody has changed an answer
    marks = [[answer[2][-1] for answer in line[3:]] for line in lines]
    assert marks == [["✓", "–"], ["✗", "–"], *[["✓", "–"]] * 4, ["✗", "✓"]]
    assert f"of {len(lesson.questions)} questions right" in data["say"][0][2]


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ("", "You answered none of the 7 questions."),
        ("2~2_5~2", "You answered 2 of 7 questions; right: 1."),
    ],
)
def test_the_end_does_not_count_unanswered_questions_as_wrong(answers: str, sentence: str) -> None:
    data = bar(on_page(SCRIPTS["home"], lesson="first-look", lesson_stop="8", answers=answers))
    assert data["say"][0][2].startswith(sentence)
    assert len(data["questions"]) == 7 - answers.count("2~2")


def test_in_a_class_an_answer_is_not_judged_before_it_is_kept_or_changed() -> None:
    question = Question(kind="choose", ask="?", options=("a", "b"), reasons=("no", "yes"), answer=2)
    lesson = Lesson(title="t", discuss=True, stops=(Stop(title="a", say="b", page="home", question=question),))
    held = question_data(lesson, 0, Answer("2"))
    kept = question_data(lesson, 0, Answer("2", ""))
    assert held
    assert kept
    assert (held["held"], held["right"], held["may_change"]) == (True, False, True)
    assert (kept["held"], kept["right"], kept["may_change"]) == (False, True, False)


def test_an_order_is_short_on_the_sheet() -> None:
    question = Question(kind="order", ask="?", options=("Read.", "Write."))
    lesson = Lesson(title="t", discuss=True, stops=(Stop(title="a", say="b", page="home", question=question),))
    held = question_data(lesson, 0, Answer("1-0"))
    assert held
    words = text("lesson")["bar"]
    assert held["says"] == f"{words['noted_order']} {words['discuss']}"
    assert line_of_sheet(lesson, 0, Answer("1-0", "0-1")) == ["1. a", "Write → Read ✗", "Read → Write ✓", "–"]


HOSTILE = "<img src=x onerror=alert(1)> [a](http://evil.example) <script>1</script> {0.__class__} {kind}"


def test_a_hostile_lesson_in_a_link_is_shown_as_plain_text() -> None:
    stop = Stop(
        title=HOSTILE,
        say=f"{HOSTILE} said",
        page="nowhere",
        view=(("source", "javascript:alert(1)"), ("model", "../../etc/passwd")),
        head="turning",
        question=Question(kind="tokens", ask=HOSTILE, truth=Truth(name="attention-row", query=HOSTILE[:50])),
    )
    app = on_page(SCRIPTS["home"], lesson=pack(Lesson(title=HOSTILE, stops=(stop, stop))))
    assert not app.exception
    assert not app.error
    data = bar(app)
    assert data["title"] == HOSTILE
    assert data["say"] == [["p", {}, f"{HOSTILE} said"]]
    assert data["next"].startswith(".?")
    assert "names no head" in data["questions"][0]["says"] or "trained model" in data["questions"][0]["says"]
    assert "page that this app does not have" in json.dumps(data["reveal"])


def test_a_text_that_equals_the_title_of_its_stop_is_shown_once() -> None:
    """A view that was kept in the app is such a stop until its author writes a text."""
    app = on_page(SCRIPTS["home"], lesson=pack(Lesson(title="t", stops=(Stop(title="Home", say="Home", page="home"),))))
    assert (bar(app)["title"], bar(app)["say"]) == ("Home", [])


@pytest.mark.parametrize("name", ["nothing", "<b>", "my-file", "z.AAAA"])
def test_an_unknown_lesson_gives_a_warning(name: str) -> None:
    app = on_page(SCRIPTS["home"], lesson=name, lesson_stop="x", answers="~~~")
    assert not app.exception
    assert [warning.icon for warning in app.warning] == [":material/school:"]


# --- in a browser ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.browser
def test_first_look_is_played_to_its_end_by_keyboard(visitor: Visitor) -> None:
    """A short link opens the lesson, presented, on the page of the stop. After that, mostly keys are used: for the answers, for
    the next stops like a clicker, and for the missed question at the end."""
    lesson = shipped()["first-look"]
    visitor.page.set_viewport_size({"width": 1024, "height": 768})
    page = visitor.open("?lesson=first-look&lesson_stop=2&present=1")
    section = page.locator(".bar section")
    section.get_by_text("2 of 7").wait_for()
    page.wait_for_url("**/positions?*")
    page.wait_for_function("!history.headlight.opening")  # the bar is built again for the opened page
    visitor.settle()
    choice = section.get_by_role("button", name=lesson.stops[1].question.options[0] if lesson.stops[1].question else "")
    choice.press("Enter")
    expect(section.locator(".verdict")).to_be_in_viewport(ratio=1)
    section.get_by_role("button", name="Keep it and show").press("Enter")
    section.locator(".reveal p").first.wait_for()
    # The edit that was asked about is made, and its words are folded beside it.
    experiment = page.locator(".st-key-lesson-marks")
    expect(experiment.get_by_text("The two answers differ in every place.")).to_be_in_viewport(ratio=1)
    expect(section.locator("#stop-words")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    section.get_by_text("3 of 7").wait_for()
    expect(experiment.get_by_text("The two answers differ in every place.")).to_have_count(0)
    if section.locator("#stop-words").is_hidden():  # on a projector long words are folded, for the question's sake
        section.locator("summary").click()
    # A term is explained as on the pages, without another address.
    address = page.url
    section.get_by_role("link", name="query", exact=True).press("Enter")
    expect(page.locator(".meaning")).to_have_text(text("glossary")["terms"]["query"])
    section.locator(".name").focus()
    expect(page.locator(".meaning")).to_have_count(0)
    assert page.url == address
    title = page.locator("h1").first
    assert page.evaluate("element => getComputedStyle(element).visibility", title.element_handle()) == "hidden"
    # There is no mark to check yet, so the button is disabled. Its label is still readable.
    check = page.locator(".st-key-lesson-check button")
    expect(check).to_be_disabled()
    assert check.evaluate("button => getComputedStyle(button).color") != "rgb(255, 255, 255)"
    # Tokens can be marked only on the picture. Back removes the last mark.
    expect(section.get_by_role("button", name="t", exact=True)).to_have_count(0)
    cells = page.locator(".marking .cell:enabled")
    cells.first.focus()
    for key in ("End", "ArrowLeft", "Space"):
        page.keyboard.press(key)
    expect(cells.nth(9)).to_have_attribute("aria-pressed", "true")
    page.wait_for_url("**marked=9")  # otherwise one change of the address could have both marks, and Back would undo both
    visitor.settle()
    cells.nth(1).click()
    page.wait_for_url("**marked=1.9")
    visitor.settle()
    page.go_back()
    expect(cells.nth(1)).to_have_attribute("aria-pressed", "false")
    expect(cells.nth(9)).to_have_attribute("aria-pressed", "true")
    visitor.settle()
    check.press("Enter")
    section.get_by_text("Right.", exact=True).wait_for()
    expect(page.locator(".marking")).to_have_count(0)
    title.wait_for()
    assert page.evaluate("element => getComputedStyle(element).visibility", title.element_handle()) == "visible"
    expect(page.locator(".st-key-head-map .shapelayer path")).to_have_count(4)  # the row and the mark, on the page's own map
    page.keyboard.press("PageUp")
    section.get_by_text("2 of 7").wait_for()
    for stop in range(3, len(lesson.stops) + 1):
        page.keyboard.press("PageDown")
        section.get_by_text(f"{stop} of 7").wait_for()
        # The focus moves to the question if it is open, otherwise to the name, so that the bar gets the next key.
        place = "question open" if lesson.stops[stop - 1].question and stop > 3 else "name"
        page.wait_for_function(f"() => document.activeElement?.shadowRoot?.activeElement?.className === '{place}'")
    page.keyboard.press("PageDown")
    section.get_by_text("The end of “First look”").wait_for()
    assert "present=1" in page.url
    asked_again = section.locator('[data-question="2"]')
    asked_again.get_by_role("button").nth(1).press("Enter")
    asked_again.get_by_text("Right.", exact=True).wait_for()
    assert "answers=2~1~~2_3~9" in page.url
    section.get_by_role("button", name="Leave the lesson").press("Enter")
    section.wait_for(state="detached")
    page.wait_for_url(lambda url: "lesson" not in url)
    # The end of a longer lesson, with the notes for the teacher in a second window. Keys in that window change the stop, too.
    stops = shipped()["one-lesson"].stops
    page = visitor.open(f"?lesson=one-lesson&lesson_stop={len(stops) - 1}&present=1")
    section.get_by_text(f"{len(stops) - 1} of {len(stops)}").wait_for()
    with page.expect_popup() as popup:
        section.get_by_role("button", name="Notes").click()
    notes = popup.value
    expect(notes.get_by_role("heading")).to_have_text(stops[-2].title)
    page.keyboard.press("PageDown")
    expect(notes.get_by_role("heading")).to_have_text(stops[-1].title)
    expect(notes.locator("body")).to_contain_text(stops[-1].notes[:20])
    black = page.get_by_text(text("present")["bar"]["black"])
    notes.keyboard.press("b")
    expect(black).to_be_attached()
    notes.keyboard.press("b")
    expect(black).to_have_count(0)
    notes.keyboard.press("PageDown")
    section.get_by_text("The end of “Two lessons”").wait_for()


# Whether the bar of a lesson covers the focused element, if that element is not in the bar.
COVERED = """() => {
    let [active, host] = [document.activeElement, document.activeElement];
    while (active.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
    const {left, top, width, height} = active.getBoundingClientRect();
    const seen = document.elementFromPoint(left + Math.min(width, 20) / 2, top + Math.min(height, 20) / 2);
    return Boolean(seen?.closest('.st-key-lesson_bar')) && !host.closest('.st-key-lesson_bar');
}"""


@pytest.mark.slow
@pytest.mark.browser
def test_the_focus_starts_at_the_question_and_is_never_under_the_bar(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 1024, "height": 768})
    page = visitor.open("lessons")
    start = page.get_by_role("button", name="Start First look")
    start.focus()
    start.press("Enter")
    focused = "document.activeElement?.shadowRoot?.activeElement"
    page.wait_for_function(f"{focused}?.matches('.question.open[aria-labelledby]')")
    visitor.settle()
    names = f"{focused}.getAttribute('aria-labelledby').split(' ').map((id) => {focused}.getRootNode().getElementById(id))"
    assert shipped()["first-look"].stops[0].title in page.evaluate(f"{names}.map((name) => name.textContent)")
    page.keyboard.press("Tab")
    question = shipped()["first-look"].stops[0].question
    assert question
    assert page.evaluate(f"{focused}.textContent") == question.options[0]
    # Move the focus from the end of a page with an answer upwards.
    visitor.open("attention?lesson=first-look&lesson_stop=4&answers=4~1~1")
    page.get_by_role("button", name=text("glossary")["title"]).focus()
    for _ in range(30):
        page.keyboard.press("Shift+Tab")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert not page.evaluate(COVERED)


def test_the_browser_opens_the_view_of_a_stop_only_if_the_address_had_none() -> None:
    bare = {"lesson": "does-attention-explain", "lesson_stop": "1"}
    assert bar(on_page(SCRIPTS["attention"], **bare, present="1"))["viewless"]
    assert not bar(on_page(SCRIPTS["attention"], **bare, **view_of(stop_of("does-attention-explain", 0))))["viewless"]


@pytest.mark.slow
@pytest.mark.browser
def test_on_a_projector_the_row_of_the_question_and_then_its_marks_are_on_screen(visitor: Visitor) -> None:
    """The row is the eleventh row of the map. The stop mentions the sidebar, which a key shows over the page."""
    visitor.page.set_viewport_size({"width": 1280, "height": 720})
    page = visitor.open("attention?lesson=does-attention-explain&lesson_stop=1&present=1")
    page.wait_for_url(re.compile("layer=1"))  # the bar opens the view of the stop by itself
    cells = page.locator(".marking .cell:enabled")
    for cell in (cells.first, cells.last):
        expect(cell).to_be_in_viewport(ratio=1)
    cells.nth(12).click()
    page.locator(".st-key-lesson-check button").click()
    expect(page.locator(".st-key-head-map .shapelayer path").first).to_be_in_viewport(ratio=0.9)
    sidebar = page.get_by_test_id("stSidebar")
    page.keyboard.press("s")
    expect(sidebar.get_by_test_id("stSelectbox").first).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(sidebar).to_be_hidden()
    assert "present=1" in page.url


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("size", PROJECTORS, ids=str)
def test_on_a_projector_the_text_leaves_room_for_the_picture(visitor: Visitor, size: ViewportSize) -> None:
    """Stop 1 of First look has the longest text."""
    visitor.page.set_viewport_size(size)
    page = visitor.open("?lesson=first-look&lesson_stop=1&present=1")
    for seen in (page.locator(".bar .question button").last, page.get_by_text("Encoder: reads")):
        expect(seen).to_be_in_viewport(ratio=1)
    assert page.locator(".bar[data-stop]").evaluate("bar => parseFloat(getComputedStyle(bar).fontSize)") >= 26
    assert page.evaluate(SMALL) == []
    assert page.evaluate(CUT_OFF) == []


# A stop of each lesson whose question or options are long.
LONG_QUESTIONS = [("needed-or-enough", 4), ("does-attention-explain", 7), ("one-lesson", 6)]


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(("name", "number"), LONG_QUESTIONS)
def test_on_the_narrower_projector_all_options_are_on_screen(visitor: Visitor, name: str, number: int) -> None:
    visitor.page.set_viewport_size(PROJECTORS[0])
    page = visitor.open(f"?lesson={name}&lesson_stop={number}&present=1")
    expect(page.locator(".bar .question button").last).to_be_in_viewport(ratio=1)
    # The link without words is still read aloud.
    expect(page.locator(".bar .moves").get_by_role("link", name=text("lesson")["bar"]["again"])).to_be_in_viewport(ratio=1)
    panel, covered = page.locator(".bar[data-stop]").bounding_box(), page.locator(".bar .covered")
    assert panel
    assert all(box["x"] >= panel["x"] + panel["width"] for box in covered.evaluate_all(BOXES))


@pytest.mark.browser
def test_a_stop_that_is_opened_with_its_answer_shows_the_judgement_and_the_numbers_of_its_row(visitor: Visitor) -> None:
    """The question lists eleven tokens, so on the narrower projector its judgement is below the panel at first."""
    visitor.page.set_viewport_size(PROJECTORS[0])
    view = urlencode(view_of(stop_of("first-look", 2)))
    page = visitor.open(f"attention?{view}&lesson=first-look&lesson_stop=3&answers=3~9~&present=1")
    expect(page.locator(".bar .verdict")).to_be_in_viewport(ratio=1)
    numbers = page.locator(".st-key-experiment-row .heatmap-label")
    expect(numbers).to_have_count(2 * 11)
    assert sum(map(int, numbers.all_text_contents())) == pytest.approx(200, abs=11)  # % of two rows, rounded
    expect(page.get_by_text(text("lesson")["experiment"]["row_percent"])).to_be_visible()


BOXES = "parts => parts.map((part) => part.getBoundingClientRect().toJSON())"


@pytest.mark.slow
@pytest.mark.browser
def test_words_that_fit_have_no_shadow_below(visitor: Visitor) -> None:
    visitor.page.set_viewport_size(PROJECTORS[0])
    page = visitor.open("?lesson=does-attention-explain&lesson_stop=2")
    expect(page.locator(".bar .question button").last).to_be_in_viewport(ratio=1)
    assert (
        page.evaluate(
            """() => {
            const panel = document.querySelector('.st-key-lesson_bar').parentElement;
            return panel.scrollHeight - panel.clientHeight;
        }"""
        )
        == 0
    )


# Whether the page was scrolled, and no heading is partly under the bar at the top.
WHOLE_HEADINGS = """() => {
    const edge = document.querySelector('[data-testid="stHeader"]').clientHeight;
    const cut = [...document.querySelectorAll('.stMain :is(h2, h3)')].filter((heading) => {
        const {top, bottom} = heading.getBoundingClientRect();
        return top < edge - 1 && bottom > edge;
    });
    return document.querySelector('.stMain').scrollTop > 0 && cut.length === 0;
}"""


@pytest.mark.slow
@pytest.mark.browser
def test_the_heading_above_the_part_of_a_stop_is_not_cut(visitor: Visitor) -> None:
    visitor.page.set_viewport_size(PROJECTORS[0])
    page = visitor.open("?lesson=inside-one-head&lesson_stop=2&answers=2~13.294~")
    page.wait_for_function(WHOLE_HEADINGS)
    visitor.open("?lesson=writing-and-learning&lesson_stop=5&answers=5~2~")
    expect(page.locator("#smoothing")).to_be_in_viewport(ratio=1)


@pytest.mark.slow
@pytest.mark.browser
def test_what_comes_after_the_answer_is_shown_although_the_page_was_uncovered_before(visitor: Visitor) -> None:
    page = visitor.open("attention?lesson=first-look&lesson_stop=3")
    section, marks = page.locator(".bar section"), page.locator(".st-key-lesson-marks")
    section.get_by_role("button", name="Show it now").click()
    expect(marks).to_be_hidden()
    section.locator(".tokens button").nth(1).click()
    section.get_by_role("button", name="Check").click()
    expect(marks.locator(".chart").first).to_be_visible()


@pytest.mark.slow
@pytest.mark.browser
def test_on_a_phone_the_picture_of_each_stop_is_visible_above_its_words(visitor: Visitor) -> None:
    """The words are below the page, and cover less than half of the screen. Answers are as wide as the screen, and high enough
    for a thumb."""
    visitor.page.set_viewport_size({"width": 390, "height": 844})
    page = visitor.open("attention?lesson=first-look&lesson_stop=3")
    section = page.locator(".bar section")
    tokens = section.locator(".tokens button")
    expect(tokens).to_have_count(0)  # tokens are marked on the picture above the words
    panel, picture = section.bounding_box(), page.locator(".st-key-lesson-marks .marking").bounding_box()
    assert panel
    assert picture
    assert picture["y"] > 0
    assert picture["y"] + picture["height"] < panel["y"]
    section.get_by_role("button", name="Show it now").click()
    expect(tokens).to_have_text(["<sos>", *"headlight", "<eos>"])
    section.locator("a.next").click()
    section.get_by_text("4 of 7").wait_for()
    visitor.settle()
    row, panel = page.locator(".st-key-head-map .shapelayer path").last.bounding_box(), section.bounding_box()
    assert row
    assert panel
    assert 0 < row["y"] < panel["y"]
    answer = section.get_by_text("Yes, it changes.")
    box = answer.bounding_box()
    assert box
    assert box["height"] >= 44
    assert box["width"] > 330
    answer.click()
    section.get_by_text("Right.", exact=True).wait_for()
    expect(page.locator(".st-key-lesson-marks").get_by_text("the 2 of 14 places that differ")).to_be_in_viewport(ratio=1)
    expect(section.locator("a.next")).to_be_in_viewport(ratio=1)
    # The map is wider than the screen, so it can be focused and scrolled with keys.
    expect(page.locator(".st-key-head-map .chart")).to_have_attribute("tabindex", "0")
    for place in ("5 of 7", "6 of 7", "7 of 7", "The end of “First look”"):
        section.locator("a.next").click()
        section.get_by_text(place).wait_for()
    section.locator('[data-question="5"] button').nth(0).click()
    section.locator('[data-question="5"]').get_by_text("Right.", exact=True).wait_for()
    expect(page).to_have_url(re.compile("answers=4~2~_5~1"))


# Whether the frame of a row is wholly on the screen and in its chart; without its line, which browsers take for too wide.
WHOLE_ROW = """() => {
    const row = [...document.querySelectorAll('.st-key-head-map .shapelayer path')].at(-1);
    const inside = (one, other) =>
        one.left >= other.left && one.right <= other.right && one.top >= other.top && one.bottom <= other.bottom;
    const screen = {left: 0, top: 0, right: innerWidth, bottom: innerHeight};
    const box = row?.getBoundingClientRect();
    return box && box.width > 0 && inside(box, screen) && inside(box, row.closest('.chart').getBoundingClientRect());
}"""


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(("name", "by_link"), [*((name, False) for name in LONG), ("inside-one-head", True)])
def test_at_1024_px_each_stop_shows_what_it_is_about_and_the_row_that_it_asks_about(
    visitor: Visitor, name: str, by_link: bool
) -> None:
    """Reached by *Next*, which takes half of the time, and in one lesson by the link of each stop."""
    visitor.page.set_viewport_size({"width": 1024, "height": 768})
    page = visitor.open(f"?lesson={name}&lesson_stop=1")
    for number, stop in enumerate(shipped()[name].stops, 1):
        if number > 1 and by_link:
            visitor.open(f"?lesson={name}&lesson_stop={number}")
        elif number > 1:
            page.locator(".bar a.next").click()
        page.locator(f".bar[data-stop='{number}']").wait_for()
        page.wait_for_url(f"**/{path(stop.page)}?*")
        visitor.settle()
        asked = page.locator(".bar .question button, .bar .question input").first
        if stop.question and stop.asks != OF_ROW:
            expect(asked).to_be_in_viewport(ratio=1)
        if stop.asks == OF_ROW:
            expect(page.locator(".marking .cell:enabled").first).to_be_in_viewport(ratio=1)
        elif stop.row:
            page.wait_for_function(WHOLE_ROW)
        elif stop.place and not stop.cover and stop.asks not in ABOUT_HEADS:
            page.wait_for_function(
                """(name) => {
                    const find = (selector) => document.querySelector(selector);
                    const part = find(`.st-key-${name}`) ?? document.getElementById(name) ?? find(`[data-part="${name}"]`);
                    const {top, height} = part?.getBoundingClientRect() ?? {};
                    return height > 0 && top >= 0 && top < innerHeight / 2;
                }""",
                arg=stop.place,
            )
        panel = page.locator(".bar[data-stop]").bounding_box()
        assert panel
        assert panel["width"] <= 0.4 * 1024


@pytest.mark.slow
@pytest.mark.browser
def test_a_lesson_is_left_without_loss_and_continued(visitor: Visitor) -> None:
    page = visitor.open("?model=reverse&source=torch")
    page.locator(".st-key-first_lesson button").click()
    page.locator(".bar[data-stop='1'] a.next").click()
    page.locator(".bar[data-stop='2'] .options button").nth(1).click()
    page.wait_for_url("**answers=2~2~**")
    visitor.settle()
    expect(page.get_by_label("Source text", exact=True)).to_have_value("headlight")
    page.get_by_role("button", name="Leave the lesson").click()
    page.locator(".bar[data-stop]").wait_for(state="detached")
    expect(page.get_by_label("Source text", exact=True)).to_have_value("torch")
    page.wait_for_url(lambda url: "model=reverse" in url and "lesson" not in url)
    page.get_by_role("button", name="Continue First look at stop 2").click()
    page.locator(".bar[data-stop='2'] .verdict").wait_for()  # with the answer
    expect(page.get_by_label("Source text", exact=True)).to_have_value("headlight")
