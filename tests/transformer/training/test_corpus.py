"""Training on a file of sentence pairs. The sentences are invented; the real file is not part of the project."""

import gzip
import itertools
import json
import random
from pathlib import Path

import pytest
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from transformer import Pipeline
from transformer.errors import CheckpointError, InputError
from transformer.pipeline.checkpoint import digest
from transformer.tasks import Pair
from transformer.text.subwords import FIRST
from transformer.training.__main__ import main
from transformer.training.corpus import CHARACTERS, Corpus, form_of, is_held_out, open_corpus, pieces_of, read_corpus
from transformer.training.recipe import RECIPES, Recipe
from transformer.training.run import Training

pytest.importorskip("tokenizers")
ANIMALS = ["cat", "dog", "cow", "hen", "fox", "owl", "bee", "ant", "pig", "rat", "elk", "emu", "ewe", "jay"]
DOINGS = {"sleeps": "dort", "eats": "mange", "sings": "chante", "runs": "court", "jumps": "saute"}
PLACES = {"here": "ici", "there": "là", "now": "maintenant", "today": "aujourd'hui"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    lines = [
        f"The {animal} {doing} {place}.\tLe {animal} {makes} {where}.\n"
        for animal, (doing, makes), (place, where) in itertools.product(ANIMALS, DOINGS.items(), PLACES.items())
    ]
    path = tmp_path / "pairs.tsv.gz"
    # A second translation, a third column and an empty line's worth of French, as real files have them.
    extra = ["The cat sleeps here.\tLe chat dort ici.\tby somebody\n", "No French.\t\n"]
    path.write_bytes(gzip.compress("".join([*lines, *extra]).encode()))
    return path


def test_translations_of_one_sentence_belong_together(file: Path):
    sentences = read_corpus(file)
    assert len(sentences) == 280
    assert sentences[0].targets == ("Le cat dort ici.", "Le chat dort ici.")


def test_no_sentence_is_in_both_splits(file: Path):
    corpus = open_corpus("tiny", file, len(FIRST) + 60)
    train = {pair.source for pair in corpus.known_pairs}
    held_out = {pair.source for pair in itertools.islice(corpus.pairs("held-out", 0), 50)}
    assert held_out
    assert not train & held_out
    assert all(map(is_held_out, held_out))
    assert not any(map(is_held_out, train))
    drawn = list(itertools.islice(corpus.pairs("train", 0), len(corpus.known_pairs)))
    assert sorted(drawn) == sorted(corpus.known_pairs)
    assert corpus.solve("The cat sleeps here.") is None


def test_pairs_are_shown_as_typed_from_the_step_of_the_recipe(file: Path):
    recipe = Recipe(task="tiny", steps=4, batch=64, pool=2, as_typed=1.0, hard_from=2, pieces=len(FIRST) + 60)
    recipe = recipe.replace(config=(("d_model", 16), ("heads", 2), ("max_len", 64)))
    training = Training("tiny", recipe, open_corpus("tiny", file, recipe.pieces))
    early, late = ([pair.source for batch in training.batches(pool) for pair in batch] for pool in (0, 1))
    assert all(source.startswith("The ") for source in early)
    assert all(source.startswith(("the ", "THE ")) for source in late)


@pytest.mark.slow
def test_a_pair_that_becomes_too_long_is_shown_as_it_is(file: Path):
    recipe = Recipe(task="tiny", steps=4, as_typed=1.0, pieces=len(FIRST) + 60, config=(("max_len", 64),))
    training = Training("tiny", recipe, open_corpus("tiny", file, recipe.pieces))
    short = Pair("THE CAT", "Le chat.", "")
    long = Pair("İ" * 30, "Le chat.", "")  # two bytes each; the small letter is written with three
    assert training.as_typed(short, random.Random(0)).source == "the cat"
    assert training.as_typed(long, random.Random(0)) == long


def test_a_sentence_is_grouped_by_its_words():
    assert [form_of(" ".join("a" * count)) for count in (1, 4, 5, 10, 11)] == [
        *("1 to 4 words", "1 to 4 words", "5 to 7 words", "8 to 10 words", "11 words or more")
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.tsv", None, "There is no file 'absent.tsv' of sentence pairs.*manythings.org/anki"),
        ("a.tsv", b"no tab\n", "Line 1 of 'a.tsv' has no tab"),
        ("a.gz", b"no gzip", "The file 'a.gz' cannot be read"),
        ("a.gz", gzip.compress(b"a\tb\n" * 99, mtime=0)[:12] + b"\xff" * 40, "The file 'a.gz' cannot be read"),
        ("a.tsv", b"\xff\t\xff", "The file 'a.tsv' cannot be read"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, name: str, content: bytes | None, message: str):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_corpus(tmp_path / name)


def test_a_file_with_too_little_text_is_refused(file: Path):
    with pytest.raises(InputError, match=r"The texts give only .* pieces, not 5000"):
        open_corpus("tiny", file, 5000)
    with pytest.raises(InputError, match="has no pair of the split"):
        Corpus("tiny", [], open_corpus("tiny", file, len(FIRST) + 60).source_vocabulary)


def test_of_equally_frequent_characters_the_first_ones_are_pieces():
    rare = [chr(0x4E00 + index) for index in range(2 * CHARACTERS)]
    vocabulary = pieces_of([*["cat cat hat"] * 9, *reversed(rare)], len(FIRST) + CHARACTERS + 2)
    learned = vocabulary.tokens[len(FIRST) :][:CHARACTERS]
    assert set(learned) == {*"▁caht", *rare[: CHARACTERS - 5]}


@pytest.fixture(scope="module")
def tiny() -> Recipe:
    """The recipe of `everyday`, with a few steps of a small model."""
    sizes = {"d_model": 64, "heads": 2, "d_ff": 64, "encoder_layers": 1, "decoder_layers": 1}
    small = tuple((dict(RECIPES["everyday"].config) | sizes).items())
    return RECIPES["everyday"].replace(
        steps=6, batch=8, pool=2, pieces=len(FIRST) + 60, check_every=2, check_pairs=2, snapshots=(2,), config=small
    )


def test_a_run_is_resumed_only_on_the_pairs_that_it_was_started_with(
    file: Path, tiny: Recipe, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    state = tmp_path / "runs" / "everyday.state.safetensors"
    state.parent.mkdir()
    Training("everyday", tiny, open_corpus("everyday", file, tiny.pieces)).save_state(state)
    lines = gzip.decompress(file.read_bytes())
    (tmp_path / "same.tsv").write_bytes(lines)
    (tmp_path / "other.tsv").write_bytes(lines.replace(b"chat", b"chut"))
    resumed = Training("everyday", tiny, open_corpus("everyday", tmp_path / "same.tsv", tiny.pieces))
    resumed.load_state(state)
    folders = ["--out", str(tmp_path / "out"), "--runs", str(state.parent)]
    with pytest.raises(SystemExit):
        main(["everyday", "--resume", "--data", str(tmp_path / "other.tsv"), *folders], {"everyday": tiny})
    assert "belongs to a run on other sentence pairs, or does not say on which" in capsys.readouterr().err
    # The file of a run that was stopped before its pairs were noted.
    with safe_open(state, framework="pt") as opened:
        record = json.loads(opened.metadata()["headlight-training"])
    del record["data"]
    tensors, parts = load_file(state), {"headlight-training": json.dumps(record)}
    save_file(tensors, state, parts | {"digest": digest(tensors, parts)})
    with pytest.raises(CheckpointError, match="on other sentence pairs, or does not say on which"):
        resumed.load_state(state)


@pytest.mark.slow
def test_the_command_trains_tests_and_resumes(file: Path, tiny: Recipe, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("sacrebleu")
    pytest.importorskip("nltk")
    out = ["--out", str(tmp_path / "out"), "--runs", str(tmp_path / "runs")]
    recipes = {"everyday": tiny}
    assert main(["everyday", "--data", str(file), *out], recipes) == 0
    pipeline = Pipeline.load(tmp_path / "out" / "everyday.safetensors")
    assert {"translation", "doubt", "alignment", "strongest"} == pipeline.card.measures.keys()
    assert {"bleu", "chrf"} == pipeline.card.measures["translation"]["small_letters"].keys()
    assert [each["step"] for each in pipeline.card.measures["alignment"]["snapshots"]] == [2]
    assert pipeline.card.tested_on == len(open_corpus("tiny", file, tiny.pieces).held_out)
    assert main(["everyday", "--data", str(file), "--test", *out], recipes) == 0
    with pytest.raises(SystemExit):
        main(["everyday", *out], recipes)
    assert "manythings.org/anki" in capsys.readouterr().err
