"""Tests of the protocol of a task, on every registered task."""

import random
import re
from collections.abc import Iterable, Iterator
from copy import copy
from itertools import islice, tee
from pathlib import Path
from typing import Literal

import pytest

import transformer.tasks
from transformer.errors import InputError
from transformer.tasks import TASKS, Pair, Split, Task
from transformer.tasks.english_french import UNKNOWN_NAME
from transformer.text.vocabulary import Vocabulary

SAMPLES = 1_000
MOST_SAMPLES = 30_000
# Share of the vocabulary that may be missing in so many samples: forms that are rare in the language and in the training.
RARE = {"english-french": 0.05}
MOST_FORMS = 45


@pytest.fixture(scope="module", params=list(TASKS))
def task(request: pytest.FixtureRequest) -> Task:
    return TASKS[request.param]


@pytest.fixture(scope="module")
def training_pairs(task: Task) -> Iterator[Pair]:
    """Training pairs. Each `copy` starts at the first pair. A pair that another copy has read is not sampled again."""
    return tee(islice(task.pairs("train", "reach"), MOST_SAMPLES), 1)[0]


@pytest.fixture(scope="module")
def sampled_by_split(task: Task, training_pairs: Iterator[Pair]) -> dict[Split, list[Pair]]:
    """Pairs of both splits. Fewer of them are held out, because a held-out pair takes ten samples on average."""
    return {
        "train": [*islice(copy(training_pairs), SAMPLES)],
        "held-out": [*islice(task.pairs("held-out", 0), SAMPLES // 4)],
    }


@pytest.fixture(scope="module")
def sampled(sampled_by_split: dict[Split, list[Pair]]) -> list[Pair]:
    return [*sampled_by_split["train"], *sampled_by_split["held-out"]]


def test_every_task_of_the_package_is_registered():
    """The names are compared with those in the source text of the modules."""
    folder = Path(transformer.tasks.__file__).parent
    named = {
        name for file in folder.glob("*.py") for name in re.findall(r'^    name = "(.+)"$', file.read_text(), re.MULTILINE)
    }
    assert set(TASKS) == named
    assert list(TASKS) == sorted(named)


def test_the_error_for_an_unknown_task_names_all_tasks():
    with pytest.raises(InputError, match=r"^There is no task called 'klingon'; the tasks are addition, copy, .*sort\.$"):
        transformer.tasks.find_task("klingon")


def test_a_task_is_registered_with_descriptions(task: Task):
    assert TASKS[task.name] is task
    assert task.description.strip()
    assert task.accepts.strip()


def test_the_same_state_draws_the_same_pair(task: Task):
    first_rng, second_rng = random.Random(1), random.Random(1)
    random.seed(0)
    first = [task.sample(first_rng) for _ in range(50)]
    random.seed(1)
    assert [task.sample(second_rng) for _ in range(50)] == first
    assert first_rng.getstate() == second_rng.getstate()


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("split", ["train", "held-out"])
def test_the_same_seed_gives_the_same_pairs_and_another_seed_gives_others(task: Task, split: Split):
    first = list(islice(task.pairs(split, 3), 50))
    assert list(islice(task.pairs(split, 3), 50)) == first
    assert list(islice(task.pairs(split, 4), 50)) != first
    assert list(islice(task.pairs(split, "three"), 50)) != first


@pytest.mark.few_cases(2)
def test_the_splits_share_no_source_and_no_key(task: Task, sampled_by_split: dict[Split, list[Pair]]):
    sources: dict[Split, set[str]] = {}
    keys: dict[Split, set[str]] = {}
    for split, pairs in sampled_by_split.items():
        others = [pair for seed in (1, 2) for pair in islice(task.pairs(split, seed), SAMPLES // 40)]
        sources[split] = {pair.source for pair in (*pairs, *others)}
        keys[split] = {task.split_key(source) for source in sources[split]}
        # The key of a key is the key itself, so this is true only if nothing but the key decides the split.
        assert {task.is_held_out(key) for key in keys[split]} == {split == "held-out"}
    assert not sources["train"] & sources["held-out"]
    assert not keys["train"] & keys["held-out"]


@pytest.mark.few_cases(1)
def test_every_drawn_token_is_in_the_vocabulary(task: Task, sampled: list[Pair]):
    for pair in known(sampled):
        assert not task.source_vocabulary.unknown(task.source_vocabulary.split(pair.source)), pair
        assert not task.target_vocabulary.unknown(task.target_vocabulary.split(pair.target)), pair


@pytest.mark.slow
def test_the_vocabulary_has_exactly_the_words_of_the_training_split(task: Task, training_pairs: Iterator[Pair]):
    sources, targets = (known(copy(training_pairs)) for _ in range(2))
    for vocabulary, texts in (
        (task.source_vocabulary, (pair.source for pair in sources)),
        (task.target_vocabulary, (pair.target for pair in targets)),
    ):
        unused = unused_words(vocabulary, texts)
        assert len(unused) <= RARE.get(task.name, 0) * len(vocabulary.words), unused


def known(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """The pairs, except pairs with unknown words in place of names."""
    return (pair for pair in pairs if pair.form != UNKNOWN_NAME)


def unused_words(vocabulary: Vocabulary, texts: Iterable[str]) -> set[str]:
    """The words of the vocabulary that are in no text. It stops reading when no such word is left."""
    unused, pieces = set(vocabulary.words), set()
    for text in texts:
        # A token never contains a space, so a piece between spaces that was split before has no new tokens.
        new_pieces = set(text.split()) - pieces
        if new_pieces:
            pieces |= new_pieces
            tokens = vocabulary.split(" ".join(new_pieces))
            assert not vocabulary.unknown(tokens), text
            unused.difference_update(tokens)
            if not unused:
                break
    return unused


@pytest.mark.few_cases(2)
def test_longest_is_the_greatest_length_drawn(task: Task, sampled: list[Pair], training_pairs: Iterator[Pair]):
    assert max(len(task.source_vocabulary.split(pair.source)) for pair in sampled) <= task.longest
    assert any(len(task.source_vocabulary.split(pair.source)) == task.longest for pair in copy(training_pairs))


@pytest.mark.few_cases(2)
def test_solve_gives_the_drawn_answer(task: Task, sampled: list[Pair]):
    for pair in sampled:
        assert task.solve(pair.source) == pair.target, pair


@pytest.mark.few_cases(3)
def test_capitals_and_outer_spaces_change_nothing(task: Task, sampled: list[Pair]):
    for pair in sampled[:200]:
        assert task.solve(f"  {pair.source.upper()} ") == pair.target, pair


@pytest.mark.parametrize("source", ["", "   ", "☃", "\n☃ ☃"])
def test_solve_returns_none_for_other_texts(task: Task, source: str):
    assert task.solve(source) is None


def test_splitting_and_joining_an_answer_gives_the_same_answer(task: Task, sampled: list[Pair]):
    for pair in sampled:
        assert task.target_vocabulary.text(task.target_vocabulary.split(pair.target)) == pair.target


def test_forms_are_few_and_have_names(task: Task, sampled: list[Pair]):
    forms = {pair.form for pair in sampled}
    assert all(form.strip() for form in forms)
    assert len(forms) <= MOST_FORMS


def test_examples_have_an_answer_and_a_hint(task: Task):
    assert len(task.examples) >= 6
    assert len({example.source for example in task.examples}) == len(task.examples)
    for example in task.examples:
        assert task.solve(example.source) is not None, example
        assert not task.source_vocabulary.unknown(task.source_vocabulary.split(example.source)), example
        assert example.look_for.strip() == example.look_for
        assert example.look_for.endswith("."), example
    assert len({example.look_for for example in task.examples}) == len(task.examples)


def test_alignment_points_at_tokens(task: Task, sampled: list[Pair]):
    examples = [(example.source, task.solve(example.source) or "") for example in task.examples]
    for source_text, target_text in [*examples, *((pair.source, pair.target) for pair in sampled[:500])]:
        source, target = task.source_vocabulary.split(source_text), task.target_vocabulary.split(target_text)
        alignment = task.alignment(source, target)
        if alignment is not None:
            assert len(set(alignment)) == len(alignment)
            assert all(0 <= row < len(target) and 0 <= column < len(source) for row, column in alignment), source_text


def test_every_word_has_a_class_and_other_tokens_have_none(task: Task):
    for side, vocabulary in (("source", task.source_vocabulary), ("target", task.target_vocabulary)):
        classes = {token: task.word_class(token, side) for token in vocabulary.words}
        assert all(classes.values()), classes
        assert len(set(classes.values())) <= 13
        assert [task.word_class(token, side) for token in ("<pad>", "<unk>", "☃", "")] == [None] * 4


@pytest.mark.parametrize(
    ("name", "side", "expected"),
    [
        ("reverse", "target", {"a": "letter", "z": "letter"}),
        ("addition", "source", {"0": "digit", "+": "sign", "=": "sign"}),
        (
            "dates",
            "source",
            {"july": "month", "jul": "month", "may": "month", "tue": "weekday", "of": "function word", "/": "punctuation"},
        ),
        ("dates", "target", {"7": "digit", "-": "punctuation"}),
        ("english-french", "source", {"cat": "noun", "it": "pronoun"}),
    ],
)
def test_words_have_their_classes(name: str, side: Literal["source", "target"], expected: dict[str, str]):
    assert {token: TASKS[name].word_class(token, side) for token in expected} == expected
