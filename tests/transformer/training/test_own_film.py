"""Tests of the film of somebody's own training."""

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load, save
from torch import nn

from transformer import Film, watch
from transformer.errors import CheckpointError, InputError
from transformer.training.film_file import FORMAT, MOST_LOSSES, read_run, run_bytes
from transformer.training.own_film import may_record

IDS = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])


class Reader(nn.Module):
    """A layer of attention over ids, with dropout."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table = nn.Embedding(12, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True, dropout=0.5)
        self.out = nn.Linear(8, 12)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.table(ids)
        return self.out(x + self.attention(x, x, x, need_weights=False)[0])


def train(film: Film, steps: int, **given: Any) -> list[float]:
    """Train the model of a film to repeat its input; returns the losses."""
    optimizer, losses = torch.optim.Adam(film.model.parameters(), 0.05), []
    for _ in range(steps):
        logits = film.model(IDS)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), IDS.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        film(loss, **given)
    return losses


def test_frames_have_the_weights_the_losses_and_the_norms_of_their_step(tmp_path: Path) -> None:
    model = Reader()
    before = watch(model.eval(), IDS)
    model.train()
    film = Film(model, IDS, every=10, path=tmp_path / "run.safetensors", tokens=[list("abcd"), list("efgh")], share=1.0)
    losses = train(film, 25)
    film.save()
    run = read_run((tmp_path / "run.safetensors").read_bytes())
    assert run.steps == (0, 10, 20, 25)
    assert run.loss_steps.tolist() == [*range(1, 26)]
    assert run.losses == pytest.approx(losses)
    assert run.at(1) == pytest.approx(np.mean(losses[:10]), rel=1e-5)
    assert np.isnan(run.at(0))
    (path,) = run.levels
    assert run.labels[path][1] == (tuple("efgh"), tuple("efgh"))
    after = watch(model.eval(), IDS)
    for frame, watched in ((0, before), (3, after)):
        for text in range(2):
            expected = watched.weights(watched.attentions[0])[text].numpy()
            assert run.weights(path, frame, text) == pytest.approx(expected, abs=0.5 / 255 + 1e-6)
    norms = [float(parameter.detach().norm()) for parameter in model.parameters()]
    assert run.norms[3].tolist() == pytest.approx(norms)
    assert run.parts == tuple(name for name, _ in model.named_parameters())


def test_the_training_is_the_same_with_and_without_a_film(tmp_path: Path) -> None:
    """A frame does not change the mode, the weights or the random numbers of dropout."""
    finals = []
    for every in (1, 10_000):
        film = Film(Reader(), IDS, every=every, path=tmp_path / "run.safetensors", share=1.0)
        torch.manual_seed(3)
        train(film, 8)
        assert film.model.training
        assert film.model.attention.training
        finals.append(torch.cat([parameter.detach().flatten() for parameter in film.model.parameters()]))
    assert torch.equal(*finals)


@pytest.mark.slow
def test_every_second_frame_is_dropped_when_the_file_would_become_too_large(tmp_path: Path) -> None:
    most = 5_000
    film = Film(Reader(), IDS, every=1, path=tmp_path / "run.safetensors", megabytes=most / 2**20, share=1.0)
    assert f"up to {film.most_frames} frames" in repr(film)
    train(film, 150)
    film.save()
    data = (tmp_path / "run.safetensors").read_bytes()
    run = read_run(data)
    assert 2 <= len(run.steps) <= film.most_frames < 150
    assert (run.steps[0], run.steps[-1]) == (0, 150)
    assert film.every > 1
    assert 2 <= len(run.losses) < 150
    assert len(data) <= most  # also with the losses, the labels and the names


def test_a_frame_that_fails_ends_the_film_and_not_the_training(tmp_path: Path) -> None:
    ids = IDS.clone()
    film = Film(Reader(), ids, every=2, path=tmp_path / "run.safetensors", share=1.0)
    train(film, 2)
    ids.fill_(99)  # an id that the table does not have
    with pytest.warns(RuntimeWarning, match="The film stops at step 4: Your module fails"):
        train(film, 6)
    film.save()
    run = read_run((tmp_path / "run.safetensors").read_bytes())
    assert run.steps == (0, 2)
    assert len(run.losses) == 8


def test_a_module_that_keeps_tables_can_be_trained_after_a_frame() -> None:
    """A table that is made in inference mode and kept cannot be saved for the backward pass."""

    class Turned(Reader):
        def __init__(self) -> None:
            super().__init__()
            self.tables: dict[int, torch.Tensor] = {}

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            length = ids.shape[1]
            if length not in self.tables:
                self.tables[length] = torch.arange(length, dtype=torch.float32)[:, None].cos()
            x = self.table(ids) * self.tables[length]
            return self.out(x + self.attention(x, x, x, need_weights=False)[0])

    assert len(train(Film(Turned(), IDS), 2)) == 2


def test_a_frame_waits_until_it_keeps_its_share_of_the_time() -> None:
    assert may_record(spent=0.1, frames=1, elapsed=10.0, share=0.03)
    assert not may_record(spent=0.1, frames=1, elapsed=5.0, share=0.03)
    assert not may_record(spent=0.3, frames=3, elapsed=10.0, share=0.03)
    assert may_record(spent=0.3, frames=3, elapsed=0.3, share=1.0)


@pytest.mark.slow
def test_many_losses_are_averaged_in_the_file() -> None:
    film = Film(Reader(), IDS)
    for step in range(2 * MOST_LOSSES):
        film(float(step % 2))
    run = read_run(run_bytes(film.run()))
    assert len(run.losses) == MOST_LOSSES
    assert set(run.losses.tolist()) == {0.5}
    assert run.loss_steps[-1] == 2 * MOST_LOSSES


def test_a_film_reads_modules_with_several_inputs_or_named_ones(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    film = Film(model, (torch.randn(1, 3, 8), torch.randn(1, 4, 8)), path=tmp_path / "a.safetensors")
    assert len(film.run().levels) == 3
    named = Film(model, {"src": torch.randn(1, 3, 8), "tgt": torch.randn(1, 4, 8)})
    assert [*named.run().levels] == [*film.run().levels]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"texts": "abc"}, "texts must be a tensor"),
        ({"texts": []}, "texts must be a tensor"),
        ({"path": "tests"}, "path is 'tests'; no file can be written there"),
        ({"path": "pyproject.toml/run.safetensors"}, "no file can be written there"),
        ({"every": 0}, "every is 0"),
        ({"every": True}, "every is True"),
        ({"share": 2.0}, "share is 2.0"),
        ({"megabytes": float("nan")}, "megabytes is nan"),
        ({"megabytes": 1e-5}, "give fewer or shorter texts"),
    ],
)
def test_arguments_that_are_not_valid_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Film(**{"model": Reader(), "texts": IDS, **given})


def test_a_film_is_not_written_over_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="no file can be written there"):
        Film(Reader(), IDS, path=tmp_path / "pipe")
    with pytest.raises(CheckpointError, match="it is a device, a pipe or the like"):
        Film(Reader(), IDS).save(tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()


def test_a_module_without_attention_and_a_loss_that_is_no_float_are_refused() -> None:
    with pytest.raises(InputError, match="no attention that is recognised"):
        Film(nn.Linear(3, 3), torch.randn(1, 3))
    film = Film(Reader(), IDS)
    for loss in ("low", "0.5", 10**400):
        with pytest.raises(InputError, match="a number is needed"):
            film(loss)
    film(1.0, step=7)
    with pytest.raises(InputError, match="steps only grow"):
        film(1.0, step=3)


def test_the_trainer_of_transformers_records_a_film(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")
    pytest.importorskip("accelerate", reason="accelerate is not installed; the Trainer of transformers needs it")
    from transformer.huggingface.film_trainer import TrainerFilm

    config = transformers.GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=12, n_positions=8)
    model = transformers.GPT2LMHeadModel(config)
    film = Film(model, {"input_ids": IDS}, every=2, path=tmp_path / "run.safetensors", share=1.0)
    settings = transformers.TrainingArguments(
        output_dir=str(tmp_path), max_steps=4, logging_steps=1, report_to=[], use_cpu=True, disable_tqdm=True
    )
    data = [{"input_ids": row, "labels": row} for row in IDS] * 20
    transformers.Trainer(model, settings, train_dataset=data, callbacks=[TrainerFilm(film)]).train()
    run = read_run((tmp_path / "run.safetensors").read_bytes())
    assert run.steps == (0, 2, 4)
    assert run.loss_steps.tolist() == [1, 2, 3, 4]


def test_lightning_records_a_film(tmp_path: Path) -> None:
    """With Lightning itself if it is installed; else a sentence says that it is missing."""
    from transformer.training.film_lightning import lightning_film

    film = Film(Reader(), IDS, every=2, path=tmp_path / "run.safetensors", share=1.0)
    if not any(map(importlib.util.find_spec, ("lightning", "pytorch_lightning"))):
        with pytest.raises(InputError, match="Lightning is not installed"):
            lightning_film(film)
        return
    callback = lightning_film(film)
    for step in range(1, 5):
        trainer = type("Trainer", (), {"global_step": step})
        callback.on_train_batch_end(trainer, film.model, {"loss": torch.tensor(0.5)}, IDS, step)
    callback.on_train_end(trainer, film.model)
    assert read_run((tmp_path / "run.safetensors").read_bytes()).steps == (0, 2, 4)


def changed(data: bytes, metadata: dict[str, Any] | None = None, tensors: dict[str, Any] | None = None) -> bytes:
    """The contents of a film's file, with some parts changed. A tensor that is None is left out."""
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    arrays = {name: array for name, array in (load(data) | (tensors or {})).items() if array is not None}
    return save(arrays, {**header, **{name: json.dumps(value) for name, value in (metadata or {}).items()}})


BROKEN: list[dict[str, Any]] = [
    {"metadata": {"steps": [0, 0]}},
    {"metadata": {"steps": "now"}},
    {"metadata": {"steps": [1.5]}},
    {"metadata": {"parts": ["x"]}},
    {"metadata": {"paths": []}},
    {"metadata": {"paths": ["a", "a"]}},
    {"metadata": {"labels": [[[["a"], ["b"]]]]}},
    {"metadata": {"labels": 3}},
    {"metadata": {"labels": [[["abcd", "abcd"], ["abcd", "abcd"]]]}},
    {"tensors": {"losses": None}},
    {"tensors": {"losses": np.zeros((2, 2), np.float32)}},
    {"tensors": {"losses": np.zeros(3, np.float32)}},
    {"tensors": {"norms": np.zeros((1, 2), np.float32)}},
    {"tensors": {"levels.0": np.zeros((1, 2, 2, 4, 4), np.float32)}},
    {"tensors": {"levels.0": np.zeros((1, 0, 2, 4, 4), np.uint8)}},
    {"tensors": {"levels.0": np.zeros((4, 4), np.uint8)}},
    {"tensors": {"more": np.zeros(1, np.float32)}},
]


@pytest.mark.parametrize("changes", BROKEN)
def test_files_that_are_not_right_are_refused(changes: dict[str, Any]) -> None:
    data = run_bytes(Film(Reader(), IDS).run())
    assert read_run(changed(data)).steps == (0,)
    with pytest.raises(CheckpointError, match="is not the film of a training"):
        read_run(changed(data, **changes))


def test_other_files_are_refused() -> None:
    with pytest.raises(CheckpointError, match="`Film` did not write it"):
        read_run(save({"x": np.zeros(1)}, {FORMAT: "2"}))
    with pytest.raises(CheckpointError):
        read_run(b"film")
