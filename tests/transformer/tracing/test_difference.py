"""`compare` of two traces: B − A of every tensor, with the tokens of both on the axes."""

from typing import Any

import numpy as np
import pytest
import torch

from tests.transformer.small import SOURCE, TARGET, small
from transformer import Ablate, Difference, HeadlightError, InputError, PathError, Pipeline, Trace, compare, run_traced
from transformer.analysis.word_trace import WordTrace
from transformer.tracing.aligned_rows import aligned_rows

WORDS = {"the": 5, "cat": 6, "dog": 7, "big": 8, "sleeps": 9, "<sos>": 1, "<eos>": 2}


def traced(source: str, target: str = "the cat", model: Any = None, edits: Any = ()) -> Trace:
    """A trace of a small model with random weights."""
    rows = [["<sos>", *source.split(), "<eos>"], ["<sos>", *target.split()]]
    ids = [torch.tensor([[WORDS[word] for word in row]]) for row in rows]
    return run_traced(model or small(), *ids, edits, *((tuple(row),) for row in rows))


def values(trace: Trace, path: str) -> np.ndarray:
    return trace[path].values.to(torch.float32).numpy()


def test_texts_of_one_length_are_subtracted_position_by_position() -> None:
    a, b = traced("the cat sleeps"), traced("the dog sleeps", "the dog")
    both = compare(a, b)
    assert both.aligned == {"source": "positions", "target": "positions"}
    assert both.places["source"] == tuple((row, row) for row in range(5))
    assert both.tokens_of("source") == ("<sos>", "the", "cat / dog", "sleeps", "<eos>")
    assert both.query_names("cross") == ("<sos> → the", "the → cat / the → dog", "cat → … / dog → …")
    for path, activation in a.activations.items():
        one, other = values(a, path), values(b, path)
        finite = np.isfinite(one) & np.isfinite(other)
        made = both[path]
        assert (made.path, made.axes, made.shape) == (path, activation.axes, activation.shape)
        np.testing.assert_array_equal(made.numpy()[finite], (other - one)[finite])
    for kind in ("encoder", "decoder", "cross"):
        change = b.attention(kind) - a.attention(kind)
        assert torch.equal(both.attention(kind), change)
        assert torch.equal(both.weights(kind, 1), change[1])
        assert torch.equal(both.head(kind, 1, 2), change[1, 0, 2])
        assert torch.equal(both.allowed(kind), a.allowed(kind) | b.allowed(kind))


def test_texts_of_two_lengths_are_aligned_by_their_words() -> None:
    a, b = traced("the cat sleeps"), traced("the big dog sleeps", "the")
    both = compare(a, b)
    assert both.aligned == {"source": "words", "target": "words"}
    # By hand: "cat" is replaced by "big dog", so "cat" and "big" are a pair, and "dog" stands alone.
    assert both.places["source"] == ((0, 0), (1, 1), (2, 2), (None, 3), (3, 4), (4, 5))
    assert both.places["target"] == ((0, 0), (1, 1), (2, None))
    assert both.tokens_of("source") == ("<sos>", "the", "cat / big", "– / dog", "sleeps", "<eos>")
    assert both.query_names("decoder") == ("<sos> → the", "the → cat / the → …", "cat → … / –")
    rows_a, rows_b, kept = [0, 1, 2, 3, 4], [0, 1, 2, 4, 5], [0, 1, 2, 4, 5]
    change = both.attention("encoder").numpy()
    one, other = a.attention("encoder").numpy(), b.attention("encoder").numpy()
    expected = other[..., rows_b, :][..., rows_b] - one[..., rows_a, :][..., rows_a]
    np.testing.assert_array_equal(change[..., kept, :][..., kept], expected)
    assert np.isnan(change[..., 3, :]).all()
    assert np.isnan(change[..., 3]).all()
    cross = both["decoder.layers.0.cross_attention.weights"].numpy()
    assert cross.shape == (1, 3, 3, 6)
    assert np.isnan(cross[..., 2, :]).all()
    first, second = (run.head("encoder", 0, 1) for run in both.runs)
    assert first.isnan().any()
    assert torch.equal(second, b.head("encoder", 0, 1))  # B has every row


def test_a_query_may_attend_if_it_may_in_one_of_the_runs() -> None:
    both = compare(traced("the cat", "the cat"), traced("the cat", "the big cat"))
    allowed = both.head_allowed("decoder", 0, 0).numpy()
    a, b = (run.head_allowed("decoder", 0, 0).numpy() for run in both.runs)
    assert (allowed == (a | b)).all()
    assert not a[2].any()  # A has no "big"
    assert not a[:, 2].any()
    assert (b == np.tri(4, dtype=bool)).all()


def test_a_trace_compared_with_itself_is_all_zero(reverse: Pipeline) -> None:
    for trace in (traced("the cat"), reverse.trace("abc")):
        both = compare(trace, trace)
        assert len(both) == len(trace)
        for activation in both:
            assert (activation.values == 0).all(), activation.path
        assert both.tokens_of("source") == trace.tokens_of("source")[0]
        assert both.query_names("cross") == trace.query_names("cross")


def test_an_edit_is_a_difference() -> None:
    path = "encoder.layers.0.self_attention.weights"
    a, b = traced("the cat"), traced("the cat", edits=[Ablate(path, heads=(1,))])
    both = compare(a, b)
    assert torch.equal(both.head("encoder", 0, 1), -a.head("encoder", 0, 1))
    assert (both.head("encoder", 0, 0) == 0).all()
    assert both[path[: -len(".weights")]].path == path  # the path of an attention is that of its weights
    assert path in both
    assert "nothing" not in both


def test_all_texts_of_a_batch_are_compared() -> None:
    a, b = (run_traced(small(seed=seed), SOURCE, TARGET) for seed in (0, 1))
    both = compare(a, b)
    assert both.batch_size == 2
    assert torch.equal(both.head("cross", 1, 2, 1), b.head("cross", 1, 2, 1) - a.head("cross", 1, 2, 1))
    assert both.tokens("cross", 1) == a.tokens("cross", 1)


def test_a_batch_whose_texts_are_aligned_in_two_ways_is_refused() -> None:
    ends = torch.stack([SOURCE[0, :5], SOURCE[1, 2:]])
    with pytest.raises(InputError, match="one text at a time"):
        compare(run_traced(small(), SOURCE, TARGET), run_traced(small(), ends, TARGET))


def test_a_decoder_alone_is_compared_by_what_both_have() -> None:
    model = small()
    both = compare(traced("the cat", model=model), run_traced(model, None, TARGET[:1, :3]))
    assert both.sides == ("target",)
    assert both.kinds == ("decoder",)
    assert not np.isnan(both.attention("decoder").numpy()).any()
    with pytest.raises(InputError, match="cross attention"):
        both.attention("cross")
    with pytest.raises(HeadlightError):
        both.runs[0].tokens("cross")


def test_words_are_compared_as_pieces_are(reverse: Pipeline) -> None:
    a, b = (WordTrace.of(reverse.trace(text)) for text in ("abc", "abd"))
    assert torch.equal(compare(a, b).attention("encoder"), b.attention("encoder") - a.attention("encoder"))


def test_models_of_other_sizes_are_compared_where_they_agree() -> None:
    a, b = traced("the cat"), traced("the dog", model=small(d_model=24, decoder_layers=1))
    both = compare(a, b)
    assert both.kinds == ("encoder",)
    assert torch.equal(both.attention("encoder"), b.attention("encoder") - a.attention("encoder"))
    for call in (both.layers, both.heads, both.attention, both.tokens, both.query_names):
        with pytest.raises(InputError, match="decoder 2 × 3; of B: decoder 1 × 3"):
            call("decoder")
    with pytest.raises(PathError, match=r"\[1, 4, 12\] in A and \[1, 4, 24\] in B"):
        both["encoder.output"]


def test_models_without_a_common_size_are_refused() -> None:
    with pytest.raises(InputError, match=r"encoder 2 × 3, .* of B: encoder 1 × 2"):
        compare(traced("the cat"), traced("the cat", model=small(heads=2, encoder_layers=1, decoder_layers=1)))


@pytest.mark.few_cases(6)
@pytest.mark.parametrize(
    "call",
    [
        lambda both: compare(both.a, None),
        lambda both: compare(None, both.b),
        lambda both: compare(both.places, both.aligned),
        lambda both: compare(both, both.a),
        lambda both: compare(both.a, "trace"),
        lambda both: compare(both.a, both.b, torch.ones(1, 1)),
        lambda both: compare(both.a, both.b, run=None),
        lambda both: compare(both.a, run_traced(small(), SOURCE, TARGET)),
        lambda both: both["encoder.layers.9"],
        lambda both: both.head("encoder", 0, 9),
        lambda both: both.head("encoder", 0, 0, 1),
        lambda both: both.weights("encoder", 9),
        lambda both: both.layers("sideways"),
        lambda both: both.tokens("cross", 1),
        lambda both: both.tokens_of("source", -1),
        lambda both: both.over_rows(2, torch.ones(4), ["source"]),
        lambda both: both.over_rows(0, torch.ones(5), ["source"]),
        lambda both: both.over_rows(0, torch.ones(4), []),
    ],
)
def test_what_cannot_be_compared_is_refused(call: Any) -> None:
    with pytest.raises(HeadlightError):
        call(compare(traced("the cat"), traced("the dog")))


def test_rows_are_kept_in_order_and_complete() -> None:
    generator = np.random.default_rng(0)
    for _ in range(50):
        a, b = (tuple(generator.choice([*"abc"], size=generator.integers(1, 9))) for _ in range(2))
        places = aligned_rows("source", (a,), (b,))
        for of, text in enumerate((a, b)):
            assert [pair[of] for pair in places if pair[of] is not None] == [*range(len(text))]


@pytest.mark.slow
def test_comparing_a_module_still_works() -> None:
    ours = small("pytorch")
    assert compare(ours, ours, SOURCE, TARGET).agrees
    assert isinstance(compare(traced("the"), traced("the")), Difference)
