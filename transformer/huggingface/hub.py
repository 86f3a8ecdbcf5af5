"""Models of a hub, such as huggingface.co: their ids, the files of a model, and the folder of the downloaded models.

An id is `owner/name`, with a revision after `@`. No other part of a visitor's text becomes part of an address. The hub lists
the files and their sizes, so sizes are limited before a weight is requested. Only the configuration, safetensors and the files
of a tokenizer are requested. Requests have no access token, so no visitor can read what only the operator may read.

This module needs `huggingface_hub` (Apache-2.0; installed with `transformers`), which is imported when a request is made.
"""

import os
import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from transformer.environment import PREFIX
from transformer.errors import CheckpointError
from transformer.huggingface.files import CONFIG, GENERATION, INDEX, MEGABYTE, NUMBER_BYTES, TOKENIZERS, WEIGHTS
from transformer.huggingface.hf_limits import HUB_MEGABYTES, MODEL_MEGABYTES, TOKENIZER_MEGABYTES

# Environment variables: the hub's address, under the name of Hugging Face's own library; and the folder of downloaded models.
ADDRESS, STORE = "HF_ENDPOINT", PREFIX + "HUB_FOLDER"
OFFICIAL = "https://huggingface.co"
# The hub's rules for the names of models; `--` is not allowed in a name, so it can stand for `/` in the name of a folder.
_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?"
ID = re.compile(rf"(?P<owner>{_PART})/(?P<name>{_PART})(?:@(?P<revision>{_PART}|refs/pr/[0-9]{{1,6}}))?")
COMMIT = re.compile(r"[0-9a-f]{40}")
RESERVED = ("datasets", "spaces", "api", "models")  # first parts of other addresses of a hub
PARTS = re.compile(r"model-[0-9]{5}-of-[0-9]{5}\.safetensors")
TOKENIZER_PARTS = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "merges.txt")
SMALL = (CONFIG, GENERATION, INDEX, *TOKENIZERS, *TOKENIZER_PARTS)
MARIAN = ("source.spm", "target.spm")
SIGN = "@"
SECONDS = 20  # after which a request to the hub is given up


class HubError(CheckpointError):
    """The error for a request to the hub that failed, for example because the hub cannot be reached. A later try can
    succeed."""


class HubId(NamedTuple):
    """The id of a model on a hub, such as huggingface.co.

    Attributes:
        repo: `owner/name`.
        revision: a branch, a tag or a commit.
    """

    repo: str
    revision: str

    @property
    def name(self) -> str:
        """The model's name in the app's URLs and in the list of models: `owner/name@revision`."""
        return f"{self.repo}@{self.revision}"


class HubFile(NamedTuple):
    """A file to download: its name, its size in bytes, and its SHA-256 in hexadecimal (`digest`), or None if the hub does not
    give it."""

    name: str
    nbytes: int
    digest: str | None


class Plan(NamedTuple):
    """The files of a model that a download will request.

    Attributes:
        model: the id of the model, with the commit as its revision.
        files: the configuration first, the weights last.
    """

    model: HubId
    files: tuple[HubFile, ...]

    @property
    def nbytes(self) -> int:
        """The size of all files together, in bytes."""
        return sum(file.nbytes for file in self.files)


def hub_id(text: str) -> HubId:
    """The id of a model that is written in a text as `owner/name` or `owner/name@revision`. Without a revision, the revision is
    `main`.

    Raises:
        CheckpointError: the text is neither of these, such as a path or an address; the owner is one of `RESERVED`, such as
            `datasets`; the text has `--` or `..`; or the name ends in `.git`.
    """
    match = ID.fullmatch(text.strip())
    parts = match.groupdict() if match else {}
    if not match or parts["owner"] in RESERVED or "--" in text or ".." in text or parts["name"].endswith(".git"):
        raise CheckpointError("{text!r} is not the id of a model; expected owner/name, or owner/name@revision.", text=text)
    return HubId(f"{parts['owner']}/{parts['name']}", parts["revision"] or "main")


def address() -> str:
    """The address of the hub: the environment variable `HF_ENDPOINT`, or `https://huggingface.co` if it is not set.

    Raises:
        CheckpointError: the address does not start with http or https.
    """
    set_by_operator = os.environ.get(ADDRESS, "").rstrip("/") or OFFICIAL
    if not re.match(r"https?://[^/]", set_by_operator):
        raise CheckpointError(
            "The address of the hub, {address!r}, does not start with http or https.", address=set_by_operator
        )
    return set_by_operator


def store() -> Path:
    """The folder of the downloaded models: the environment variable `HEADLIGHT_HUB_FOLDER`, or `~/.cache/headlight/hub`."""
    return Path(os.environ.get(STORE) or Path.home() / ".cache" / "headlight" / "hub")


def downloaded() -> dict[str, Path]:
    """The models that were downloaded completely: name (`owner/name@commit`) → folder."""
    folders = sorted(store().iterdir()) if store().is_dir() else []
    return {_name_of(path): path for path in folders if SIGN in path.name and not path.name.startswith(".")}


def changed() -> int:
    """When a model was last added to the folder of downloaded models or deleted from it, in nanoseconds since 1970; 0 if there
    is no such folder."""
    try:
        return store().stat().st_mtime_ns
    except OSError:
        return 0


def used(folder: Path) -> None:
    """Record that a downloaded model is used now: the modification time of its folder becomes the present time. A folder that
    is not in the folder of downloaded models is not changed."""
    if folder.parent == store():
        with suppress(OSError):
            os.utime(folder)


def folder_of(model: HubId) -> Path:
    """The path of the folder into which a model is downloaded. The revision of `model` must be a commit."""
    return store() / (model.repo.replace("/", "--") + SIGN + model.revision)


def _name_of(path: Path) -> str:
    return path.name.replace("--", "/", 1)


def plan(model: HubId) -> Plan:
    """The files of a model that a download will request. Nothing is downloaded but the hub's list of files.

    Raises:
        CheckpointError: there is no such model or revision; the model is not open to everybody, has no safetensors or no
            tokenizer, or is too large; or the hub cannot be reached.
    """
    import huggingface_hub

    hub = huggingface_hub.HfApi(endpoint=address(), token=False)
    with explained(model):
        info: Any = hub.model_info(model.repo, revision=model.revision, files_metadata=True, timeout=SECONDS)
    if not isinstance(info.sha, str) or not COMMIT.fullmatch(info.sha):
        raise CheckpointError("The hub does not say which commit of {model!r} it has.", model=model.repo)
    given = {one.rfilename: one for one in info.siblings or ()}
    wanted = [name for name in (*SMALL, *MARIAN) if name in given]
    weights = sorted(filter(PARTS.fullmatch, given)) if INDEX in given else [WEIGHTS] if WEIGHTS in given else []
    if not weights:
        template = "{model!r} has no safetensors files; weights in other formats are not read, because they can hold code."
        raise CheckpointError(template, model=model.repo)
    for one_of in ((CONFIG,), TOKENIZERS):
        if not set(one_of) & set(wanted):
            raise CheckpointError("{model!r} lacks {files}.", model=model.repo, files=" or ".join(one_of))
    files = tuple(_file(model, given[name]) for name in [*wanted, *weights])
    numbers = sum(getattr(info.safetensors, "parameters", {}).values()) if info.safetensors else 0
    _check_size(model, files, numbers)
    return Plan(HubId(model.repo, info.sha), files)


def _file(model: HubId, given: Any) -> HubFile:
    if not isinstance(given.size, int) or given.size < 0:
        raise CheckpointError(
            "The hub does not say how large {file!r} of {model!r} is.", file=given.rfilename, model=model.repo
        )
    return HubFile(given.rfilename, given.size, getattr(given.lfs, "sha256", None))


def _check_size(model: HubId, files: tuple[HubFile, ...], numbers: int) -> None:
    for file in files:
        if not file.name.endswith(".safetensors") and file.nbytes > TOKENIZER_MEGABYTES * MEGABYTE:
            template = "{file!r} of {model!r} has {size} MB; allowed are {most} (HEADLIGHT_TOKENIZER_MEGABYTES)."
            size = file.nbytes // MEGABYTE
            raise CheckpointError(template, file=file.name, model=model.repo, size=size, most=TOKENIZER_MEGABYTES)
    weights = sum(file.nbytes for file in files if file.name.endswith(".safetensors"))
    size = max(weights, NUMBER_BYTES * numbers)
    if size > MODEL_MEGABYTES * MEGABYTE:
        template = "{model!r} takes {size} MB of memory; this server allows {most} (HEADLIGHT_MODEL_MEGABYTES)."
        raise CheckpointError(template, model=model.repo, size=size // MEGABYTE, most=MODEL_MEGABYTES)
    if weights > HUB_MEGABYTES * MEGABYTE:
        template = "{model!r} has {size} MB of files; this server keeps up to {most} (HEADLIGHT_HUB_MEGABYTES)."
        raise CheckpointError(template, model=model.repo, size=weights // MEGABYTE, most=HUB_MEGABYTES)


@contextmanager
def explained(model: HubId) -> Generator[None]:
    """A context manager for a request to the hub about `model`. An error of the request becomes a `HubError` that says what is
    wrong."""
    import httpx2
    from huggingface_hub import errors

    try:
        yield
    except CheckpointError:
        raise
    except errors.GatedRepoError:
        raise HubError("{model!r} is not open to everybody; only open models are downloaded.", model=model.repo) from None
    except errors.RepositoryNotFoundError:
        template = "The hub has no model {model!r}, or it is not open to everybody."
        raise HubError(template, model=model.repo) from None
    except errors.RevisionNotFoundError:
        template = "{model!r} has no revision {revision!r}."
        raise HubError(template, model=model.repo, revision=model.revision) from None
    except errors.HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else "no status"
        raise HubError("The hub refused the request ({status}); try again later.", status=status) from None
    except (httpx2.HTTPError, OSError) as error:
        template = "The hub at {address} cannot be reached from this server ({problem})."
        raise HubError(template, address=address(), problem=type(error).__name__) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HubError("The answer of the hub cannot be read ({problem}).", problem=type(error).__name__) from None
