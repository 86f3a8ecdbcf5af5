"""Downloads from a hub, in threads of the process. Sessions that ask for the same model wait for one download."""

import logging
import threading

from transformer import CheckpointError, HeadlightError
from transformer.huggingface.hf_limits import HUB_DOWNLOADS, HUB_WAITING
from transformer.huggingface.hub import HubId
from transformer.huggingface.hub_download import Cancelled, download

LOG = logging.getLogger("headlight")


class Download:
    """A download of a model from a hub. It may still run, or have ended.

    Attributes:
        model: the model and the revision that was asked for.
        done, total: bytes that have arrived, and bytes in all; both are 0 until the hub has listed the files.
        name: the name of the model in URLs and in the picker; empty until the download has succeeded.
        problem: why the download failed; None if it did not fail.
        cancelled: True if the download was cancelled because no session waits for it.
    """

    def __init__(self, model: HubId) -> None:
        self.model = model
        self.done = self.total = 0
        self.name = ""
        self.problem: HeadlightError | None = None
        self.cancelled = False
        self.waiting: set[object] = set()
        self.thread = threading.Thread(target=self._run, name=f"download {model.name}", daemon=True)

    @property
    def alive(self) -> bool:
        """Whether the download runs, or waits until another download has ended."""
        return self.thread.is_alive()

    def _run(self) -> None:
        try:
            with _LINE:
                folder = download(self.model, self._report)
            self.name = HubId(self.model.repo, folder.name.rpartition("@")[2]).name
        except Cancelled:
            pass
        except HeadlightError as error:
            self.problem = error
        except Exception as error:
            LOG.exception("The download of %s failed", self.model.name)
            self.problem = CheckpointError("The download failed ({problem}).", problem=type(error).__name__)

    def _report(self, done: int, total: int) -> bool:
        self.done, self.total = done, total
        return not self.cancelled


_LINE = threading.BoundedSemaphore(HUB_DOWNLOADS)
_LOCK = threading.Lock()
_RUNNING: list[Download] = []


def start(model: HubId, visitor: object) -> Download:
    """Start the download of a model, or find the download that already runs, and return it. `visitor` identifies the session
    that waits; give the same object to `leave`. Raises a `CheckpointError` if too many other downloads run or wait."""
    with _LOCK:
        _RUNNING[:] = [one for one in _RUNNING if one.alive and not one.cancelled]
        one = next((one for one in _RUNNING if one.model == model), None)
        if one is None:
            if len(_RUNNING) >= HUB_DOWNLOADS + HUB_WAITING:
                raise CheckpointError("Too many models are being downloaded on this server; try again later.")
            one = Download(model)
            _RUNNING.append(one)
            one.thread.start()
        one.waiting.add(visitor)
        return one


def leave(one: Download, visitor: object) -> None:
    """Stop waiting for the download `one`. It is cancelled if no other session waits for it. `visitor` is that given to
    `start`."""
    with _LOCK:
        one.waiting.discard(visitor)
        one.cancelled = not one.waiting
