"""The models that a visitor can pick: shipped models, their snapshots, models of the session, and models in folders of the
server."""

from pages.shell.models.folders import folder_models
from pages.shell.models.own_models import own_models
from pages.shell.view.runs import Key, runs
from pages.ui.caches import cached
from transformer import Pipeline
from transformer.pipeline.snapshots import parse_snapshot_name
from transformer.training.recipe import RECIPES


def trained(model: str) -> bool:
    """Whether a model, by its name in the picker, is trained: a shipped model, a snapshot of its training, a model of this
    session, or a model in a folder of the server."""
    return model in available() or model in own_models() or model in folder_models() or snapshot_of(model) is not None


def is_only_here(model: str) -> bool:
    """Whether a model, by its name in the picker, exists only in this session or on this server, so that a link with its name
    does not work elsewhere."""
    return model in own_models() or model in folder_models()


def trained_key(model: str) -> Key:
    """The key of a trained model, by its name in the picker, in the caches of models and runs (`runs`)."""
    return model if model in available() else own_models().get(model) or folder_models().get(model, model)


def snapshot_of(model: str) -> tuple[str, int] | None:
    """The shipped model and the step of a snapshot (a model saved in training) by its name; None if it does not exist."""
    named = parse_snapshot_name(model)
    return named if named and named[0] in available() and named[1] in snapshots(named[0]) else None


@cached
def snapshots(model: str) -> tuple[int, ...]:
    """The training steps at which snapshots of a shipped model were saved, in order."""
    return Pipeline.snapshots(model)


def filmed(model: str) -> str | None:
    """The shipped model whose snapshots (saved states) show the training of a model of the picker: the model itself, or the one
    with whose weights its training started. None if neither has snapshots."""
    model, _ = snapshot_of(model) or (model, 0)
    if model not in available():
        return None
    if snapshots(model):
        return model
    start = str(runs().pipeline(model).card.recipe.get("start") or "")
    return start if start in available() and snapshots(start) else None


@cached
def available() -> dict[str, str]:
    """The shipped models in the order of the recipes: name → one line on what the model does."""
    order = list(RECIPES)
    descriptions = Pipeline.available()
    return dict(sorted(descriptions.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order)))
