"""Models that one session alone has: trained or uploaded in it. Its sidebar lists them beside the shipped ones.

The contents of their files are in the session, and go with it. The process finds them by their digest, to load them again when
they were dropped from the caches.
"""

import hashlib
import re
from dataclasses import dataclass, field
from typing import NamedTuple
from weakref import WeakValueDictionary

import streamlit as st

from pages.ui.limits import OWN_MEGABYTES
from transformer import CheckpointError, Pipeline
from transformer.network.cost import parameters
from transformer.worlds import WORLDS

# Session key of a dict: name → `_Own`.
OWN = "own_models"
PREFIX = "my-"
LONGEST_NAME = 40
# Fields of the configuration whose other values the texts and formulas of the pages do not cover.
EXPLAINED = {"activation": "relu", "sinusoid_order": "alternating"}


@dataclass(frozen=True)
class OwnModel:
    """The cache key of such a model. Another step of the same training has another digest, and so results of its own.

    Attributes:
        name: in the picker and in links of this session.
        digest: of the contents of its file.
        parameters: how many it has.
    """

    name: str
    digest: str
    parameters: int = field(compare=False)


class _Contents:
    """The contents of a file, to which there can be weak references."""

    def __init__(self, data: bytes) -> None:
        self.data = data


class _Own(NamedTuple):
    key: OwnModel
    contents: _Contents
    about: str


# Digest → contents. It keeps nothing alive: what no session has any more is gone.
_CONTENTS: WeakValueDictionary[str, _Contents] = WeakValueDictionary()


def own_models() -> dict[str, OwnModel]:
    """The models that this session alone has, by name."""
    return {name: own.key for name, own in st.session_state.get(OWN, {}).items()}


def about_own(name: str) -> str:
    """One line on where such a model comes from; empty if the session has no model of that name."""
    own = st.session_state.get(OWN, {}).get(name)
    return own.about if own else ""


def add_own(name: str, data: bytes, about: str) -> OwnModel:
    """Give this session a model; one of the same name is replaced.

    Args:
        name: made by `own_name`.
        data: the contents of a checkpoint file, from anywhere.
        about: one line on where it comes from.

    Raises:
        CheckpointError: it is not a checkpoint of one of our worlds, or the server has no room for it. Then nothing changes.
    """
    pipeline = Pipeline.from_bytes(data, name)
    world = WORLDS.get(pipeline.card.world)
    if world is None:
        raise CheckpointError("The model {name!r} was trained in a world that this app does not have.", name=name)
    pairs = ((world.source_vocabulary, pipeline.source_vocabulary), (world.target_vocabulary, pipeline.target_vocabulary))
    if any(ours.to_json() != given.to_json() for ours, given in pairs):
        template = "The model {name!r} has other tokens than the world {world!r} of this app."
        raise CheckpointError(template, name=name, world=world.name)
    for field_name, value in EXPLAINED.items():
        if getattr(pipeline.config, field_name) != value:
            template = "The model {name!r} has {field} {given!r}; the pages of this app explain {value!r} only."
            given = getattr(pipeline.config, field_name)
            raise CheckpointError(template, name=name, field=field_name, given=given, value=value)
    models: dict[str, _Own] = st.session_state.setdefault(OWN, {})
    digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    replaced = len(models[name].contents.data) if name in models else 0
    others = sum(len(contents.data) for contents in list(_CONTENTS.values())) - replaced
    if digest not in _CONTENTS and others + len(data) > OWN_MEGABYTES << 20:
        raise CheckpointError("The server has no room for more models of its visitors; try again later.")
    contents = _CONTENTS.setdefault(digest, _Contents(data))
    models[name] = _Own(OwnModel(name, digest, parameters(pipeline.config)), contents, about)
    return models[name].key


def load_own(key: OwnModel) -> Pipeline:
    """The model of a key.

    Raises:
        CheckpointError: its session has replaced it or has ended.
    """
    contents = _CONTENTS.get(key.digest)
    if contents is None:
        raise CheckpointError("The model {name!r} is not there any more.", name=key.name)
    return Pipeline.from_bytes(contents.data, key.name)


def own_name(wanted: str) -> str:
    """The name for a model of one's own: lower-case letters, digits and hyphens after `my-`."""
    plain = re.sub(r"[^a-z0-9]+", "-", wanted.lower()).strip("-")[:LONGEST_NAME].strip("-")
    return PREFIX + (plain.removeprefix(PREFIX) or "model")
