"""Tests of tables of positions, and of a sentence with two words swapped."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transformer import reference
from tests.transformer.small import SOURCE, TARGET, VARIANTS, Run, runs, small
from transformer import InputError, Pipeline, run_traced
from transformer.analysis.position_geometry import (
    by_distance,
    cell,
    dot_products,
    model_table,
    rotation,
    rotation_errors,
    sinusoidal_table,
    spread,
    swap,
    untrained_table,
    wave,
)
from transformer.tracing.phrases import interventions
from transformer.training.recipe import RECIPES

# Rounding changes numbers of the table by at most 6e-8.
ROUNDING = 2e-7
WIDTHS = st.integers(1, 33)


@given(st.integers(0, 500), WIDTHS, st.data())
def test_a_cell_equals_the_table_of_the_model_and_of_the_paper(position: int, d_model: int, data: st.DataObject):
    dimension = data.draw(st.integers(0, d_model - 1))
    explained = cell(position, dimension, d_model)
    assert abs(explained.value - reference.sinusoid(position + 1, d_model)[position, dimension]) <= 1e-12
    assert abs(explained.value - sinusoidal_table(position + 1, d_model)[position, dimension]) <= ROUNDING
    assert dimension in (2 * explained.pair, 2 * explained.pair + 1)
    assert explained.value == getattr(math, explained.function)(explained.angle)
    assert explained.angle == position / explained.divisor


@given(st.integers(1, 40), WIDTHS, st.data())
def test_a_wave_equals_its_column_of_the_table(positions: int, d_model: int, data: st.DataObject):
    dimension = data.draw(st.integers(0, d_model - 1))
    column = wave(dimension, d_model, np.arange(positions, dtype=np.float64))
    np.testing.assert_allclose(column, sinusoidal_table(positions, d_model)[:, dimension], atol=ROUNDING)


@pytest.mark.parametrize("preset", ["vanilla", "pytorch", "shared_heads"])
def test_the_model_adds_the_rows_of_its_table(preset: str):
    model = small(preset)
    trace = run_traced(model, SOURCE, TARGET)
    for side, ids in (("source", SOURCE), ("target", TARGET)):
        table = model_table(model, side)
        assert table.shape == (16, 12)
        assert (table[: ids.shape[1]] == trace[f"{side}_embedding.position"].numpy()).all()
        assert not table.flags.writeable
    learned = preset == "shared_heads"
    assert (model_table(model, "source") == model_table(model, "target")).all() != learned
    assert learned or (model_table(model, "source") == sinusoidal_table(16, 12)).all()
    rounded = torch.from_numpy(model_table(model, "target").copy()).bfloat16()
    assert np.abs(model_table(model.bfloat16(), "target") - rounded.float().numpy()).max() <= 2**-8


def test_an_untrained_table_is_normal_and_does_not_use_the_global_random_generator():
    torch.manual_seed(7)
    expected = torch.randn(3)
    torch.manual_seed(7)
    table = untrained_table(100, 256)
    assert (torch.randn(3) == expected).all()
    assert table.dtype == np.float32
    assert (untrained_table(100, 256) == table).all()
    for values in (table, torch.nn.Embedding(100, 256).weight.detach().numpy()):
        assert abs(values.mean()) < 0.03
        assert abs(values.std() - 1) < 0.03


@given(st.integers(2, 60), st.integers(1, 20).map(lambda pairs: 2 * pairs))
def test_dot_products_of_paired_waves_depend_only_on_the_distance(positions: int, d_model: int):
    products = dot_products(sinusoidal_table(positions, d_model))
    apart = np.arange(positions)[:, None] - np.arange(positions)[None, :]
    expected = sum(np.cos(apart / 10_000 ** (2 * pair / d_model)) for pair in range(d_model // 2))
    np.testing.assert_allclose(products, expected, atol=ROUNDING * d_model)
    assert spread(products) <= 2 * ROUNDING * d_model


@given(st.integers(8, 60), st.integers(0, 12).map(lambda pairs: 2 * pairs + 1))
def test_in_an_odd_width_only_the_unpaired_sine_depends_on_the_position(positions: int, d_model: int):
    table = sinusoidal_table(positions, d_model)
    lone = spread(dot_products(table[:, -1:]))
    assert lone > 0
    assert abs(spread(dot_products(table)) - lone) <= 2 * ROUNDING * d_model


def test_dot_products_of_an_untrained_table_do_not_depend_on_the_distance():
    products = dot_products(untrained_table(100, 256))
    assert spread(products) > 50
    assert abs(by_distance(products)[1:60, 1]).max() < 15 < products.diagonal().min()


@given(st.integers(1, 9), st.integers(0, 99))
def test_dot_products_are_grouped_by_the_distance_of_their_positions(count: int, seed: int):
    square = np.random.default_rng(seed).normal(size=(count, count))
    bands = by_distance(square)
    for distance in range(count):
        pairs = [square[first, first + distance] for first in range(count - distance)]
        np.testing.assert_allclose(bands[distance], (min(pairs), sum(pairs) / len(pairs), max(pairs)), atol=1e-12)
    assert spread(square) == max(most - least for least, _, most in bands)


@given(WIDTHS, st.integers(2, 80), st.data())
def test_one_rotation_moves_every_position_by_the_shift(d_model: int, positions: int, data: st.DataObject):
    shift = data.draw(st.integers(0, positions - 1))
    table = sinusoidal_table(positions, d_model)
    errors = rotation_errors(table, shift)
    assert (errors.pairs is None) == (d_model == 1)
    assert errors.pairs is None or errors.pairs <= 4 * ROUNDING
    assert (errors.lone is None) == (d_model % 2 == 0)
    if errors.lone is not None:
        # sin(a + b) = sin(a) cos(b) + cos(a) sin(b). The second term is missing, because the sine has no paired cosine.
        b = cell(shift, d_model - 1, d_model).angle
        missing = [math.sin(b) * math.cos(cell(position, d_model - 1, d_model).angle) for position in range(positions - shift)]
        assert abs(errors.lone - max(map(abs, missing))) <= 4 * ROUNDING


@given(st.integers(1, 16).map(lambda pairs: 2 * pairs), st.integers(0, 90), st.integers(0, 90))
def test_rotations_are_orthogonal_and_their_shifts_add_up(d_model: int, one: int, other: int):
    first, second = rotation(one, d_model), rotation(other, d_model)
    np.testing.assert_allclose(first @ first.T, np.eye(d_model), atol=1e-12)
    np.testing.assert_allclose(first @ second, rotation(one + other, d_model), atol=1e-11)
    outside = np.kron(np.eye(d_model // 2), np.ones((2, 2))) == 0
    assert not first[outside].any()


def test_no_rotation_shifts_an_untrained_table():
    errors = rotation_errors(untrained_table(50, 16), 3)
    assert errors.pairs is not None
    assert errors.pairs > 1


@pytest.mark.parametrize("shift", [-1, 10])
def test_a_shift_outside_the_table_is_refused(shift: int):
    with pytest.raises(InputError, match="shift"):
        rotation_errors(sinusoidal_table(10, 4), shift)


@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
def test_without_positions_a_swap_changes_only_the_order(preset: str, norm_first: bool):
    model = small(preset, norm_first=norm_first)
    ids = SOURCE[1].tolist()
    without_positions = swap(model, ids, 1, 4, interventions("no positions", model.config))
    assert without_positions.largest <= 5e-6
    assert without_positions.changes.max() <= 5e-6
    with_positions = swap(model, ids, 1, 4)
    assert with_positions.largest > 0.01
    assert with_positions.changes[[1, 4]].min() > 0.001


@pytest.mark.slow
@given(run=runs(), data=st.data())
@settings(max_examples=30)
def test_a_swap_compares_each_token_with_itself_in_the_other_run(run: Run, data: st.DataObject):
    ids = run.source[0].tolist()
    first, second = (data.draw(st.integers(0, len(ids) - 1)) for _ in range(2))
    swapped = swap(run.model, ids, first, second)
    other = list(ids)
    other[first], other[second] = ids[second], ids[first]
    before, after = (
        run_traced(run.model, torch.tensor([row]), run.target[:1])["encoder.output"].numpy()[0].copy() for row in (ids, other)
    )
    if ids[first] != ids[second]:
        after[[first, second]] = after[[second, first]]
    np.testing.assert_allclose(swapped.before, before, atol=1e-4)
    np.testing.assert_allclose(swapped.after, after, atol=1e-4)
    assert abs(swapped.largest - abs(after - before).max()) <= 1e-4
    lengths = np.linalg.norm(before, axis=1)
    expected = np.divide(np.linalg.norm(after - before, axis=1), lengths, out=np.zeros_like(lengths), where=lengths > 0)
    np.testing.assert_allclose(swapped.changes, expected, atol=1e-3)
    if ids[first] == ids[second]:
        assert swapped.largest <= 1e-5  # the two equal sentences are rows of one batch, so they may differ by rounding


def test_a_swap_of_a_missing_position_is_refused():
    with pytest.raises(InputError, match="position"):
        swap(small(), [1, 5, 2], 0, 3)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("name", RECIPES)
def test_without_positions_every_shipped_model_ignores_the_order_of_tokens(name: str):
    pipeline = Pipeline.load(name)
    ids = pipeline.encode(
        {"dates": "14 july 1998", "addition": "417+85="}.get(name, "the cat sleeps ." if "fr" in name else "abcde")
    ).ids
    last = len(ids) - 2
    assert swap(pipeline.model, ids, 1, last, interventions("no positions", pipeline.config)).largest <= 1e-5
    assert swap(pipeline.model, ids, 1, last).largest > 0.1


def test_two_words_in_pieces_change_places_and_their_numbers_are_means_over_the_pieces():
    model, ids, words = small(), SOURCE[1].tolist()[:6], ((0,), (1, 2), (3,), (4, 5))
    swapped = swap(model, ids, 1, 3, words=words)
    order = [0, 4, 5, 3, 1, 2]
    target = torch.tensor([[1, 5]])
    before, after = (
        run_traced(model, torch.tensor([row]), target)["encoder.output"].numpy()[0] for row in (ids, [ids[at] for at in order])
    )
    after = after[np.argsort(order)]
    changes = np.linalg.norm(after - before, axis=1) / np.linalg.norm(before, axis=1)
    np.testing.assert_allclose(swapped.changes, [changes[list(pieces)].mean() for pieces in words], atol=1e-5)
    for joined, pieces_of in ((swapped.before, before), (swapped.after, after)):
        np.testing.assert_allclose(joined, [pieces_of[list(pieces)].mean(0) for pieces in words], atol=1e-5)
    assert swapped.largest == pytest.approx(abs(after - before).max(), abs=1e-5)
    assert swap(model, ids, 1, 3, interventions("no positions", model.config), words).largest <= 5e-6


@pytest.mark.parametrize("words", [((0,), (1, 2)), ((0,), (2, 1), (3,)), ((0, 1), (1, 2), (3,)), (), ((), (0, 1), (2, 3))])
def test_words_that_are_not_the_tokens_in_order_are_refused(words: tuple[tuple[int, ...], ...]):
    with pytest.raises(InputError, match="positions 0 to 3"):
        swap(small(), [1, 5, 6, 2], 0, 1, words=words)
