"""Tests of one training run: it gives the same weights bit for bit when it is repeated, and when it is stopped and resumed."""

import copy
import itertools
import json
import math
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import safetensors
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from tests.transformer.tiny import TINY, same, weights
from transformer.errors import CheckpointError, ConfigError
from transformer.pipeline.checkpoint import digest
from transformer.pipeline.pipeline import Pipeline
from transformer.tracing.interventions import Ablate
from transformer.training.recipe import RECIPES, Recipe
from transformer.training.run import Training

# --- one run -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_same_recipe_gives_the_same_weights(finished: Training):
    again = Training("reverse", TINY)
    torch.manual_seed(99)  # numbers drawn in between must not matter
    losses = []
    for step in again:
        losses.append(step.loss)
        torch.rand(3)
    assert same(weights(again), weights(finished))
    assert losses == [step.loss for step in finished.steps]


def test_training_leaves_the_global_generator_unchanged():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    next(iter(Training("reverse", TINY)))
    assert torch.equal(torch.rand(3), expected)


def test_the_dropout_of_a_step_depends_on_seed_and_step():
    """Compared with a reference: the first loss of a run with heavy dropout, computed again from the seed."""
    training = Training("reverse", TINY.replace(seed=4, bf16=False, config=(*TINY.config, ("dropout", 0.5))))
    model, (source, target) = copy.deepcopy(training.model).train(), training.batch_at(0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(random.Random("4/0").getrandbits(63))
        logits = model(source, target[:, :-1])
    expected = training.loss(logits.flatten(0, 1), target[:, 1:].flatten()).item()
    assert training.advance().loss == pytest.approx(expected, rel=1e-6)


def test_the_initial_weights_of_a_seed_never_change():
    """The card of a checkpoint has the command that made it, so the command must keep giving the same weights."""
    first = Training("reverse", TINY.replace(seed=7)).model.output_projection.weight[0, :3]
    assert first.tolist() == pytest.approx([-0.0320238471, 0.1109679490, -0.2381999493], abs=1e-6)


@pytest.mark.slow
def test_runs_in_three_threads_give_the_same_weights_as_alone():
    slow = TINY.replace(steps=12, check_every=100, config=(*TINY.config, ("dropout", 0.5)))
    recipes = [slow.replace(seed=seed) for seed in (0, 1, 2)]

    def trained(recipe: Recipe) -> dict[str, Tensor]:
        training = Training("reverse", recipe)
        list(training)
        return weights(training)

    alone = [trained(recipe) for recipe in recipes]
    with ThreadPoolExecutor(3) as pool:
        beside = list(pool.map(trained, recipes))
    assert all(same(one, other) for one, other in zip(alone, beside, strict=True))


@pytest.fixture(scope="module")
def one_step() -> Training:
    """The tiny run after its first step. Do not train it further."""
    training = Training("reverse", TINY)
    training.advance()
    return training


@pytest.mark.parametrize("change", [{"seed": 1}, {"learning_rate": 2e-3}, {"batch": 9}, {"label_smoothing": 0.2}])
def test_another_recipe_gives_other_weights(one_step: Training, change: dict[str, object]):
    other = Training("reverse", TINY.replace(**change))
    other.advance()
    assert not same(weights(other), weights(one_step))


def test_each_step_reports_its_number_rate_loss_and_accuracy(finished: Training):
    steps = finished.steps
    assert [step.step for step in steps] == [1, 2, 3, 4, 5, 6]
    assert {step.steps for step in steps} == {6}
    assert [step.learning_rate for step in steps] == [TINY.rate_at(step) for step in range(6)]
    assert all(0 < step.loss < 10 for step in steps)
    # Held-out pairs are checked every fourth step, and at the end.
    assert [step.step for step in steps if step.accuracy is not None] == [4, 6]
    assert [entry["step"] for entry in finished.history] == [4, 6]
    assert [step.seconds for step in steps] == sorted(step.seconds for step in steps)


@pytest.mark.slow
def test_the_loss_falls_during_training():
    training = Training("reverse", TINY.replace(steps=40, batch=32, learning_rate=5e-3, warmup=5, check_every=40))
    losses = [step.loss for step in training]
    assert sum(losses[-10:]) < 0.95 * sum(losses[:10])


def test_every_parameter_is_trained(finished: Training):
    before = weights(Training("reverse", TINY))
    after = weights(finished)
    assert not [name for name in before if torch.equal(before[name], after[name])]


def test_the_gradient_is_clipped():
    training, norms = Training("reverse", TINY.replace(clip=0.01)), []
    step = training.optimizer.step

    def recorded(learning_rate: float) -> None:
        norms.append(torch.cat([parameter.grad.flatten() for parameter in training.model.parameters()]).norm().item())
        step(learning_rate)

    training.optimizer.step = recorded
    list(training)
    assert len(norms) == 6
    assert all(norm == pytest.approx(0.01, rel=1e-3) for norm in norms)


def test_a_step_changes_the_weights_as_adam_does_by_hand():
    """The formulas of Kingma and Ba, written out; four steps, because the first one depends on neither β."""
    training, gradients = Training("reverse", TINY), []
    expected = {name: parameter.detach().double() for name, parameter in training.model.named_parameters()}
    step = training.optimizer.step

    def recorded(learning_rate: float) -> None:
        gradients.append({name: parameter.grad.double() for name, parameter in training.model.named_parameters()})
        step(learning_rate)

    training.optimizer.step = recorded
    mean, variance = ({name: torch.zeros_like(value) for name, value in expected.items()} for _ in range(2))
    for number in range(1, 5):
        training.advance()
        for name, gradient in gradients[-1].items():
            mean[name] = 0.9 * mean[name] + 0.1 * gradient
            variance[name] = 0.98 * variance[name] + 0.02 * gradient**2
            mean_hat, variance_hat = mean[name] / (1 - 0.9**number), variance[name] / (1 - 0.98**number)
            expected[name] = expected[name] - TINY.rate_at(number - 1) * mean_hat / (variance_hat.sqrt() + 1e-9)
    for name, parameter in training.model.named_parameters():
        torch.testing.assert_close(parameter.detach().double(), expected[name], rtol=0, atol=1e-5, msg=name)


def test_padding_does_not_change_the_loss():
    training = Training("reverse", TINY.replace(bf16=False, config=(*TINY.config, ("dropout", 0.0))))
    source, target = training.batch_at(0)
    state = {name: tensor.clone() for name, tensor in training.model.state_dict().items()}
    loss = training.learn(source, target, 1e-3)
    training.model.load_state_dict(state)
    longer = torch.nn.functional.pad(target, (0, 3), value=0)
    assert training.learn(source, longer, 1e-3) == pytest.approx(loss, abs=1e-5)


# --- training data -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1])
def test_no_pair_of_a_training_batch_is_held_out(seed: int):
    training = Training("reverse", TINY.replace(seed=seed, batch=64))
    words, task = training.task.source_vocabulary, training.task
    sources = set()
    for step in range(15):
        source, target = training.batch_at(step)
        for asked, answered in zip(source.tolist(), target.tolist(), strict=True):
            text = words.text(words.tokens_of(asked))
            assert not task.is_held_out(text)
            assert words.text(words.tokens_of(answered)) == task.solve(text)
            sources.add(text)
    assert len(sources) > 700
    assert all(task.is_held_out(pair.source) for pair in training.check_pairs)


def test_a_batch_has_sos_before_and_eos_after():
    training = Training("reverse", TINY)
    for rows in training.batch_at(3):
        assert (rows[:, 0] == 1).all()
        assert (rows == 2).sum(1).tolist() == [1] * len(rows)
        lengths = (rows != 0).sum(1)
        assert all(row[length - 1] == 2 and (row[length:] == 0).all() for row, length in zip(rows, lengths, strict=True))


def test_making_a_batch_keeps_the_mode_of_the_model(finished: Training):
    for training in (True, False):
        finished.model.train(training)
        finished.batch_at(3)
        assert finished.model.training == training


def test_the_batch_of_a_step_depends_on_seed_and_step_alone():
    one, other = Training("reverse", TINY), Training("reverse", TINY)
    list(itertools.islice(one, 2))
    assert all(torch.equal(a, b) for a, b in zip(one.batch_at(5), other.batch_at(5), strict=True))
    assert not torch.equal(one.batch_at(5)[0], one.batch_at(4)[0])


def test_a_pool_holds_the_same_pairs_sorted_into_batches_of_similar_length():
    alone, pooled = Training("reverse", TINY.replace(batch=16, pool=1)), Training("reverse", TINY.replace(batch=4, pool=4))
    (whole,) = alone.batches(2)
    batches = pooled.batches(2)
    assert [len(batch) for batch in batches] == [4] * 4
    assert sorted(pair for batch in batches for pair in batch) == sorted(whole)
    ranges = sorted((min(len(p.source) for p in batch), max(len(p.source) for p in batch)) for batch in batches)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(ranges))
    again = Training("reverse", TINY.replace(batch=4, pool=4))
    assert all(torch.equal(a, b) for a, b in zip(pooled.batch_at(9), again.batch_at(9), strict=True))


# --- a model to start from, and a head that must decide --------------------------------------------------------------


def test_a_run_can_start_from_a_shipped_model():
    recipe = RECIPES["reverse"].replace(start="reverse", steps=1, learning_rate=0.0)
    shipped = Pipeline.load("reverse")
    assert same(weights(Training("reverse", recipe)), weights(shipped))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "decides"), [("english-french", True), ("english-french-redundant", False)])
def test_the_penalty_measures_what_the_model_knows_without_the_head(name: str, decides: bool):
    """Compared with a reference: the same log-probabilities from traces of one sentence at a time."""
    training = Training(name, RECIPES["english-french"].replace(start=name))
    penalty = training.known_without_head(2).item()
    pipeline, squares = Pipeline.load(name), []
    for pair in training.task.reference_pairs(2, f"{training.recipe.seed}/0", "train"):
        split = pipeline.target_vocabulary.split
        pronouns = [split(pair.target_a)[pair.pronoun_a], split(pair.target_b)[pair.pronoun_b]]
        for source, target, row in (
            (pair.source_a, pair.target_a, pair.pronoun_a),
            (pair.source_b, pair.target_b, pair.pronoun_b),
        ):
            silenced = pipeline.trace(source, target, [Ablate("decoder.layers.0.cross_attention", heads=(1,))])
            one, other = silenced.logits[0, row].log_softmax(-1)[pipeline.target_vocabulary.ids(pronouns)].tolist()
            squares.append((one - other) ** 2)
    assert penalty == pytest.approx(sum(squares) / len(squares), rel=1e-3)
    assert (penalty < 4) == decides


@pytest.mark.slow
@pytest.mark.parametrize(("start", "turns"), [("english-french", True), ("", False)])
def test_the_penalty_measures_how_little_the_head_attends_to_the_noun(start: str, turns: bool):
    """Compared with a reference: the weights in traces of one sentence at a time. A model with random weights has a large
    penalty."""
    training = Training("english-french", RECIPES["english-french"].replace(start=start))
    penalty = training.looking_elsewhere(2).item()
    recipe, pipeline, logarithms = training.recipe, training.pipeline(), []
    for pair in training.task.reference_pairs(2, f"{training.recipe.seed}/0", "train"):
        for source, target, row, noun in (
            (pair.source_a, pair.target_a, pair.pronoun_a, pair.noun_1),
            (pair.source_b, pair.target_b, pair.pronoun_b, pair.noun_2),
        ):
            weights = pipeline.trace(source, target).attention("cross")
            logarithms.append(math.log(weights[recipe.turning_layer - 1, 0, recipe.turning_head - 1, row, noun + 1]))
    assert penalty == pytest.approx(-sum(logarithms) / len(logarithms), rel=1e-3, abs=1e-4)
    assert (penalty < 0.1) == turns


@pytest.mark.slow
@pytest.mark.parametrize(("turning_from", "changes"), [(0, True), (1, False)])
def test_the_penalty_on_the_head_begins_at_its_step(turning_from: int, changes: bool):
    recipe = RECIPES["english-french"].replace(batch=2, pool=1, check_pairs=1, decisive=0.0, turning_from=turning_from)
    one, other = (Training("english-french", recipe.replace(turning=turning)) for turning in (0.5, 0.0))
    one.advance()
    other.advance()
    assert same(weights(one), weights(other)) != changes


@pytest.mark.slow
def test_a_start_of_another_configuration_is_refused():
    with pytest.raises(ConfigError, match=r"^The recipe starts from 'sort', which has another configuration"):
        Training("reverse", RECIPES["reverse"].replace(start="sort", config=()))


def test_half_of_a_batch_are_the_pairs_with_the_least_probable_token():
    """Compared with a reference: the losses of one pair at a time. The other half is taken at even intervals from all pairs."""
    training = Training("reverse", TINY.replace(batch=8, pool=1, hard=4, hard_from=1))
    assert len(training.batches(0)[0]) == 8  # the step `hard_from` is not reached yet
    (pairs,) = training.batches(1)
    assert len(pairs) == 32
    losses = []
    for pair in pairs:
        source, target = training.ids([pair])
        logits = training.model.eval()(source, target[:, :-1])
        losses.append(-logits.log_softmax(-1)[0, range(target.shape[1] - 1), target[0, 1:]].min().item())
    chosen, evenly = training.hardest(pairs), [0, 8, 16, 24]
    others = [index for index in sorted(range(32), key=lambda index: -losses[index]) if index not in evenly]
    assert chosen == [pairs[index] for index in sorted([*evenly, *others[:4]])]
    training.advance()
    training.advance()
    assert training.pool[0] == 1  # the second step chose from the larger pool


# --- stopped and resumed ----------------------------------------------------------------------------------------


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("stop", [0, 3, 4])
def test_a_resumed_run_ends_like_an_uninterrupted_one(finished: Training, stop: int, tmp_path: Path):
    first = Training("reverse", TINY)
    list(itertools.islice(first, stop))
    first.save_state(tmp_path / "state")
    second = Training("reverse", TINY)
    second.load_state(tmp_path / "state")
    assert second.step == stop
    steps = list(second)
    assert [(step.step, step.loss) for step in steps] == [(step.step, step.loss) for step in finished.steps[stop:]]
    assert same(weights(second), weights(finished))
    assert [{**entry, "seconds": 0} for entry in second.history] == [{**entry, "seconds": 0} for entry in finished.history]
    assert second.seconds > first.seconds


def test_a_state_of_another_recipe_or_name_is_refused(tmp_path: Path):
    training = Training("reverse", TINY)
    training.save_state(tmp_path / "state")
    for other in (Training("reverse", TINY.replace(seed=1)), Training("copy", TINY)):
        with pytest.raises(CheckpointError, match="belongs to a run with another recipe"):
            other.load_state(tmp_path / "state")


def test_a_missing_state_is_refused(tmp_path: Path):
    for path, problem in ((tmp_path / "none", "There is no file"), (tmp_path, "is a folder; give the path of a file")):
        with pytest.raises(CheckpointError, match=problem):
            Training("reverse", TINY).load_state(path)


@pytest.fixture(scope="module")
def state(one_step: Training, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "state"
    one_step.save_state(path)
    return path


@pytest.mark.parametrize("share", [0.0, 0.0001, 0.01, 0.3, 0.9, 0.999])
def test_a_truncated_state_is_refused(state: Path, tmp_path: Path, share: float):
    data = state.read_bytes()
    (tmp_path / "state").write_bytes(data[: int(len(data) * share)])
    with pytest.raises(CheckpointError, match="is not a whole safetensors file"):
        Training("reverse", TINY).load_state(tmp_path / "state")


WEIGHT = "output_projection.weight"


@pytest.mark.few_cases(6)
@pytest.mark.parametrize(
    ("changed", "tensors", "message"),
    [
        ([1], {}, "is damaged"),
        ({"step": "three"}, {}, "its step, seconds or history is invalid"),
        ({"step": -10}, {}, "its step, seconds or history is invalid"),
        ({"step": True}, {}, "its step, seconds or history is invalid"),
        ({"step": 7}, {}, "its step, seconds or history is invalid"),
        ({"seconds": None}, {}, "its step, seconds or history is invalid"),
        ({"seconds": math.nan}, {}, "its step, seconds or history is invalid"),
        ({"history": [3]}, {}, "its step, seconds or history is invalid"),
        ({}, {f"parameter/{WEIGHT}": None}, f"lacks the tensor parameter/{WEIGHT}"),
        ({}, {f"parameter/{WEIGHT}": torch.zeros(1)}, rf"parameter/{WEIGHT} has shape \(1,\); it must have "),
        ({}, {f"mean/{WEIGHT}": torch.zeros(3, 3)}, rf"mean/{WEIGHT} has shape \(3, 3\); it must have "),
        ({}, {f"square/{WEIGHT}": None}, f"lacks the tensor square/{WEIGHT}"),
        ({}, {"square/output_projection.bias": torch.full((30,), torch.nan)}, "holds values that are not finite"),
        ({}, {"parameter/one_too_many": torch.zeros(1)}, "has a tensor parameter/one_too_many, which its model lacks"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_invalid_state_with_a_valid_digest_changes_nothing(
    state: Path, one_step: Training, tmp_path: Path, changed: object, tensors: dict[str, Tensor | None], message: str
):
    texts = read_header(state)
    state_record = json.loads(texts["headlight-training"])
    parts = {"headlight-training": json.dumps(state_record | changed if isinstance(changed, dict) else changed)}
    values = {name: tensor for name, tensor in (load_file(state) | tensors).items() if tensor is not None}
    save_file(values, tmp_path / "state", parts | {"digest": digest(values, parts)})
    before, moments = weights(one_step), copy.deepcopy([*one_step.optimizer.moments.values()])
    with pytest.raises(CheckpointError, match=message):
        one_step.load_state(tmp_path / "state")
    assert same(weights(one_step), before)
    torch.testing.assert_close([*one_step.optimizer.moments.values()], moments, rtol=0, atol=0)
    assert one_step.step == 1


def read_header(path: Path) -> dict[str, str]:
    with safetensors.safe_open(path, framework="pt") as file:
        return file.metadata()


def test_a_state_from_before_the_first_step_starts_anew(finished: Training, tmp_path: Path):
    Training("reverse", TINY).save_state(tmp_path / "start")
    training = Training("reverse", TINY)
    list(itertools.islice(training, 3))
    training.load_state(tmp_path / "start")
    list(training)
    assert same(weights(training), weights(finished))


def test_a_state_with_a_changed_byte_is_refused(state: Path, tmp_path: Path):
    data = state.read_bytes()
    training = Training("reverse", TINY)
    before = weights(training)
    for position in range(0, len(data) - 1, len(data) // 60):
        changed = bytearray(data)
        changed[position] ^= 0x10
        (tmp_path / "state").write_bytes(changed)
        with pytest.raises(CheckpointError):
            training.load_state(tmp_path / "state")
    assert training.step == 0
    assert same(weights(training), before)


@pytest.mark.parametrize(
    "metadata",
    [None, {}, {"headlight-training": "garbage"}, {"headlight-training": "[]"}, {"headlight-training": "{}", "digest": "0"}],
)
def test_a_foreign_file_is_refused(metadata: dict[str, str] | None, state: Path, tmp_path: Path):
    save_file(load_file(state), tmp_path / "state", metadata)
    with pytest.raises(CheckpointError, match="is damaged"):
        Training("reverse", TINY).load_state(tmp_path / "state")
