"""Models that belong to one session because they were trained or uploaded in it. Its sidebar lists them after the shipped ones.

The session keeps the contents of the models' files. They are dropped some minutes after the session has ended, because the
browser may come back in that time (`keep_left`). If a model was dropped from the caches, the process loads it again from these
contents, which it finds by their digest.
"""

import hashlib
import re
import threading
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from weakref import WeakValueDictionary

import streamlit as st
from cachetools import TTLCache

from pages.ui.limits import OWN_MEGABYTES
from transformer import CheckpointError, Pipeline
from transformer.network.cost import parameters
from transformer.tasks import TASKS

# Session key of a dict: name → `_Own`.
OWN = "own_models"
PREFIX = "my-"
LONGEST_NAME = 40
# Field of the configuration → the only value that the texts and formulas of the pages explain.
EXPLAINED = {"activation": "relu", "sinusoid_order": "alternating"}


@dataclass(frozen=True)
class OwnModel:
    """The cache key of a model of a session. Each step of a training has its own digest, and therefore its own results.

    Attributes:
        name: name of the model in the picker and in URLs of this session.
        digest: digest of the contents of its file.
        parameters: number of its parameters.
    """

    name: str
    digest: str
    parameters: int = field(compare=False)


class _Contents:
    """The contents of a file, in an object to which weak references are possible."""

    def __init__(self, data: bytes) -> None:
        self.data = data


class _Own(NamedTuple):
    key: OwnModel
    contents: _Contents
    about: str


# Digest → contents. The references are weak: contents that no session keeps are removed.
_CONTENTS: WeakValueDictionary[str, _Contents] = WeakValueDictionary()
# Token of a session that has ended → its models, for people who only load the page again. The models of the last 16 sessions
# are kept, for 300 seconds.
_LEFT: TTLCache[str, dict[str, _Own]] = TTLCache(16, 300)
_LEFT_LOCK = threading.Lock()


def own_models() -> dict[str, OwnModel]:
    """The models that were trained or uploaded in this session: name → key."""
    return {name: own.key for name, own in st.session_state.get(OWN, {}).items()}


def own_store() -> dict[str, _Own]:
    """This session's own models with the contents of their files: name → model. It is the same dict in all of a session."""
    return st.session_state.setdefault(OWN, {})


def keep_left(session: str, models: dict[str, _Own]) -> None:
    """Keep the models (`own_store`) of a session whose browser has disconnected, for `take_left` in the next minutes. `session`
    is a secret key that only the browser's tab has."""
    with _LEFT_LOCK:
        if models:
            _LEFT[session] = models


def take_left(session: str) -> bool:
    """Move the models that `keep_left` kept under the key `session` into this session. Returns whether there were any."""
    with _LEFT_LOCK:
        left = _LEFT.pop(session, {})
    models = own_store()
    for name, own in left.items():
        models.setdefault(name, own)
    return bool(left)


def about_own(name: str) -> str:
    """One line on where a model trained or uploaded in this session comes from; empty if there is no model of that name."""
    own = st.session_state.get(OWN, {}).get(name)
    return own.about if own else ""


def add_own(name: str, data: bytes, about: str) -> OwnModel:
    """Add a model to this session. It replaces a model with the same name.

    Args:
        name: a name that `own_name` returned.
        data: the contents of a checkpoint file. They are not trusted.
        about: one line on where the model comes from.

    Raises:
        CheckpointError: the data are not a checkpoint of one of our tasks, the pages cannot explain the model's configuration,
            or the server has no room for the model. The session is not changed.
    """
    pipeline = Pipeline.from_bytes(data, name)
    task = TASKS.get(pipeline.card.task)
    if task is None:
        raise CheckpointError("The model {name!r} was trained in a task that this app does not have.", name=name)
    pairs = ((task.source_vocabulary, pipeline.source_vocabulary), (task.target_vocabulary, pipeline.target_vocabulary))
    if any(ours.to_json() != given.to_json() for ours, given in pairs):
        template = "The model {name!r} has other tokens than the task {task!r} of this app."
        raise CheckpointError(template, name=name, task=task.name)
    for field_name, value in EXPLAINED.items():
        if getattr(pipeline.config, field_name) != value:
            template = "The model {name!r} has {field} {given!r}; the pages of this app explain {value!r} only."
            given = getattr(pipeline.config, field_name)
            raise CheckpointError(template, name=name, field=field_name, given=given, value=value)
    models = own_store()
    digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    replaced = len(models[name].contents.data) if name in models else 0
    while digest not in _CONTENTS and _bytes_of_all() - replaced + len(data) > OWN_MEGABYTES * 2**20:
        with _LEFT_LOCK:
            if not _LEFT:
                raise CheckpointError("The server has no room for more models of its visitors; try again later.")
            _LEFT.popitem()  # the models of ended sessions make room first
    contents = _CONTENTS.setdefault(digest, _Contents(data))
    models[name] = _Own(OwnModel(name, digest, parameters(pipeline.config)), contents, about)
    return models[name].key


def _bytes_of_all() -> int:
    return sum(len(contents.data) for contents in list(_CONTENTS.values()))


def load_own(key: OwnModel) -> Pipeline:
    """Load the model of this key, which was trained or uploaded in a session, without the test results on its model card. These
    are only claims of the file, and the pages show only numbers that this project has measured. Raises a `CheckpointError` if
    the session has replaced the model, or has ended."""
    contents = _CONTENTS.get(key.digest)
    if contents is None:
        raise CheckpointError("The model {name!r} is not there any more.", name=key.name)
    pipeline = Pipeline.from_bytes(contents.data, key.name)
    return replace(pipeline, card=replace(pipeline.card, measures={}))


def own_name(wanted: str) -> str:
    """The name for a model of a session: `my-`, then the lower-case letters and digits of the name `wanted`, and hyphens."""
    plain = re.sub(r"[^a-z0-9]+", "-", wanted.lower()).strip("-")[:LONGEST_NAME].strip("-")
    return PREFIX + (plain.removeprefix(PREFIX) or "model")
