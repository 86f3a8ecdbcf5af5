"""Tests of parsing and printing tensor paths, and of the three kinds of attention."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transformer.small import VARIANTS, small
from transformer.errors import InputError, PathError
from transformer.tracing.paths import STACK_SIDES, Kind, TensorPath, check_index, find_tap

SCORES = TensorPath.parse("encoder.layers.0.self_attention.scores")
words = st.text("abcdefghijklmnopqrstuvwxyz_0123456789", min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("encoder.layers.0.self_attention.scores", TensorPath("encoder", 0, "self_attention", "scores")),
        ("decoder.layers.11.cross_attention.query.heads", TensorPath("decoder", 11, "cross_attention", "query.heads")),
        ("decoder.layers.1.feed_forward_add_norm.sum", TensorPath("decoder", 1, "feed_forward_add_norm", "sum")),
        ("encoder.layers.1.feed_forward", TensorPath("encoder", 1, "feed_forward")),
        ("encoder.layers.1", TensorPath("encoder", 1)),
        ("decoder.output", TensorPath("decoder", name="output")),
        ("source_embedding.positions.table.weight", TensorPath(name="source_embedding.positions.table.weight")),
        ("logits", TensorPath(name="logits")),
        ("", TensorPath()),
    ],
)
def test_a_path_is_parsed_and_printed(text: str, path: TensorPath) -> None:
    assert TensorPath.parse(text) == path
    assert TensorPath.parse(path) is path
    assert str(path) == text


@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
def test_the_parsed_path_of_a_tap_or_parameter_prints_as_the_same_text(preset: str, norm_first: bool) -> None:
    model = small(preset, norm_first=norm_first)
    for text in [*model.taps, *dict(model.named_modules()), *dict(model.named_parameters())]:
        path = TensorPath.parse(text)
        assert str(path) == text
        assert str(path.owner) == text.rpartition(".")[0]
        assert path.last == text.rpartition(".")[2]
        assert (path.layer is not None) == (".layers." in text and "layers." in text)


@given(st.lists(st.one_of(words, st.sampled_from(["encoder", "decoder", "layers", "0", "00", "٣", "9" * 9]))).map(".".join))
def test_any_parsed_text_prints_as_the_same_text(text: str) -> None:
    assert str(TensorPath.parse(text)) == text


@pytest.mark.parametrize("path", [None, 5, b"logits", ("encoder", 0)])
def test_a_path_that_is_not_a_text_is_refused(path: object) -> None:
    with pytest.raises(PathError, match="must be a text"):
        TensorPath.parse(path)
    with pytest.raises(PathError, match="must be a text"):
        find_tap(["logits"], path)


def test_paths_of_owner_whole_and_add_norm() -> None:
    assert str(SCORES.owner / "query.heads") == "encoder.layers.0.self_attention.query.heads"
    assert str(SCORES.owner / "query" / "heads") == "encoder.layers.0.self_attention.query.heads"
    assert str(SCORES.whole) == "encoder.layers.0.self_attention"
    assert str(SCORES.add_norm / "sum") == "encoder.layers.0.self_attention_add_norm.sum"
    assert (SCORES.add_norm / "sum").whole == SCORES.whole
    assert SCORES.template("{index}") == "encoder.layers.{index}.self_attention.scores"
    assert TensorPath.parse("logits").owner == TensorPath()


def test_near_removes_the_parts_at_the_start_that_both_paths_have() -> None:
    assert (SCORES.owner / "query.heads").near(SCORES) == "query.heads"
    assert TensorPath.parse("encoder.output").near(SCORES) == "output"
    assert TensorPath.parse("logits").near(SCORES) == "logits"
    assert SCORES.near(SCORES.owner) == "scores"
    # The last part stays.
    assert SCORES.owner.near(SCORES) == "self_attention"
    assert SCORES.near(SCORES) == "scores"


@pytest.mark.parametrize(
    ("path", "side"),
    [
        *((f"{stack}.layers.0.feed_forward.hidden", side) for stack, side in STACK_SIDES.items()),
        *((f"{side}_{name}", side) for side in ("source", "target") for name in ("mask", "embedding.token")),
        ("logits", "target"),
    ],
)
def test_a_path_has_the_side_of_its_tokens(path: str, side: str) -> None:
    assert TensorPath.parse(path).side == side


def test_the_kinds_of_attention_have_the_paths_of_the_networks_attentions() -> None:
    model = small()
    attentions = {str(TensorPath.parse(path).whole) for path in model.taps if path.endswith(".weights")}
    assert attentions == {str(kind.path(layer)) for kind in Kind for layer in range(2)}
    for kind in Kind:
        assert (kind.path(1) / "scores").kind is kind
        assert str(kind.mask) in model.taps
        assert kind.path(0).side == kind.queries
    assert TensorPath.parse("decoder.layers.0.feed_forward.hidden").kind is None


def test_a_kind_equals_its_name() -> None:
    assert Kind.of("cross") is Kind.CROSS
    assert {"cross": 1}[Kind.CROSS] == 1
    assert (f"{Kind.CROSS}", str(Kind.CROSS)) == ("cross", "cross")
    assert type(str(Kind.CROSS)) is str


@pytest.mark.parametrize("name", ["sideways", "", None, 5, ["cross"], pytest.param(10**5000, id="huge")])
def test_an_unknown_kind_is_refused(name: object) -> None:
    with pytest.raises(InputError, match="is not a kind of attention; allowed are encoder, decoder, cross"):
        Kind.of(name)


def test_an_unknown_tap_is_refused_with_the_nearest_paths() -> None:
    taps = [*small().taps]
    with pytest.raises(PathError, match=r"nearest are encoder\.layers\.0\.self_attention\.scores, "):
        find_tap(taps, "encoder.layers.0.self_atention.scores")
    with pytest.raises(PathError, match=f"nearest are {', '.join(taps[:3])}"):
        find_tap(taps, "?")


def test_the_path_of_an_attention_finds_one_of_its_taps() -> None:
    assert find_tap(small().taps, SCORES.whole) == f"{SCORES.whole}.weights"
    assert find_tap(small().taps, str(SCORES.whole), "output") == f"{SCORES.whole}.output"


@pytest.mark.parametrize("index", [-1, 3, 1.0, True, "1", None, pytest.param(10**5000, id="huge")])
def test_an_index_out_of_range_is_refused(index: object) -> None:
    check_index("head", 2, 3)
    with pytest.raises(PathError, match="head"):
        check_index("head", index, 3)
