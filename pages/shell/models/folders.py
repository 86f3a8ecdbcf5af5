"""Models of Hugging Face in folders of the server, which its operator names in `HEADLIGHT_MODELS`.

The folders are read once, when the server starts. Nothing is opened before a visitor picks a model.
"""

import importlib.util
import logging
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from pages.shell.models.own_models import PREFIX
from pages.ui.caches import Absent, Store
from pages.ui.escaping import encodable
from pages.ui.limits import OPEN_MEGABYTES
from transformer import PRESETS, CheckpointError, HeadlightError, Pipeline
from transformer.huggingface import hub
from transformer.huggingface.files import CONFIG, MEGABYTE, Summary, summary
from transformer.huggingface.hf_limits import HUB
from transformer.opening import INSTALL, NO_PACKAGE, open_model
from transformer.pipeline.protocol import TextPipeline
from transformer.pipeline.snapshots import SIGN

# Environment variable that lists folders, separated by `os.pathsep`. Each is the folder of a model, or contains folders of
# models.
VARIABLE = "HEADLIGHT_MODELS"
PACKAGES = ("transformers", "tokenizers")
# The family that can run in our own network (`transformer.huggingface.own_network`). Such a model is in the picker twice; this
# is added to the name of the second entry.
OWN_FAMILY, IN_OWN_NETWORK = "marian", " (own network)"


@dataclass(frozen=True)
class FolderModel:
    """The cache key of a model in a folder.

    Attributes:
        name: name of the model in the picker and in URLs. It is the name of the folder, or of the downloaded model. With
            `own_network`, `IN_OWN_NETWORK` is added to it.
        path: path of the folder.
        about: family and size of the model, read from its files.
        own_network: whether the weights of the model run in our own network.
    """

    name: str
    path: str
    about: Summary = field(compare=False)
    own_network: bool = False

    @property
    def parameters(self) -> int:
        """The number of parameters of the model."""
        return self.about.parameters


class Folder(NamedTuple):
    """A folder that the operator named, or the folder of a downloaded model: the model in it, or why it cannot be opened."""

    model: FolderModel | None
    problem: HeadlightError | None = None


LOG = logging.getLogger("headlight")
# The open models, in a store apart from all other results; and the errors of the models that could not be opened.
OPEN = Store(OPEN_MEGABYTES * MEGABYTE * 21 // 20)  # with room for the tables that are not trained
_FAILED: dict[FolderModel, CheckpointError] = {}


def folders() -> Mapping[str, Folder]:
    """The operator's model folders and those of downloaded models: name → folder. Includes folders that cannot be opened."""
    named = _folders(os.environ.get(VARIABLE, ""))
    return named | _downloaded(hub.store(), hub.changed()) if hub_allowed() else named


def hub_allowed() -> bool:
    """Whether visitors may open models of a hub."""
    return HUB and not _absent()


def folder_models() -> dict[str, FolderModel]:
    """The models in folders of the server, without those whose files show that they cannot be opened: name in the picker →
    model. A Marian model has two entries. One runs in the classes of Hugging Face and gives their logits, bit for bit. The
    other, with the name of `own_network_name`, runs in our own network, which can compute each step again."""
    models = {name: folder.model for name, folder in folders().items() if folder.model}
    own = {}
    for name, model in models.items():
        other = own_network_name(name)
        if model.about.family == OWN_FAMILY and other not in models:
            own[other] = replace(model, name=other, own_network=True)
    return models | own


def own_network_name(name: str) -> str:
    """The name, in the picker and in URLs, of the entry that runs a folder's model in this project's own network."""
    return f"{name}{IN_OWN_NETWORK}"


def problem_of(name: str) -> HeadlightError | None:
    """Why a model folder cannot be opened; None if it can, if this process has not tried yet, or if there is no such folder."""
    folder, model = folders().get(name), folder_models().get(name)
    return (folder and folder.problem) or (_FAILED.get(model) if model else None)


def open_folder(key: FolderModel) -> TextPipeline:
    """The pipeline of a model in a folder. It stays in memory until other models need the memory. Raises a `CheckpointError` if
    the model cannot be opened; later calls raise it without trying again."""
    if key in _FAILED:
        raise _FAILED[key].anew()
    return _opened(key)


def is_open(key: FolderModel) -> bool:
    """Whether `open_folder` returns, or raises, at once, because it has opened the model or has failed before."""
    return key in _FAILED or OPEN.has(_opened, key)


def kept_folder(key: FolderModel) -> TextPipeline | Literal[Absent.ABSENT]:
    """The pipeline of a folder's model that is in memory; `ABSENT` if the model would have to be opened first."""
    return OPEN.kept(_opened, key)


def _open(key: FolderModel) -> TextPipeline:
    OPEN.make_room(key.about.nbytes)
    hub.used(Path(key.path))
    try:
        return open_model(Path(key.path), own_network=key.own_network)
    except CheckpointError as error:
        _FAILED[key] = error.anew()
        raise
    except Exception as error:
        LOG.exception("The folder %s cannot be opened", key.path)
        template = "The model in {folder!r} cannot be opened ({problem})."
        _FAILED[key] = CheckpointError(template, folder=key.name, problem=repr(error))
        raise _FAILED[key].anew() from error


_opened = OPEN.cached(_open)


@cache
def _folders(written: str) -> dict[str, Folder]:
    """Name → folder, for the folders that `HEADLIGHT_MODELS` lists. If two folders have the same name, the second one cannot be
    opened, and is listed under its path."""
    taken: dict[str, Folder] = {}
    for path in _paths(written):
        name = encodable(path.name)
        folder = _folder(name, path)
        problem = folder.problem or _refusal(name, taken)
        name = encodable(str(path)) if name in taken else name
        taken.setdefault(name, Folder(None, problem) if problem else folder)
    return taken


def _folder(name: str, path: Path) -> Folder:
    try:
        return Folder(FolderModel(name, str(path.resolve()), summary(path)))
    except CheckpointError as error:
        return Folder(None, error)
    except OSError as error:
        return Folder(None, CheckpointError("The folder {name!r} cannot be read ({problem}).", name=name, problem=str(error)))


def _refusal(name: str, taken: Collection[str]) -> CheckpointError | None:
    """Why a folder that can be read cannot be opened under its name."""
    if name in (*Pipeline.available(), *PRESETS, *taken):
        return CheckpointError("Another model has the name {name!r}; rename the folder.", name=name)
    if SIGN in name or name.startswith(PREFIX):
        return CheckpointError(
            "The folder {name!r} has the name of a model of another kind: those with {sign!r} are snapshots, those "
            "that begin with {prefix!r} were trained or uploaded here. Rename the folder.",
            name=name,
            sign=SIGN,
            prefix=PREFIX,
        )
    absent = _absent()
    return CheckpointError(NO_PACKAGE, package=absent[0], command=INSTALL) if absent else None


@lru_cache(maxsize=1)
def _downloaded(store: Path, changed: int) -> dict[str, Folder]:  # noqa: ARG001 (keys of the cache)
    """Name → folder, for the downloaded models in `store`. `changed` is the time of the last change there."""
    return {name: _folder(name, path) for name, path in hub.downloaded().items()}


def _absent() -> list[str]:
    return [package for package in PACKAGES if importlib.util.find_spec(package) is None]


def _paths(written: str) -> list[Path]:
    """The model folders in the value of `HEADLIGHT_MODELS`. A folder without a configuration stands for all folders in it."""
    paths: list[Path] = []
    for part in filter(None, written.split(os.pathsep)):
        given = Path(part)
        if given.is_dir() and not (given / CONFIG).exists():
            paths += sorted(path for path in given.iterdir() if path.is_dir() and not path.name.startswith("."))
        else:
            paths.append(given)
    return paths
