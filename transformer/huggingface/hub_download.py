"""Downloads of models from a hub, by `huggingface_hub`. They stop on request, keep the files that are complete, and accept no
more bytes than the hub announced.

`huggingface_hub` and what it installs are imported when a download starts. If a connection breaks off, `huggingface_hub`
continues the file at the byte where it ended. If a download is stopped, the next one starts the incomplete file again from its
first byte.
"""

import hashlib
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from transformer.errors import CheckpointError
from transformer.huggingface.files import CONFIG, MEGABYTE, Folder, config_values
from transformer.huggingface.hf_limits import HUB_MEGABYTES
from transformer.huggingface.hub import (
    SECONDS,
    HubError,
    HubFile,
    HubId,
    Plan,
    address,
    downloaded,
    explained,
    folder_of,
    plan,
    store,
)

# Folder of incomplete downloads, beside the models.
PARTIAL = ".partial"
CACHE = ".cache"  # in a partial download, the folder in which `huggingface_hub` keeps its notes
RESERVE = 500 * MEGABYTE  # bytes of the disk that must stay free

# Called with the number of bytes downloaded so far and of all bytes; returns whether to continue.
Report = Callable[[int, int], bool]


class Cancelled(Exception):  # noqa: N818 (not an error)
    """Raised by `download` after its argument `report` returned False. It is not an error."""


def download(model: HubId, report: Report) -> Path:
    """Download a model, unless this was done before, and return its folder. Files that an interrupted download completed are
    not requested again.

    Args:
        model: the id of the model, with any revision.
        report: called repeatedly during the download, with the bytes downloaded so far and the bytes of all files; both are 0
            while another process downloads the model. Returns whether to continue.

    Raises:
        Cancelled: `report` returned False.
        CheckpointError: for the reasons of `plan`; or models of this family cannot be traced, the disk is too full, or the
            bytes are not those that the hub announced.
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
            shutil.rmtree(partial / CACHE, ignore_errors=True)
            partial.rename(whole)
    except HubError:
        raise  # the files that are complete are kept for the next try
    except CheckpointError:
        # The same files would fail again the next time, so they are not kept.
        shutil.rmtree(partial, ignore_errors=True)
        raise
    except OSError as error:
        raise CheckpointError("The model cannot be written to the server's disk ({problem}).", problem=str(error)) from None
    return whole


def _fetch(planned: Plan, file: HubFile, folder: Path, before: int, report: Report) -> None:
    """Download a file, unless an interrupted download has completed it already.

    Args:
        planned: the plan that the file is a part of.
        file: the file.
        folder: the folder to write to.
        before: bytes of the files that come before it in the plan.
        report: called with the bytes downloaded so far and the bytes of all files; returns whether to continue.
    """
    from huggingface_hub import hf_hub_download
    from tqdm import tqdm

    class Progress(tqdm):
        """A progress bar that draws nothing. It hands the number of bytes to `report`, and refuses more bytes than the hub
        announced."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options | {"disable": True})
            self.came = int(options.get("initial") or 0)

        def update(self, n: float | None = 1) -> None:
            self.came += int(n or 0)
            if self.came > file.nbytes:
                template = "{file!r} of {model!r} is larger than the hub announced."
                raise CheckpointError(template, file=file.name, model=planned.model.repo)
            _go_on(report, before + self.came, planned.nbytes)

    model, path = planned.model, folder / file.name
    if not path.exists():
        with explained(model):
            hf_hub_download(
                model.repo,
                file.name,
                revision=model.revision,
                local_dir=folder,
                endpoint=address(),
                token=False,
                etag_timeout=SECONDS,
                tqdm_class=Progress,
            )
    _go_on(report, before + file.nbytes, planned.nbytes)
    if path.stat().st_size != file.nbytes or (file.digest is not None and _digest(path) != file.digest):
        path.unlink()
        template = "{file!r} of {model!r} has other bytes than the hub announced."
        raise CheckpointError(template, file=file.name, model=model.repo)


def _go_on(report: Report, done: int, total: int) -> None:
    if not report(done, total):
        raise Cancelled


def _digest(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


@contextmanager
def _alone(partial: Path, report: Report) -> Generator[None]:
    """A context in which no other process that shares the folder writes to the same model. Before it begins, it waits until the
    other process has finished, and calls `report(0, 0)` meanwhile."""
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
    """Delete the least recently used models and incomplete downloads until the planned model fits beside the rest.

    Raises:
        CheckpointError: the disk is too full.
    """
    others = [path for path in (*downloaded().values(), *_others(partial)) if path.is_dir()]
    sizes = {path: _bytes_in(path) for path in others}
    for path in sorted(others, key=lambda path: path.stat().st_mtime):
        if sum(sizes.values()) + planned.nbytes <= HUB_MEGABYTES * MEGABYTE:
            break
        del sizes[path]
        shutil.rmtree(path, ignore_errors=True)
    if shutil.disk_usage(partial).free < planned.nbytes - _bytes_in(partial) + RESERVE:
        raise CheckpointError("The disk of the server is too full for {model!r}.", model=planned.model.repo)


def _bytes_in(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _others(partial: Path) -> list[Path]:
    """The folders of other incomplete downloads that no process continues now."""
    import filelock

    left: list[Path] = []
    for path in partial.parent.iterdir():
        if path.is_dir() and path != partial:
            with suppress(filelock.Timeout), filelock.FileLock(f"{path}.lock", timeout=0):
                left.append(path)
    return left
