"""A callback that records a `Film` while the `Trainer` of `transformers` trains a model."""

from typing import Any

from transformers import TrainerCallback

from transformer.training.own_film import Film


class TrainerFilm(TrainerCallback):
    """Records a `Film` of a training by `transformers.Trainer`: at several steps, the attention weights of some texts and the
    norms of the parameters; and the losses.

        Trainer(model, callbacks=[TrainerFilm(Film(model, tokenizer(texts, return_tensors="pt")))])

    The losses are those that the trainer logs (`logging_steps`).

    Args:
        film: the film to record. Its file is written when the training ends.
    """

    def __init__(self, film: Film) -> None:
        self.film = film

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Set the film's step to the trainer's, and record a frame (attention weights and norms) if one is due."""
        self.film(step=state.global_step)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        """Add the loss to the film, if the trainer has logged a loss."""
        if logs and "loss" in logs:
            self.film.note_loss(logs["loss"])

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Write the file of the film."""
        self.film.save()
