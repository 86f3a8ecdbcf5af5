"""A callback of Lightning that records a `Film` of a training. It needs `lightning` or `pytorch-lightning`."""

import importlib
from contextlib import suppress
from typing import Any

from transformer.errors import InputError
from transformer.training.own_film import Film

PACKAGES = ("lightning.pytorch", "pytorch_lightning")


def lightning_film(film: Film) -> Any:
    """A callback of Lightning that records attention weights during a training: `Trainer(callbacks=[lightning_film(film)])`.

    Args:
        film: the recorder, made for the module that is trained. Its file is written when the training ends.

    Raises:
        InputError: Lightning is not installed.
    """

    class LightningFilm(_callback()):
        def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
            loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
            film(loss, max(film.step, trainer.global_step))

        def on_train_end(self, trainer: Any, pl_module: Any) -> None:
            film.save()

    return LightningFilm()


def _callback() -> Any:
    """Lightning's class of callbacks. Raises the same error as `lightning_film`."""
    for package in PACKAGES:
        with suppress(ImportError):
            return importlib.import_module(package).Callback
    raise InputError("Lightning is not installed; run `pip install lightning`.")
