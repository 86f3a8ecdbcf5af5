"""Downloads of models from a hub. They stop on request, continue where they ended, and accept no more bytes than announced.

Needs `huggingface_hub` and the packages that it installs. They are imported when a download starts.
"""

import hashlib
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from transformer.errors import CheckpointError
from transformer.huggingface.files import CONFIG, MEGABYTE, Folder, config_values
from transformer.huggingface.hf_limits import HUB_MEGABYTES
from transformer.huggingface.hub import SECONDS, HubFile, HubId, Plan, address, downloaded, folder_of, plan, store

# Folder of incomplete downloads, beside the models.
PARTIAL = ".partial"
TRIES = 4
RESERVE = 500 * MEGABYTE  # bytes of the disk that must stay free

# Called with the number of bytes downloaded so far and of all bytes; returns whether to continue.
Report = Callable[[int, int], bool]


class Cancelled(Exception):  # noqa: N818 (not an error)
    """The download was stopped, because `report` returned False."""


def download(model: HubId, report: Report) -> Path:
    """The folder of a model, which is downloaded if it is missing. An interrupted download continues where it ended.

    Args:
        model: the model, with any revision.
        report: called with the progress, several times a second.

    Raises:
        Cancelled: `report` returned False.
        CheckpointError: as `plan`; or the family cannot be traced, the disk is too full, or the bytes are not those that the
            hub announced.
    """
    planned = plan(model)
    whole = folder_of(planned.model)
    if whole.is_dir():
        return whole
    partial = store() / PARTIAL / whole.name
    try:
        partial.mkdir(parents=True, exist_ok=True)
        with _alone(partial, report):
            if whole.is_dir():
                return whole
            _make_room(planned, partial)
            before = 0
            for file in planned.files:
                _fetch(planned, file, partial, before, report)
                before += file.nbytes
                if file.name == CONFIG:
                    config_values(Folder(partial))  # check the family before the other files are downloaded
            partial.rename(whole)
    except _UnfinishedError:
        raise
    except CheckpointError:
        # The same files would fail again the next time, so they are not kept.
        shutil.rmtree(partial, ignore_errors=True)
        raise
    except OSError as error:
        raise CheckpointError("The model cannot be written to the server's disk ({problem}).", problem=str(error)) from None
    return whole


def _fetch(planned: Plan, file: HubFile, folder: Path, before: int, report: Report) -> None:
    """Download a file, or its missing part.

    Args:
        planned: the plan that the file is a part of.
        file: the file.
        folder: the folder to write to.
        before: bytes of the files that come before it in the plan.
        report: as in `download`.
    """
    path = folder / file.name
    for attempt in range(TRIES):
        try:
            _stream(planned, file, path, before, report)
            break
        except _InterruptedError as error:
            if attempt == TRIES - 1:
                template = "The connection to the hub broke off ({problem}); what is there is kept, so try again."
                raise _UnfinishedError(template, problem=str(error)) from None
            time.sleep(0.2 * 4**attempt)
    if file.digest is not None and _digest(path) != file.digest:
        path.unlink()
        template = "{file!r} of {model!r} has other bytes than the hub announced."
        raise CheckpointError(template, file=file.name, model=planned.model.repo)


class _InterruptedError(Exception):
    """The connection was interrupted."""


class _UnfinishedError(CheckpointError):
    """The download is incomplete. The next one continues where it ended."""


def _stream(planned: Plan, file: HubFile, path: Path, before: int, report: Report) -> None:
    """Download the missing bytes of a file and append them."""
    import httpx2
    from huggingface_hub import get_session, hf_hub_url

    have = path.stat().st_size if path.exists() else 0
    if have > file.nbytes:
        path.unlink()
        have = 0
    if have == file.nbytes and path.exists():
        return
    url = hf_hub_url(planned.model.repo, file.name, revision=planned.model.revision, endpoint=address())
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={have}-"} if have else {})}
    try:
        with (
            get_session().stream("GET", url, headers=headers, timeout=SECONDS) as answer,
            path.open("ab" if answer.status_code == 206 else "wb") as opened,
        ):
            if answer.status_code not in (200, 206):
                raise _InterruptedError(f"the hub answered {answer.status_code}")
            have = opened.tell()
            for chunk in answer.iter_bytes():
                have += len(chunk)
                if have > file.nbytes:
                    template = "{file!r} of {model!r} is larger than the hub announced."
                    raise CheckpointError(template, file=file.name, model=planned.model.repo)
                opened.write(chunk)
                _go_on(report, before + have, planned.nbytes)
    except httpx2.HTTPError as error:
        raise _InterruptedError(type(error).__name__) from None
    if have < file.nbytes:
        raise _InterruptedError("too few bytes came")


def _go_on(report: Report, done: int, total: int) -> None:
    if not report(done, total):
        raise Cancelled


def _digest(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


@contextmanager
def _alone(partial: Path, report: Report) -> Iterator[None]:
    """A context in which no other process that shares the folder writes to the same model."""
    import filelock

    lock = filelock.FileLock(f"{partial}.lock")
    while True:
        try:
            with lock.acquire(timeout=0.5):
                yield
            return
        except filelock.Timeout:
            _go_on(report, 0, 0)


def _make_room(planned: Plan, partial: Path) -> None:
    """Delete the least recently used models until the planned one fits beside the rest.

    Raises:
        CheckpointError: the disk is too full.
    """
    others = [path for path in (*downloaded().values(), *_others(partial)) if path.is_dir()]
    sizes = {path: sum(file.stat().st_size for file in path.iterdir()) for path in others}
    for path in sorted(others, key=lambda path: path.stat().st_mtime):
        if sum(sizes.values()) + planned.nbytes <= HUB_MEGABYTES * MEGABYTE:
            break
        del sizes[path]
        shutil.rmtree(path, ignore_errors=True)
    have = sum(file.stat().st_size for file in partial.iterdir())
    if shutil.disk_usage(partial).free < planned.nbytes - have + RESERVE:
        raise CheckpointError("The disk of the server is too full for {model!r}.", model=planned.model.repo)


def _others(partial: Path) -> list[Path]:
    """The folders of other incomplete downloads that no process continues now."""
    import filelock

    left: list[Path] = []
    for path in partial.parent.iterdir():
        if path.is_dir() and path != partial:
            with suppress(filelock.Timeout), filelock.FileLock(f"{path}.lock", timeout=0):
                left.append(path)
    return left
