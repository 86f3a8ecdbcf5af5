"""The untrained models of this process."""

import gc
import threading
from weakref import WeakKeyDictionary, WeakValueDictionary

from pages.ui.caches import RESULTS
from transformer import Pipeline, Transformer
from transformer.pipeline.untrained import LARGEST_ID, LEAST_IDS, Untrained, Weights
from transformer.process import return_freed_memory

BYTES_EACH = 4  # of a parameter
# Limit of kept models with the same preset and sizes. They share most weights. Each has a few megabytes of its own.
BUILT = 4

# Preset and sizes → the shared weights, while a model in memory uses them; and model → its weights. If the cache drops a model
# that is in use, a new one gets its weights from here, so that they are not drawn at random a second time.
_WEIGHTS: WeakValueDictionary[tuple[str, tuple[tuple[str, int], ...]], Weights] = WeakValueDictionary()
_WEIGHTS_OF: WeakKeyDictionary[Transformer, Weights] = WeakKeyDictionary()


class UntrainedModels:
    """The untrained models of one preset with equal sizes. They share all weights except those that depend on the vocabulary.
    Without sharing, each new text would need new random parameters (44 million in the paper's base size) and would push results
    of other sessions out of the cache.

    Attributes:
        nbytes: the largest number of bytes that these models can need together.
    """

    def __init__(self, preset: str, sizes: tuple[tuple[str, int], ...]) -> None:
        least, most = (Untrained(preset, ids, ids, sizes).parameters for ids in (LEAST_IDS, LARGEST_ID + 1))
        self.nbytes = BYTES_EACH * (least + BUILT * (most - least))
        RESULTS.make_room(self.nbytes)
        gc.collect()  # a large model can still be in a reference cycle, such as an error and the frames of its traceback
        return_freed_memory()
        self._weights, self._lock = _WEIGHTS.setdefault((preset, sizes), Weights()), threading.Lock()
        self._built: dict[Untrained, Pipeline] = {}  # in order of last use

    def pipeline(self, key: Untrained) -> Pipeline:
        """The pipeline of the model that `key` describes; its preset and sizes must be those of this object. Raises the errors
        of `key.config`."""
        with self._lock:
            pipeline = self._built.pop(key, None) or key.build(self._weights)
            self._built[key] = pipeline
            _WEIGHTS_OF[pipeline.model] = self._weights
            if len(self._built) > BUILT:
                del self._built[next(iter(self._built))]
        return pipeline

    def built(self, key: Untrained) -> Pipeline | None:
        """The pipeline of the model that `key` describes, if it is already built; otherwise None."""
        return self._built.get(key)
