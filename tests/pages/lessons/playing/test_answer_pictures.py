"""Pictures with answers side by side: drawn words, and an answer before and after the training."""

import re

import pytest

from pages.lessons.content.library import shipped
from pages.lessons.content.packing import pack
from pages.lessons.content.reading import read_lesson
from pages.lessons.content.stop_views import view_of
from pages.ui.text import text
from tests.pages.apps import on_page, shown
from tests.pages.lessons.bar import bar
from transformer import Pipeline
from transformer.pipeline.decoding.generation import Generation
from transformer.pipeline.decoding.logits_processors import Temperature
from transformer.pipeline.decoding.methods import Sample
from transformer.tracing.phrases import interventions

DECODING, MASKS, TRAINING = "pages/decoding/page.py", "pages/masks/page.py", "pages/training/page.py"


@pytest.mark.slow
def test_without_cross_attention_every_sentence_gets_the_same_words() -> None:
    """Stop 1 of First look says so, and lists two other sentences with their answers."""
    stop = shipped()["first-look"].stops[0]
    app = on_page("pages/home/page.py", **view_of(stop), lesson="first-look", lesson_stop="1", answers="1~2")
    (table,) = [each.value for each in app.table if each.value.columns[0] == "text"]
    pipeline = Pipeline.load(dict(stop.view)["model"])
    _, without, edited = (list(table[name]) for name in table.columns)
    assert list(table["text"]) == list(stop.others)
    assert without == [pipeline.answer(source) for source in stop.others]
    edits = [edit for layer in "12" for edit in interventions(f"silence cross layer {layer}", pipeline.config)]
    assert set(edited) == {pipeline.answers([dict(stop.view)["source"]], edits)[0].text}


def test_an_edit_that_changes_nothing_changes_no_token_most() -> None:
    view = {"model": "reverse", "source": "abc", "part": "what-if"}
    said = [
        [shown(each.value) for each in on_page("pages/attention/page.py", **view, edits=edit).caption]
        for edit in ("no padding mask", "no positions")
    ]
    assert all(any("**Loss**" in each for each in captions) for captions in said)
    assert [any("changes most" in each for each in captions) for captions in said] == [False, True]


def test_words_are_drawn_differently_where_a_lesson_says_so() -> None:
    """Stop 6 of “First look”: both greedy answers are the same, and the two drawn ones differ from them and from each other."""
    view, pipeline = view_of(shipped()["first-look"].stops[5]), Pipeline.load("english-french")
    app = on_page(DECODING, **view, lesson="first-look", lesson_stop="6", answers="6~3")
    greedy, again, first, second = (each.value.replace("**", "") for each in app.markdown if " · " in each.value)
    assert greedy == again
    assert len({greedy, first, second}) == 3
    steps = pipeline.generate(view["source"], Sample(int(view["seed"])), [Temperature(float(view["temperature"]))])
    tokens = pipeline.target_vocabulary.tokens_of(Generation.of(steps).ids())
    assert shown(first) == " · ".join(tokens)


@pytest.mark.slow
def test_the_first_snapshot_writes_letters_without_any_order() -> None:
    """Stop 7 of First look says so."""
    view = view_of(shipped()["first-look"].stops[6])
    app = on_page(TRAINING, **view, lesson="first-look", lesson_stop="7", answers="7~3")
    before, after = (
        shown(each.value).replace("**", "").replace(" · ", "") for each in app.markdown if each.value.count(" · ") > 3
    )
    assert before not in ("", view["source"], view["source"][::-1])
    assert after == view["source"][::-1]
    first, last = (float(each.value.split()[4]) for each in app.caption if each.value.startswith("Loss on this text"))
    trace = Pipeline.load(view["model"]).trace(view["source"], view["source"][::-1])
    right = [*trace.target_ids[0][1:], Pipeline.load(view["model"]).target_vocabulary.eos]
    assert last == pytest.approx(-float(trace.probabilities[0].log()[range(len(right)), right].mean()), rel=0.01)
    assert first > 50 * last


@pytest.mark.slow
@pytest.mark.parametrize(("stop", "script", "answers"), [(5, MASKS, "5~1"), (6, DECODING, "6~3"), (7, TRAINING, "7~3")])
def test_bold_tokens_are_explained(stop: int, script: str, answers: str) -> None:
    """Stops 5, 6 and 7 of First look draw two answers side by side."""
    view = view_of(shipped()["first-look"].stops[stop - 1])
    app = on_page(script, **view, lesson="first-look", lesson_stop=str(stop), answers=answers)
    assert any("**" in each.value and each.value.count(" · ") > 3 for each in app.markdown)
    assert any("Bold:" in each.value for each in app.caption)


@pytest.mark.slow
def test_a_training_that_was_not_recorded_has_no_picture_and_says_so() -> None:
    stop = {"title": "a", "say": "b", "page": "training", "pictures": ["snapshots"], "view": {"model": "english-french-static"}}
    lesson = pack(read_lesson({"title": "c", "stops": [stop]}))
    app = on_page(TRAINING, lesson=lesson, lesson_stop="1", model="english-french-static")
    assert any("not recorded" in each.value and "english-french-static" in shown(each.value) for each in app.info)


@pytest.mark.parametrize(("model", "here"), [("my-lost", False), ("reverse", True), ("own-sizes", True)])
def test_a_stop_about_a_model_that_is_not_here_says_so(model: str, here: bool) -> None:
    stop = {"title": "a", "say": "b", "page": "home", "view": {"model": model, "source": "abc"}}
    lesson = pack(read_lesson({"title": "c", "stops": [stop]}))
    app = on_page("pages/home/page.py", lesson=lesson, lesson_stop="1", model="copy")
    name = "on_page" if here else "on_page_missing"
    assert bar(app)["on"][0][2] == text("lesson")[name].format(sources="“abc”", model=model)


@pytest.mark.slow
def test_the_head_of_the_second_model_looks_at_the_same_noun() -> None:
    """Stop 4 of First look says so."""
    stop = shipped()["first-look"].stops[3]
    app = on_page("pages/attention/page.py", **view_of(stop), lesson="first-look", lesson_stop="4", answers="4~2")
    (said,) = [shown(each.value) for each in app.caption if each.value.startswith("This head of")]
    assert said.startswith(f"This head of *{stop.beside}*")
    assert "**animal** (1.00)" in said
    pronouns = Pipeline.load(stop.beside).card.measures["pronouns"]
    trace = Pipeline.load(stop.beside).trace(dict(stop.view)["source"])
    weights = trace.weights("cross", pronouns["layer"] - 1)[0, pronouns["head"] - 1]
    row = weights[trace.tokens("cross")[0].index("qu'")]
    noun = trace.tokens("cross")[1].index("animal")
    assert int(row.argmax()) == noun
    first = Pipeline.load(dict(stop.view)["model"])
    pronouns, trace = first.card.measures["pronouns"], first.trace(dict(stop.view)["source"])
    of_heads = trace.weights("cross", pronouns["layer"] - 1)[0, :, trace.tokens("cross")[0].index("qu'"), noun]
    fell = [shown(each.value) for each in app.caption if "changes most" in each.value]
    assert re.match(r"\*\*il\*\* changes most: from 0\.\d\d to 0\.\d\d\. Most probable there is now \*\*elle\*\*\. ", fell[0])
    assert (of_heads > 0.05).nonzero().flatten().tolist() == [pronouns["head"] - 1]  # “only this one looks at animal”


def test_a_model_trained_without_the_mask_learns_faster_and_cannot_write() -> None:
    """Stop 5 of First look says so."""
    stop = shipped()["first-look"].stops[4]
    app = on_page(MASKS, **view_of(stop), lesson="first-look", lesson_stop="5", answers="5~1")
    usual, without = (shown(each.value).replace("**", "") for each in app.markdown if each.value.count(" · ") > 3)
    assert "“headlight”, “cat”, “mask”, “stream”, read by reverse." in bar(app)["on"][0][2]
    assert any("on the batch just learnt" in each.value for each in app.markdown)  # as `Training.history` says
    assert usual == " · ".join(dict(stop.view)["source"][::-1])
    assert without.split(" · ")[0] != usual.split(" · ")[0]
    trained = {name: Pipeline.load(name).card for name in (stop.beside, dict(stop.view)["model"])}
    losses = [{each["step"]: each["loss"] for each in card.history} for card in trained.values()]
    assert min(losses[0].values()) == losses[0][1000] < losses[1][1000]
    assert losses[0][500] < 0.7 * losses[1][500]
    assert [card.recipe.get("edit", "") for card in trained.values()] == ["no causal mask", ""]


def test_without_the_mask_the_loss_of_the_model_that_needs_it_comes_from_the_last_token() -> None:
    """Stop 5 of First look says so."""
    stop = shipped()["first-look"].stops[4]
    view, pipeline = view_of(stop), Pipeline.load(stop.beside)
    trace = pipeline.trace(view["source"], view["target"], interventions("no causal mask", pipeline.config))
    right = [*trace.target_ids[0][1:], pipeline.target_vocabulary.eos]
    losses = -trace.probabilities[0].log()[range(len(right)), right]
    assert losses[-1] > 0.9 * losses.sum()
