"""Tests of the pipeline: reading, answers and traces of texts."""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.transformer.pipeline.checkpoints import CARD
from tests.transformer.small import small
from transformer.errors import CheckpointError, HeadlightError, InputError, PathError
from transformer.network.config import PRESETS
from transformer.pipeline import catalogue
from transformer.pipeline.pipeline import Answer, Pipeline
from transformer.tasks import TASKS
from transformer.text.vocabulary import Unknown, Vocabulary
from transformer.tracing.interventions import Ablate, Block, Change, Patch, Scale
from transformer.training.corpus import ACCEPTS, LONGEST

CROSS = "decoder.layers.0.cross_attention"
LETTERS = Vocabulary.of("abcdef", "characters")


@pytest.fixture(scope="module", params=PRESETS)
def untrained(request: pytest.FixtureRequest) -> Pipeline:
    """A model of each variant, with random weights."""
    model = small(request.param)
    with torch.no_grad():
        # In `vanilla`, a padding query attends to later positions, so a model that writes <pad> would read tokens that it has
        # not written yet.
        model.output_projection.bias[LETTERS.pad] -= 100
    return Pipeline("untrained", model, LETTERS, LETTERS, CARD)


# --- reading -----------------------------------------------------------------------------------------------------------


def test_a_source_is_read_between_sos_and_eos(reverse: Pipeline):
    encoding = reverse.encode("Cab")
    assert encoding.tokens == ("<sos>", "c", "a", "b", "<eos>")
    assert encoding.ids == (1, *reverse.source_vocabulary.ids("cab"), 2)
    assert encoding.unknown == ()


def test_a_target_has_no_eos(reverse: Pipeline):
    assert reverse.encode("Cab", "target").tokens == ("<sos>", "c", "a", "b")
    assert reverse.encode("", "target").tokens == ("<sos>",)


def test_unknown_tokens_are_listed(reverse: Pipeline):
    encoding = reverse.encode("a😀é7😀")
    assert encoding.tokens == ("<sos>", "a", *["<unk>"] * 4, "<eos>")
    assert [unknown.token for unknown in encoding.unknown] == ["😀", "é", "7"]
    assert all(isinstance(unknown, Unknown) for unknown in encoding.unknown)


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "<eos>", "😀" * 20, "\u202ea\u0000", "e\u0301", "ａｂｃ"])
def test_any_text_can_be_answered_and_traced(reverse: Pipeline, text: str):
    assert isinstance(reverse.answer(text), str)
    trace = reverse.trace(text)
    assert trace.logits.isfinite().all()
    assert trace.source_tokens[0][1:-1] == tuple(
        token if token in reverse.source_vocabulary.tokens else "<unk>" for token in reverse.source_vocabulary.split(text)
    )


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u2003", "\u202e\u0000", "\u200b", "\ufeff \u2060"])
def test_a_text_without_tokens_is_refused(reverse: Pipeline, text: str):
    for read in (reverse.encode, reverse.answer, reverse.trace):
        with pytest.raises(InputError, match="There is nothing to read in your text; type 1 to 12 letters from a to z"):
            read(text)


def test_the_longest_text_that_fits_is_read_and_one_more_is_refused(untrained: Pipeline):
    assert untrained.longest("source") == 14
    assert untrained.longest("target") == 15
    assert untrained.trace("a" * 14, "b" * 15).logits.shape == (1, 16, 10)
    with pytest.raises(InputError, match=r"^Your text has 15 characters; this model reads up to 14\.$"):
        untrained.answer("a" * 15)
    with pytest.raises(InputError, match=r"^Your target has 16 characters; this model reads up to 15\.$"):
        untrained.trace("a", "b" * 16)


def test_a_very_long_text_is_refused_in_one_short_sentence(reverse: Pipeline):
    with pytest.raises(InputError) as caught:
        reverse.answer("call me ishmael " * 100_000)
    assert len(str(caught.value)) < 200


# --- answering ---------------------------------------------------------------------------------------------------------

TEXTS = ["a", "fedcba", "abc", "cab" * 4, "bb"]


@pytest.fixture(scope="module")
def answers(untrained: Pipeline) -> list[Answer]:
    """The answers of the untrained model to `TEXTS`."""
    return untrained.answers(TEXTS)


@pytest.mark.slow
def test_a_batch_gives_the_same_answers_as_one_by_one(untrained: Pipeline, answers: list[Answer]):
    assert answers == [untrained.answers([text])[0] for text in TEXTS]
    assert [answer.text for answer in answers] == [untrained.answer(text) for text in TEXTS]


def test_the_shipped_model_answers_a_batch_as_one_by_one(reverse: Pipeline):
    texts = ["z", "headlight", "ab", "abcdefghijkl", "a😀b", "nine letters and more"]
    assert reverse.answers(texts) == [reverse.answers([text])[0] for text in texts]


@pytest.mark.slow
def test_an_answer_without_eos_is_stopped_and_marked():
    model = small("pytorch", max_len=100)
    with torch.no_grad():
        model.output_projection.bias[4:] += 100
    pipeline = Pipeline("endless", model, LETTERS, LETTERS, CARD)
    for text, written in (("a", 14), ("abcdef", 24)):
        for answers in (pipeline.answers([text]), pipeline.answers([text, "f" * 30])):
            assert not answers[0].ended
            assert len(answers[0].tokens) == written


def test_no_texts_are_refused(reverse: Pipeline):
    for method in (reverse.answers, reverse.trace):
        with pytest.raises(InputError, match="There is no text; at least one is needed"):
            method([])


def test_an_edit_changes_the_answer(reverse: Pipeline):
    assert reverse.answer("headlight") == "thgildaeh"
    broken = [Ablate(f"decoder.layers.{layer}.cross_attention") for layer in range(2)]
    assert reverse.answer("headlight", broken) != "thgildaeh"
    assert reverse.answer("headlight") == "thgildaeh"


def test_an_edit_that_does_not_fit_is_refused_before_decoding(reverse: Pipeline):
    with pytest.raises(PathError, match="head is 9"):
        reverse.answer("abc", [Ablate(CROSS, heads=(9,))])


# --- tracing -----------------------------------------------------------------------------------------------------------


@pytest.mark.few_cases(1)
def test_by_default_the_decoder_reads_the_answer(reverse: Pipeline, untrained: Pipeline):
    for pipeline, text in ((reverse, "headlight"), (untrained, "fab")):
        answer = pipeline.answers([text])[0]
        trace = pipeline.trace(text)
        assert trace.target_tokens[0] == ("<sos>", *answer.tokens)
        if answer.ended:
            predicted = trace.logits[0].argmax(-1).tolist()
            assert pipeline.target_vocabulary.tokens_of(predicted) == (*answer.tokens, "<eos>")


def test_teacher_forcing_reads_the_given_target(reverse: Pipeline):
    trace = reverse.trace("cab", "XYz")
    assert trace.source_tokens == (("<sos>", "c", "a", "b", "<eos>"),)
    assert trace.target_tokens == (("<sos>", "x", "y", "z"),)
    assert trace.logits.shape == (1, 4, len(reverse.target_vocabulary))
    assert reverse.trace("cab", "").target_tokens == (("<sos>",),)


def test_shorter_texts_of_a_batch_are_padded_at_the_end(reverse: Pipeline):
    trace = reverse.trace(["abc", "d"], ["c", "dd"])
    assert trace.source_tokens == (("<sos>", "a", "b", "c", "<eos>"), ("<sos>", "d", "<eos>", "<pad>", "<pad>"))
    assert trace.target_tokens == (("<sos>", "c", "<pad>"), ("<sos>", "d", "d"))
    assert trace.masks.source[:, 0, 0].tolist() == [[True] * 5, [True] * 3 + [False] * 2]


@pytest.mark.few_cases(1)
def test_a_batch_has_the_same_traces_as_one_by_one(untrained: Pipeline):
    batch = untrained.trace(TEXTS)
    for row, text in enumerate(TEXTS):
        alone = untrained.trace(text)
        length = alone.logits.shape[1]
        assert batch.target_tokens[row][:length] == alone.target_tokens[0]
        torch.testing.assert_close(batch.logits[row, :length], alone.logits[0], atol=1e-5, rtol=1e-4)


def test_batches_of_different_size_are_refused(reverse: Pipeline):
    with pytest.raises(InputError, match="There are 2 sources and 1 targets; each source needs one target"):
        reverse.trace(["a", "b"], "b")


def test_edits_apply_to_the_answer_and_to_its_trace(reverse: Pipeline):
    edits = [Scale("encoder.output", factor=0.0)]
    trace = reverse.trace("headlight", edits=edits)
    assert trace.target_tokens[0] == ("<sos>", *reverse.answers(["headlight"], edits)[0].tokens)
    assert (trace["encoder.output"].values == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("item", [0, 1, 2])
def test_items_of_an_edit_count_all_texts_of_the_batch(reverse: Pipeline, item: int):
    sources = ["abc", "defg", "hi"]
    silent = [Ablate(f"decoder.layers.{layer}.cross_attention.weights", items=(item,)) for layer in (0, 1)]

    def written(targets: list[str | None] | None, edits: list[Ablate]) -> list[list[str]]:
        rows = reverse.trace(sources, targets, edits).target_tokens
        return [[token for token in row if token != "<pad>"] for row in rows]

    plain, edited = written(None, []), written(None, silent)
    assert [one == other for one, other in zip(plain, edited, strict=True)] == [other != item for other in range(3)]
    for given in itertools.product([True, False], repeat=3):
        rows = written(["cba" if one else None for one in given], silent)
        assert rows == [["<sos>", *"cba"] if one else row for one, row in zip(given, edited, strict=True)]


def test_edits_of_positions_beyond_the_answer_so_far_apply_later(reverse: Pipeline):
    edits = [Block(CROSS, edges=((5, 3),)), Patch(f"{CROSS}.output", values=0.0, positions=(6,))]
    trace = reverse.trace("headlight", edits=edits)
    assert (trace[f"{CROSS}.weights"].values[:, :, 5, 3] == 0).all()
    assert (trace[f"{CROSS}.output"].values[:, 6] == 0).all()


def with_split(pipeline: Pipeline, split: Callable[[Vocabulary, str], list[str]]) -> Pipeline:
    """The same pipeline, whose vocabularies split a text by a function."""

    class OwnSplit(Vocabulary):
        def split(self, text: str) -> list[str]:
            return split(super(), text)

    source, target = (
        OwnSplit(each.tokens, each.tokenizer_name) for each in (pipeline.source_vocabulary, pipeline.target_vocabulary)
    )
    return dataclasses.replace(pipeline, source_vocabulary=source, target_vocabulary=target)


def test_a_text_is_read_once_and_decoded_once(reverse: Pipeline):
    texts: list[str] = []
    passes: list[int] = []
    counting = with_split(reverse, lambda vocabulary, text: texts.append(text) or vocabulary.split(text))
    count = Change("encoder.output", lambda values: passes.append(len(values)) or values)
    encodings = [counting.encode(text) for text in ("headlight", "ab")]
    answers = counting.answers(encodings, [count])
    trace = counting.trace(encodings, answers, [count])
    assert texts == ["headlight", "ab"]
    assert passes == [2, 2]  # one to write both answers, and one to trace them
    assert trace.target_tokens == reverse.trace(["headlight", "ab"]).target_tokens
    assert torch.equal(trace.logits, reverse.trace(["headlight", "ab"]).logits)


@pytest.mark.parametrize("text", ["headlight", "a😀b"])
def test_readings_and_answers_can_replace_their_texts(reverse: Pipeline, text: str):
    encoding, forced = reverse.encode(text), reverse.encode("xyz", "target")
    assert encoding.typed == tuple(text)
    assert reverse.answers([encoding]) == reverse.answers([text])
    assert torch.equal(reverse.trace(encoding, forced).logits, reverse.trace(text, "xyz").logits)
    (answer,) = reverse.answers([encoding])
    assert torch.equal(reverse.trace(encoding, answer).logits, reverse.trace(text).logits)
    assert hash(encoding) == hash(reverse.encode(text))


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("piece", ["a-", "a ", "\u200d", "-", "é"])
def test_a_megabyte_of_text_is_refused_before_it_is_split(reverse: Pipeline, piece: str):
    for original in (reverse, Pipeline.load("english-french")):
        pipeline = with_split(original, lambda *_: pytest.fail("all of it was split"))
        for call in (pipeline.encode, pipeline.answer, pipeline.trace, lambda text: pipeline.encode(text, "target")):  # noqa: B023
            with pytest.raises(InputError, match=r"has 1000000 characters; texts of more than \d+ are not read\."):
                call(piece * (1_000_000 // len(piece)))


# --- shipped models ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_shipped_model_is_listed_and_loads():
    available = Pipeline.available()
    assert "reverse" in available
    for name, description in available.items():
        pipeline = Pipeline.load(name)
        assert pipeline.name == name
        assert pipeline.card.description == description
        assert len(pipeline.source_vocabulary) == pipeline.config.source_vocab
        assert len(pipeline.target_vocabulary) == pipeline.config.target_vocab


@pytest.mark.few_cases(6)
@pytest.mark.parametrize("name", Pipeline.available())
def test_the_card_of_a_shipped_model_is_complete(name: str):
    card = Pipeline.load(name).card
    task = TASKS.get(card.task)
    # The description of a card comes from the recipe at training time; the present description is tested with the recipes.
    assert card.description
    assert (card.accepts, card.longest) == ((task.accepts, task.longest) if task else (ACCEPTS, LONGEST))
    assert f"transformer.training {name}" in card.command
    assert {"steps", "batch", "seed", "learning_rate", "config"} <= card.recipe.keys()
    assert card.trained_on == card.recipe["steps"] * card.recipe["batch"]
    assert card.minutes > 0
    assert card.machine
    assert card.tested_on > 100
    # A model that was trained with an edit may be right nowhere without it, and a sentence has many good translations.
    if task and not card.recipe.get("edit"):
        assert card.accuracy > 0.5
    assert card.accuracy <= 1
    assert card.accuracy_by_form
    assert all(0 <= share <= 1 for share in card.accuracy_by_form.values())
    assert [entry["step"] for entry in card.history] == sorted({entry["step"] for entry in card.history})
    assert card.history[-1]["step"] == card.recipe["steps"]
    assert card.history[-1]["loss"] < card.history[0]["loss"]


def test_reverse_is_exact_on_held_out_words_of_every_length(reverse: Pipeline):
    pairs = list(dict.fromkeys(itertools.islice(TASKS["reverse"].pairs("held-out", "the tests of the pipeline"), 400)))
    forms = Counter(pair.form for pair in pairs)
    assert all(forms[f"length {length}"] >= (20 if length > 2 else 1) for length in range(1, 13))
    answers = reverse.answers([pair.source for pair in pairs])
    assert [pair.source for pair, answer in zip(pairs, answers, strict=True) if answer.text != pair.source[::-1]] == []
    assert all(answer.ended for answer in answers)


def test_the_model_has_the_whole_vocabulary_of_its_task(reverse: Pipeline):
    task = TASKS["reverse"]
    assert reverse.source_vocabulary == task.source_vocabulary
    assert reverse.target_vocabulary == task.target_vocabulary


# --- loading and saving ------------------------------------------------------------------------------------------------


def test_save_and_load_by_path(untrained: Pipeline, answers: list[Answer], tmp_path: Path):
    path = tmp_path / "mine.safetensors"
    untrained.save(path)
    loaded = Pipeline.load(path)
    assert loaded.name == "mine"
    assert loaded.config == untrained.config
    assert loaded.answers(TEXTS) == answers
    assert torch.equal(loaded.trace("abc", "cba").logits, untrained.trace("abc", "cba").logits)


@pytest.mark.parametrize("name", ["", "klingon", "../checkpoints/reverse", "reverse.safetensors", "/etc/passwd", "\0"])
def test_an_unknown_model_is_refused_with_a_list_of_the_shipped_ones(name: str):
    with pytest.raises(InputError, match=r"shipped are .*reverse"):
        Pipeline.load(name)


def test_a_path_without_a_file_is_refused(tmp_path: Path):
    with pytest.raises(CheckpointError, match=r"There is no file 'none\.safetensors'\."):
        Pipeline.load(tmp_path / "none.safetensors")


def test_an_empty_folder_of_models_is_named_in_the_error(tmp_path: Path):
    assert catalogue.available(tmp_path) == {}
    with pytest.raises(HeadlightError, match="shipped are none"):
        catalogue.model_file("reverse", tmp_path)


def test_a_damaged_file_is_left_out_of_the_list_and_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    whole = (catalogue.CHECKPOINTS / "reverse.safetensors").read_bytes()
    (tmp_path / "reverse.safetensors").write_bytes(whole)
    (tmp_path / "cut.safetensors").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty.safetensors").write_bytes(b"")
    assert list(catalogue.available(tmp_path)) == ["reverse"]
    assert Pipeline.load(catalogue.model_file("reverse", tmp_path)).name == "reverse"
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert any("cut.safetensors" in line for line in warnings)
    assert any("empty.safetensors" in line for line in warnings)
    with pytest.raises(InputError, match="shipped are reverse"):
        catalogue.model_file("cut", tmp_path)


def test_edits_leave_no_state_in_the_pipeline(reverse: Pipeline):
    before = reverse.trace("abc", "cba")
    for head, factor in itertools.product(range(4), (0.0, 2.0)):
        reverse.trace("abc", "cba", [Scale(f"{CROSS}.head_output", factor=factor, heads=(head,))])
    after = reverse.trace("abc", "cba")
    assert all(torch.equal(step.values, after[step.path].values) for step in before)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(
    "source", ["🙂🙂", "<script>alert(1)</script>", "my name is a'b\"c`d", "my name is zorblax", "i see zorblax"]
)
def test_an_answer_with_unknown_words_is_read_again_as_the_same_tokens(source: str) -> None:
    pipeline = Pipeline.load("english-french")
    answer = pipeline.answers([source])[0]
    again = pipeline.encode(pipeline.as_target(answer), "target")
    assert again.tokens == ("<sos>", *answer.tokens)
    assert pipeline.trace(source, pipeline.as_target(answer)).target_ids == pipeline.trace(source, answer).target_ids


def test_half_of_a_surrogate_pair_is_not_copied_into_an_answer() -> None:
    pipeline = Pipeline.load("english-french")
    assert pipeline.answer("the blurb sleeps .") == "le blurb dort ."
    for source in ("\ud800", "the \udce9 sleeps ."):
        assert pipeline.answer(source).encode()


def test_an_object_in_a_notebook_is_one_short_line():
    pipeline = Pipeline.load("reverse")
    assert repr(pipeline) == f"<Pipeline 'reverse', {pipeline.parameters:,} parameters>"
    assert repr(pipeline.source_vocabulary) == "<Vocabulary of 30 tokens, tokenizer 'characters'>"
    trace = pipeline.trace("ab")
    assert repr(trace) == f"<Trace of {len(trace)} tensors: source '<sos> a b <eos>', target '<sos> b a'>"


@pytest.mark.parametrize("most", [0, -1])
def test_an_answer_of_no_token_is_refused(most: int):
    with pytest.raises(HeadlightError, match=f"max_new_tokens is {most}; it must be at least 1"):
        Pipeline.load("reverse").answers(["ab"], max_new_tokens=most)
