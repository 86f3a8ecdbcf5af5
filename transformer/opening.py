"""`open_model` opens any model by its name or path; `save_huggingface` writes a Headlight model for Hugging Face's
`transformers`."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from transformer.assets import is_installed
from transformer.errors import CheckpointError, InputError
from transformer.pipeline.pipeline import Pipeline
from transformer.pipeline.protocol import TextPipeline

INSTALL = 'pip install "headlight[huggingface]"' if is_installed() else "pip install -r requirements-huggingface.txt"
NO_PACKAGE = "A model of Hugging Face needs the package {package}; run `{command}`."


def open_model(name: str | Path, own_network: bool = False) -> TextPipeline:
    """Open a model, and return its pipeline, which answers and traces texts:

        open_model("reverse")                       # shipped with Headlight
        open_model("reverse@000316")                # a snapshot from its training
        open_model("folder/mine.safetensors")       # a checkpoint that Headlight wrote
        open_model("folder")                        # of Hugging Face: configuration, safetensors and tokenizer

    Args:
        name: the name of a shipped model or of a snapshot, or the path of a file or folder. A text that is both a name and a
            path is read as a name; a `Path` is always a path. docs/MODELS.md lists the architectures of Hugging Face that can
            be opened.
        own_network: whether a Marian model of Hugging Face runs in Headlight's own `Transformer`, of which every tensor can be
            traced. Models that Headlight trained always run in it.

    Raises:
        InputError: `name` is a text, and no model, file or folder has this name; or `own_network` is not a bool.
        CheckpointError: the file or the folder cannot be opened, the packages for it are not installed, or `Transformer` cannot
            represent the Hugging Face model.
    """
    if not isinstance(own_network, bool):
        raise InputError("own_network is {own_network!r}; allowed are True and False.", own_network=own_network)
    if isinstance(name, str) and name not in Pipeline.available() and os.path.exists(name):
        name = Path(name)
    if not isinstance(name, Path) or not os.path.isdir(name):
        return Pipeline.load(name)
    with optional_packages():
        from transformer.huggingface.hf_opening import open_folder
        from transformer.huggingface.own_network import open_own_network
    return open_own_network(name) if own_network else open_folder(name)


def save_huggingface(pipeline: Pipeline, folder: str | Path) -> None:
    """Write a Headlight model into `folder`, in the format of Hugging Face's class `MarianMTModel`. `transformers` and
    `open_model` can read the folder; see `transformer.huggingface.hf_export`.

    Raises:
        CheckpointError: the packages for Hugging Face are not installed, the folder cannot be written, or Marian cannot
            represent the model.
        InputError: `pipeline` is not a Pipeline.
    """
    with optional_packages():
        from transformer.huggingface.hf_export import write_marian
    write_marian(pipeline, folder)


@contextmanager
def optional_packages() -> Generator[None]:
    """A context manager for imports from `transformer.huggingface`, which needs optional packages.

    Raises:
        CheckpointError: a package is not installed; the message says how to install it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise CheckpointError(NO_PACKAGE, package=error.name, command=INSTALL) from error
