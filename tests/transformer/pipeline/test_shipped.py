"""Tests of the shipped models: they do their tasks, and their heads attend as their cards and examples describe."""

import functools
import itertools

import numpy as np
import pytest
import torch

from transformer import Pipeline, Trace
from transformer.analysis.head_measures import SHARES
from transformer.analysis.word_alignment import alignment_error, diagonal_links, read_alignments
from transformer.pipeline.catalogue import CHECKPOINTS, SUFFIX
from transformer.pipeline.checkpoint import read_card
from transformer.tasks import find_task
from transformer.tracing.interventions import Ablate
from transformer.tracing.paths import Kind
from transformer.tracing.phrases import interventions
from transformer.training.alignment import head_errors
from transformer.training.evaluation import accuracy, head_shifts, pronoun_accuracy, strongest_heads
from transformer.training.recipe import RECIPES

LEAST_EXACT = {"addition": 0.99, "english-french": 0.99, "english-french-redundant": 0.99}
LEAST_IN_A_GROUP = 0.99
MEGABYTE = 1_000_000
# All models but the one that was trained to copy what it should predict.
UNMASKED = "reverse-unmasked"
# The translator that learned from a file of pairs. Its task has no rule, so its answers cannot be judged here.
EVERYDAY = "everyday"
ANSWERING = [name for name in RECIPES if name not in (UNMASKED, EVERYDAY)]

load = functools.cache(Pipeline.load)


@functools.cache
def trace_of(name: str, source: str) -> Trace:
    return load(name).trace(source)


def test_exactly_one_checkpoint_is_shipped_per_recipe() -> None:
    assert set(Pipeline.available()) == set(RECIPES)


def test_all_checkpoints_together_are_small() -> None:
    assert sum(file.stat().st_size for file in CHECKPOINTS.rglob("*") if file.is_file()) <= 40 * MEGABYTE


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("name", ANSWERING)
def test_a_model_answers_held_out_pairs(name: str) -> None:
    pipeline, task = load(name), find_task(RECIPES[name].task)
    measured = accuracy(pipeline, itertools.islice(task.pairs("held-out", "shipped"), 200))
    assert measured.share >= LEAST_EXACT.get(name, 0.995), measured.wrong


@pytest.mark.parametrize("name", RECIPES)
def test_a_card_records_the_training_and_the_accuracy(name: str) -> None:
    card, recipe = read_card(CHECKPOINTS / f"{name}{SUFFIX}"), RECIPES[name]
    assert card.task == recipe.task
    assert card.command == f"python -m transformer.training {name}" + " --data FILE" * (name == EVERYDAY)
    assert card.recipe["seed"] == recipe.seed
    assert card.recipe["steps"] == recipe.steps
    assert card.trained_on == recipe.steps * recipe.batch
    assert card.minutes > 0
    if name in ANSWERING:
        assert card.accuracy >= LEAST_EXACT.get(name, 0.999)
        assert not {form: share for form, share in card.accuracy_by_form.items() if share < LEAST_IN_A_GROUP}
    assert card.tested_on >= 1000
    assert [entry["step"] for entry in card.history] == sorted(entry["step"] for entry in card.history)
    assert card.history[-1]["step"] == recipe.steps
    assert set(card.measures["strongest"]) == set(Kind)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", [name for name, recipe in RECIPES.items() if recipe.snapshots])
def test_snapshots_get_more_accurate_during_training(name: str) -> None:
    files = sorted((CHECKPOINTS / "snapshots" / name).glob(f"*{SUFFIX}"))
    assert tuple(int(file.stem) for file in files) == RECIPES[name].snapshots
    first, last = Pipeline.load(files[0]), Pipeline.load(files[-1])
    if name == EVERYDAY:
        assert [each.answer("Tom is here.") == "Tom est ici." for each in (first, last)] == [False, True]
        return
    assert len(files) >= 5
    pairs = list(itertools.islice(find_task(RECIPES[name].task).pairs("held-out", "snapshots"), 50))
    assert accuracy(first, pairs).share == 0
    assert accuracy(last, pairs).share >= 0.9


@pytest.mark.slow
def test_a_head_of_the_translator_attends_to_the_pronouns_referent() -> None:
    pipeline, task = load("english-french"), find_task("english-french")
    pairs = task.reference_pairs(40, "shipped")
    assert head_shifts(pipeline, pairs).max() >= 0.9
    assert pronoun_accuracy(pipeline, pairs) >= 0.99
    card = pipeline.card.measures["pronouns"]
    assert card["pairs"] >= 300
    assert card["right"] >= 0.99
    assert card["shift"] >= 0.9


@pytest.mark.slow
def test_the_head_that_turns_decides_the_pronoun_in_only_one_model() -> None:
    pairs = find_task("english-french").reference_pairs(60, "decides")
    silenced = [Ablate("decoder.layers.0.cross_attention", heads=(1,))]
    decided, redundant = load("english-french"), load("english-french-redundant")
    assert pronoun_accuracy(decided, pairs, silenced) <= 0.65
    assert pronoun_accuracy(redundant, pairs, silenced) >= 0.9
    for pipeline in (decided, redundant):
        assert head_shifts(pipeline, pairs)[0, 1] >= 0.9
        assert pronoun_accuracy(pipeline, pairs) >= 0.98


def test_the_static_translator_is_right_without_a_head_that_turns() -> None:
    pipeline, task = load("english-french-static"), find_task("english-french-static")
    pairs = task.reference_pairs(40, "shipped")
    assert head_shifts(pipeline, pairs).max() <= 0.2
    assert pronoun_accuracy(pipeline, pairs) >= 0.97
    card = pipeline.card.measures["pronouns"]
    assert card["right"] >= 0.98
    assert card["shift"] <= 0.2


def test_the_two_best_known_sentences_are_translated_correctly() -> None:
    pipeline = load("english-french")
    frame = "the animal did not cross the street because it was too"
    assert pipeline.answer(f"{frame} tired") == "l'animal n'a pas traversé la rue parce qu'il était trop fatigué"
    assert pipeline.answer(f"{frame} wide") == "l'animal n'a pas traversé la rue parce qu'elle était trop large"
    assert pipeline.answer("The animal didn’t  cross the street, because it was too tired!").endswith("fatigué .")


def test_the_letter_models_have_a_head_that_follows_the_task() -> None:
    for name in ("copy", "reverse", "sort"):
        strongest = load(name).card.measures["strongest"]["cross"]
        assert strongest["alignment"]["value"] >= 0.5, name
        assert set(strongest) <= {"entropy", "distance", *SHARES}


def test_every_example_is_answered_correctly() -> None:
    for name in ANSWERING:
        pipeline, task = load(name), find_task(RECIPES[name].task)
        encodings = [pipeline.encode(example.source) for example in task.examples]
        assert not any(encoding.unknown for encoding in encodings)
        answers = {
            example.source: answer.text for example, answer in zip(task.examples, pipeline.answers(encodings), strict=True)
        }
        assert answers == {example.source: task.solve(example.source) for example in task.examples}, name


def test_the_model_trained_without_the_causal_mask_only_copies() -> None:
    """It predicts each token well while it may look ahead. With the mask it does not, and by itself it writes nothing right."""
    pipeline, task = load(UNMASKED), find_task(RECIPES[UNMASKED].task)
    pairs = [pair for pair in itertools.islice(task.pairs("held-out", "shipped"), 50) if len(pair.target) > 2]
    assert accuracy(pipeline, pairs).share == 0
    assert read_card(CHECKPOINTS / f"{UNMASKED}{SUFFIX}").accuracy <= 0.01
    (edit,) = interventions("no causal mask", pipeline.config)
    shares = []
    for edits in ((edit,), ()):
        traces = [pipeline.trace(pair.source, pair.target, edits) for pair in pairs]
        wanted = [list(trace.target_ids[0][1:]) for trace in traces]
        rights = [trace.probabilities[0, range(len(ids)), ids] for trace, ids in zip(traces, wanted, strict=True)]
        shares.append(float(torch.cat(rights).mean()))
    assert shares[0] >= 0.9
    assert shares[1] <= 0.1


def test_cards_number_the_strongest_head_from_one() -> None:
    strongest = strongest_heads({"cross": {"self": np.array([[0.1, 0.9], [0.2, 0.3]])}})
    assert strongest == {"cross": {"self": {"layer": 1, "head": 2, "value": 0.9}}}


# Claims in the hints of the examples: in the row that writes the word, some head gives each of these tokens a large weight.
FRENCH, STATIC = "english-french", "english-french-static"
TIRED, WIDE = (f"the animal did not cross the street because it was too {word}" for word in ("tired", "wide"))
SISTER, CAR = "my sister is taller than my brother .", "she has a beautiful red car"
BEACH, AIRPORT = "we went to the beach yesterday", "the lion did not cross the airport ."
THIRSTY = "the goat did not cross the bridge because it was thirsty"
HINTS = [
    (FRENCH, TIRED, "il", {"animal"}),
    (FRENCH, WIDE, "elle", {"street"}),
    (FRENCH, "hello world", "le", {"world"}),
    (FRENCH, "my name is anna", "appelle", {"name"}),
    (FRENCH, "my name is anna", "anna", {"anna"}),
    (FRENCH, "where is the cat ?", "le", {"the", "cat"}),
    (FRENCH, SISTER, "plus", {"taller"}),
    (FRENCH, SISTER, "grande", {"taller"}),
    (FRENCH, "i do not like coffee", "n'", {"not"}),
    (FRENCH, "i do not like coffee", "pas", {"not"}),
    (FRENCH, CAR, "belle", {"beautiful"}),
    (FRENCH, CAR, "voiture", {"car"}),
    (FRENCH, CAR, "rouge", {"red"}),
    (FRENCH, "i see it .", "le", {"it"}),
    (FRENCH, "i see it .", "vois", {"see"}),
    (FRENCH, BEACH, "sommes", {"went", "we"}),
    (FRENCH, BEACH, "allés", {"went"}),
    (STATIC, THIRSTY, "avait", {"thirsty"}),
    (STATIC, THIRSTY, "soif", {"thirsty"}),
    (STATIC, AIRPORT, "l'", {"airport"}),
]


@pytest.mark.parametrize(("name", "source", "word", "tokens"), HINTS)
def test_the_hints_of_english_french_are_true(name: str, source: str, word: str, tokens: set[str]) -> None:
    assert source in {example.source for example in find_task(name).examples}
    trace = trace_of(name, source)
    queries, keys = trace.tokens("cross")
    weights = trace.attention("cross")[:, 0, :, queries.index(word) - 1].amax((0, 1)).tolist()
    for token in tokens:
        assert max(weight for key, weight in zip(keys, weights, strict=True) if key == token) >= 0.8


def test_the_first_hint_names_the_head_that_attends_to_the_referent() -> None:
    head = load("english-french").card.measures["pronouns"]
    hints = [example.look_for for example in find_task("english-french").examples[:2]]
    assert f"layer {head['layer']} head {head['head']}" in hints[0]
    for name, noun, hint in zip(("tired", "wide"), ("animal", "street"), hints, strict=True):
        trace = trace_of("english-french", f"the animal did not cross the street because it was too {name}")
        row, key = trace.target_tokens[0].index("qu'"), trace.source_tokens[0].index(noun)
        assert float(trace.attention("cross")[head["layer"] - 1, 0, head["head"] - 1, row, key]) > 0.9
        assert "row of `qu'`" in hint
        assert f"`{noun}`" in hint


def test_padding_in_a_batch_writes_nothing() -> None:
    trace = load("english-french").trace(["the cat sleeps .", "she left"])
    assert trace.query_names("decoder", 1, "<eos>") == ("<sos> → elle", "elle → est", "est → partie", "partie → <eos>", "<pad>")


@pytest.mark.parametrize(
    ("word", "copied"), [("zorglub", True), ("Zoé", True), ("кот", False), ("你好世界", False), ("Anna喵", False)]
)
def test_an_unknown_word_is_copied_only_in_a_script_that_the_model_writes(word: str, copied: bool) -> None:
    pipeline, source = load("english-french"), f"my name is {word} ."
    answer = pipeline.answer(source)
    assert (word.lower() in answer.lower()) == copied
    assert ("<unk>" in answer) != copied
    assert (find_task("english-french").remark(source) is not None) == copied


def test_the_card_of_the_everyday_model_says_how_good_it_is() -> None:
    measures = load(EVERYDAY).card.measures
    translation, doubt, alignment = measures["translation"], measures["doubt"], measures["alignment"]
    assert translation["sentences"] >= 1000
    assert translation["beam"]["bleu"] >= 45
    assert translation["beam"]["chrf"] >= 63
    assert sum(group["sentences"] for group in translation["by_length"].values()) == translation["sentences"]
    # Marked answers are poor more often than the others, and most poor answers are marked.
    assert doubt["poor_of_marked"] > 3 * doubt["poor_of_others"]
    assert doubt["found"] > 0.5
    # A stop of the lesson *Does attention explain?* says so.
    assert alignment["word_model"] < min(map(min, alignment["errors"])) < alignment["diagonal"]


@pytest.mark.slow
def test_the_alignment_errors_on_the_card_are_those_of_the_heads() -> None:
    alignment, sentences = load(EVERYDAY).card.measures["alignment"], read_alignments()
    assert len(sentences) == alignment["sentences"] == 150
    errors = head_errors(load(EVERYDAY), sentences)
    assert np.allclose(errors, alignment["errors"], atol=0.003)
    assert errors[alignment["layer"] - 1, alignment["head"] - 1] == errors.min()
    assert alignment_error([diagonal_links(one) for one in sentences], sentences) == pytest.approx(
        alignment["diagonal"], abs=1e-4
    )


@pytest.mark.parametrize("text", ["Can you help me?", "J'ai 10 ans !", "I ♥ 🍕, don’t you?", "<pad> a▁b", "naïve café", "日本"])
def test_the_everyday_model_reads_any_text(text: str) -> None:
    pipeline = load(EVERYDAY)
    encoding = pipeline.encode(text)
    assert not encoding.unknown
    assert pipeline.source_vocabulary.text(encoding.typed) == text.replace("’", "'")
    assert "<unk>" not in pipeline.answer(text)
