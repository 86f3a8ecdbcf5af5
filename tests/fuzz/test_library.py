"""The library with hostile texts, edits and files: it returns a result, or raises one of its own errors.

For every input, an error's sentence must be short and must be valid UTF-8.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from safetensors.torch import load_file

from pages.shell.models.model_texts import available
from tests.fuzz.hostile import MARKUP, NUMBERS, any_texts, try_cases
from tests.transformer.pipeline.checkpoints import checkpoint, forged
from transformer import PRESETS, HeadlightError, Pipeline
from transformer.pipeline.checkpoint import PARTS, load_checkpoint, read_card, read_metadata, save_checkpoint
from transformer.pipeline.untrained import Untrained
from transformer.tracing.phrases import all_interventions

SHIPPED = [*available()]
SMALLEST = {"encoder_layers": 1, "decoder_layers": 1, "heads": 1, "d_model": 8, "d_ff": 8}
LONGEST_SENTENCE = 4_000  # characters of an error


def result_of(work: Callable[[], Any]) -> Any:
    """The result of a function. None if the library raises one of its own errors; its sentence must be fit for a page."""
    try:
        return work()
    except HeadlightError as error:
        sentence = str(error)
        assert sentence
        assert len(sentence) <= LONGEST_SENTENCE
        assert sentence.encode().decode() == sentence  # it contains no half of a surrogate pair
        return None


def check_run(pipeline: Pipeline, sources: list[str], targets: Any = None, edits: Any = ()) -> None:
    """Answer and trace some texts. The texts that the library returns must be valid UTF-8, and its logits must be finite."""
    answers = result_of(lambda: pipeline.answers(sources, edits))
    trace = result_of(lambda: pipeline.trace(sources, targets, edits))
    assert all(answer.text.encode() is not None for answer in answers or [])
    if trace is None:
        return
    assert trace.logits.isfinite().all()
    for side in ("source", "target"):
        for row in trace.tokens_of(side):
            assert "".join(row).encode()


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("model", SHIPPED)
def test_no_text_breaks_a_model(model: str) -> None:
    pipeline = Pipeline.load(model)
    plain = pipeline.answer("a")

    def read(source: str, target: str | None, batch: bool) -> None:
        for side in ("source", "target"):
            result_of(lambda side=side: pipeline.encode(source, side))
        check_run(pipeline, [source, "a"] if batch else [source], [target, None] if batch else [target])

    try_cases(0.02, read, any_texts, st.none() | any_texts, st.booleans())
    assert pipeline.answer("a") == plain


def test_no_text_breaks_an_untrained_model() -> None:
    def built(preset: str, sources: list[str], targets: list[str | None]) -> None:
        untrained = result_of(lambda: Untrained.of(preset, sources, targets, SMALLEST))
        pipeline = untrained and result_of(untrained.build)
        if pipeline:
            check_run(pipeline, sources, targets or None)

    several = st.lists(any_texts, max_size=4)
    try_cases(0.05, built, st.sampled_from([*PRESETS, ""]), several, st.lists(st.none() | any_texts, max_size=4))


numbers = st.one_of(st.integers(-2, 40).map(str), st.sampled_from(NUMBERS))
places = st.tuples(st.sampled_from(["encoder", "decoder", "cross", "", "CROSS", "none"]), numbers).map(
    "{0[0]} layer {0[1]}".format
)
heads = st.one_of(st.just(""), numbers.map(" head {}".format))
phrases = st.one_of(
    st.tuples(st.sampled_from(["silence", "average", "no scaling", "no residual"]), places, heads).map(
        "{0[0]} {0[1]}{0[2]}".format
    ),
    st.tuples(places, heads, numbers, numbers).map("block {0[0]}{0[1]} query {0[2]} key {0[3]}".format),
    st.tuples(
        st.sampled_from(["encoder", "decoder", "cross"]),
        numbers,
        st.sampled_from(["feed_forward", "self_attention", "cross_attention", "x"]),
    ).map("no residual {0[0]} layer {0[1]} {0[2]}".format),
    st.sampled_from(["no causal mask", "no padding mask", "no positions"]),
    any_texts,
)


@pytest.mark.parametrize("source", ["abc", "a"])
def test_no_edit_breaks_a_run(source: str) -> None:
    pipeline = Pipeline.load("reverse")
    plain = pipeline.answer(source)

    def edited(edits: list[str], lengths: dict[str, int] | None) -> None:
        interventions = result_of(lambda: all_interventions(edits, pipeline.config, lengths))
        if interventions:
            check_run(pipeline, [source], edits=interventions)

    lengths = st.sampled_from([None, {}, {"source": 5}, {"source": 5, "target": 4}])
    try_cases(0.03, edited, st.lists(phrases, max_size=5), lengths)
    assert pipeline.answer(source) == plain


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_texts | st.sampled_from([2**31, 2**63, -1, 0, 10**30]),
    lambda values: (
        st.lists(values, max_size=3) | st.dictionaries(st.sampled_from(MARKUP) | st.text(max_size=9), values, max_size=3)
    ),
    max_leaves=5,
)


@st.composite
def damage(draw: st.DrawFn, data: bytes) -> bytes:
    """The bytes of a file, some of them changed, inserted, removed or repeated, mostly in the header."""
    header = 8 + int.from_bytes(data[:8], "little")
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, draw(st.sampled_from([8, header, len(changed)]))))
        length = draw(st.integers(0, 40))
        new = draw(st.one_of(st.binary(max_size=40), st.just(bytes(changed[start : start + length])), any_texts.map(as_bytes)))
        changed[start : start + length] = new
    if draw(st.booleans()):  # the right length of the header, so that the loader reads its content
        end = changed.find(b"}}", 8) + 2
        changed[:8] = (end - 8).to_bytes(8, "little", signed=True)[:8]
    return bytes(changed)


def as_bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


@st.composite
def rewritten(draw: st.DrawFn, text: str) -> str:
    """The JSON of one part of a file, in which some values or a piece of the text are replaced."""
    if draw(st.booleans()):
        return re.sub(
            r"(?<=: )[^,}]+", lambda match: _json(draw(json_values)) if draw(st.integers(0, 4)) == 0 else match[0], text
        )
    start = draw(st.integers(0, len(text)))
    return text[:start] + draw(any_texts) + text[start + draw(st.integers(0, 9)) :]


def _json(value: Any) -> str:
    return json.dumps(value)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A valid checkpoint of a very small model. Do not change it."""
    path = tmp_path_factory.mktemp("checkpoints") / "small.safetensors"
    save_checkpoint(path, checkpoint(d_model=4, heads=2, d_ff=4, encoder_layers=1, decoder_layers=1))
    return path


def check_file(path: Path) -> None:
    """Load a file, and run its model if it can be loaded."""
    result_of(lambda: read_card(path))
    if result_of(lambda: load_checkpoint(path)):
        check_run(Pipeline.load(path), ["abc"])


def test_no_damaged_file_breaks_the_loader(small: Path, tmp_path: Path) -> None:
    def loaded(data: bytes) -> None:
        (tmp_path / "damaged.safetensors").write_bytes(data)
        check_file(tmp_path / "damaged.safetensors")

    try_cases(0.07, loaded, damage(small.read_bytes()))
    check_file(small)


def test_no_forged_file_breaks_the_loader(small: Path, tmp_path: Path) -> None:
    """The files have a right digest but changed texts, as an attacker who knows the format can make them."""
    texts, tensors = read_metadata(small), load_file(small)

    def loaded(change: tuple[str, str]) -> None:
        part, text = change
        try:
            path = forged(small, tmp_path, dict(tensors), {part: text})
        except UnicodeEncodeError:
            return  # no file can contain half of a surrogate pair
        check_file(path)

    try_cases(0.07, loaded, st.sampled_from(PARTS).flatmap(lambda part: st.tuples(st.just(part), rewritten(texts[part]))))
    check_file(small)
