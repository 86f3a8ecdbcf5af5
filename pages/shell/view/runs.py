"""Loads models and runs them, for all sessions of the process. Results are shared, never copied.

If a whole class opens one link, the run is computed only once, because sessions that request the same result wait for one
computation.
"""

import gc
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from pages.shell.models.folders import FolderModel, folder_models, kept_folder, open_folder
from pages.shell.models.own_models import OwnModel, load_own, own_models
from pages.ui.caches import ABSENT, RESULTS, Store, cached
from pages.ui.limits import PARAMETERS
from transformer import ConfigError, Intervention, Pipeline, Trace, Transformer
from transformer.analysis.head_measures import PerHead
from transformer.analysis.importance import Predictions, head_importance, predictions
from transformer.pipeline.pipeline import Agreement, Answer, Reading, Side
from transformer.pipeline.protocol import TextPipeline
from transformer.pipeline.snapshots import parse_snapshot_name
from transformer.pipeline.untrained import LARGEST_ID, LEAST_IDS, Untrained, Weights
from transformer.process import return_freed_memory
from transformer.tracing.trace import Ids
from transformer.training.recipe import RECIPES
from transformer.worlds import WORLDS, world

# Bytes of a parameter.
BYTES_EACH = 4
# Limit of kept untrained models with the same preset and sizes. They share most weights. Each has a few megabytes of its own.
BUILT = 4
# Cache key of a model: the name of a shipped model or snapshot, the description of an untrained model, the digest of a
# session's own model, or the path of a model in a folder of the server.
Key = str | Untrained | OwnModel | FolderModel
Edits = tuple[Intervention, ...]
Sources = tuple[str, ...]
# An answer is passed as an `Answer`, because its text may be split into other tokens.
Targets = tuple[str | Answer | None, ...]
Report = Callable[[int, int], None]
Drops = dict[str, PerHead]


# Preset and sizes → the shared weights, while a model in memory uses them; and model → its weights. If the cache drops a model
# that is in use, a new one gets its weights from here, so that they are not drawn at random a second time.
_WEIGHTS: WeakValueDictionary[tuple[str, tuple[tuple[str, int], ...]], Weights] = WeakValueDictionary()
_WEIGHTS_OF: WeakKeyDictionary[Transformer, Weights] = WeakKeyDictionary()


class UntrainedModels:
    """The untrained models of one preset and sizes. They share all weights except those that depend on the vocabulary. Without
    sharing, each new text would draw 44 million random parameters again, and would push results of other sessions out of the
    cache.

    Args:
        preset, sizes: as in `Untrained`.

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
        """The model of a description with this preset and these sizes. Raises the errors of the description's `config`."""
        with self._lock:
            pipeline = self._built.pop(key, None) or key.build(self._weights)
            self._built[key] = pipeline
            _WEIGHTS_OF[pipeline.model] = self._weights
            if len(self._built) > BUILT:
                del self._built[next(iter(self._built))]
        return pipeline

    def built(self, key: Untrained) -> Pipeline | None:
        """The model of a description if it is already built; otherwise None."""
        return self._built.get(key)


class Runs:
    """Caches of models, readings, answers, traces and head importances. The keys are values (model, texts, edits). Sharing a
    trace is safe, because no code writes to it."""

    def __init__(self, cache: Store = RESULTS) -> None:
        self._cache = cache
        self._loaded: Callable[[str | OwnModel], Pipeline] = cache.cached(load)
        self._untrained: Callable[[str, tuple[tuple[str, int], ...]], UntrainedModels] = cache.cached(UntrainedModels)
        self.trace: Callable[[Key, Sources, Targets, Edits], Trace] = cache.cached(self._trace)
        self.reading: Callable[[Key, Side, str], Reading] = cache.cached(self._reading)
        self.answer: Callable[[Key, str, Edits], Answer] = cache.cached(self._answer)
        self.agreement: Callable[[Key, Sources, Targets], Agreement] = cache.cached(self._agreement)
        self.edited: Callable[[Key, str, str | Answer | None, Edits, tuple[int, ...]], Predictions] = cache.cached(self._edited)
        self.importance: Callable[[Key, str, str | Answer, Edits, int, Report], tuple[float, Drops]] = cache.cached(
            self._importance, ignored=1
        )

    def pipeline(self, key: Key) -> TextPipeline:
        """The pipeline of a model.

        Raises:
            HeadlightError: no model has that name, or the model cannot be built, or it has more than `PARAMETERS` parameters.
        """
        if isinstance(key, FolderModel):
            return open_folder(key)
        if not isinstance(key, Untrained):
            return self._loaded(key)
        if key.parameters > PARAMETERS:
            raise ConfigError(
                "This model would have {count:,} parameters; one that is built here has up to {most:,}. Take fewer layers, or "
                "a smaller d_model or d_ff.",
                count=key.parameters,
                most=PARAMETERS,
            )
        return self._untrained(key.preset, key.sizes).pipeline(key)

    def kept_pipeline(self, key: Key) -> TextPipeline | None:
        """The pipeline of a model, if it is in memory; None if it would have to be loaded or built."""
        if isinstance(key, Untrained):
            models = self._cache.kept(self._untrained, key.preset, key.sizes)
            return None if models is ABSENT else models.built(key)
        pipeline = kept_folder(key) if isinstance(key, FolderModel) else self._cache.kept(self._loaded, key)
        return None if pipeline is ABSENT else pipeline

    def own_pipeline(self, key: Key) -> Pipeline:
        """The pipeline of a model with our own network: a shipped model, its snapshot, or a trained or uploaded one. Raises the
        errors of `pipeline`."""
        pipeline = self.pipeline(key)
        assert isinstance(pipeline, Pipeline)
        return pipeline

    def own_network(self, key: Key) -> Transformer:
        """The network of a model that runs in our own classes (`recorded`). Raises the errors of `pipeline`."""
        model = self.pipeline(key).model
        assert model is not None
        return model

    def _trace(self, key: Key, sources: Sources, targets: Targets, edits: Edits) -> Trace:
        if isinstance(key, FolderModel) and not edits:  # a run with edits is compared with the run without them
            self._cache.drop_large()
        # Edits select texts by their place in the batch. So the answers to a batch with edits are computed together, by
        # `trace`.
        alone = not edits or len(sources) == 1
        read = [self.reading(key, "source", source) for source in sources]
        pipeline = self.pipeline(key)
        if "decoder" not in pipeline.stacks:
            return pipeline.trace(read, None, edits)
        given = [
            target
            if isinstance(target, Answer)
            else self.reading(key, "target", target)
            if target is not None
            else self.answer(key, source, edits)
            if alone
            else None
            for source, target in zip(sources, targets, strict=True)
        ]
        return pipeline.trace(read, given, edits)

    def _agreement(self, key: Key, sources: Sources, targets: Targets) -> Agreement:
        return self.pipeline(key).check(self.trace(key, sources, targets, ()))

    def _reading(self, key: Key, side: Side, text: str) -> Reading:
        return self.pipeline(key).read(text, side)

    def _answer(self, key: Key, source: str, edits: Edits) -> Answer:
        return self.pipeline(key).answers([self.reading(key, "source", source)], edits)[0]

    def _edited(self, key: Key, source: str, target: str | Answer | None, edits: Edits, wanted: tuple[int, ...]) -> Predictions:
        """The predictions of a run with edits for the wanted tokens, on the target that the run without edits reads. For a
        large model, only this result is cached, and not the second trace."""
        pipeline, trace = self.pipeline(key), self.trace(key, (source,), (target,), ())
        return predictions(pipeline.network, *as_batches(pipeline, trace.source_ids, trace.target_ids), wanted, edits)

    def _importance(
        self, key: Key, source: str, target: str | Answer, edits: Edits, position: int, report: Report
    ) -> tuple[float, Drops]:
        """The log-probability of the output token at a position, and for each head its drop if only that head is silenced."""
        pipeline, trace = self.pipeline(key), self.trace(key, (source,), (target,), edits)
        expected = [*trace.target_ids[0][1:], pipeline.vocabulary("target").eos]
        sources, targets = as_batches(pipeline, trace.source_ids, trace.target_ids)
        token = expected[position]
        progress = None
        for progress in head_importance(pipeline.network, sources, targets, position, token, edits):
            report(progress.done, progress.total)
        assert progress is not None
        return progress.before, progress.drops


@cached
def right_answer(world_name: str, source: str) -> str | None:
    """The answer to a text by the rule that made the training pairs of a world. None if the rule does not apply to the text, or
    if there is no such world."""
    return world(world_name).solve(source) if world_name in WORLDS else None


def load(key: str | OwnModel) -> Pipeline:
    """Load the pipeline of a shipped model, of a snapshot, or of a session's own model.

    Raises:
        HeadlightError: no model has that name.
    """
    if isinstance(key, str):
        return Pipeline.load(key)
    RESULTS.make_room(BYTES_EACH * key.parameters)
    return load_own(key)


def as_batches(pipeline: TextPipeline, sources: Ids, targets: Ids) -> tuple[Any, Any]:
    """The source and target ids of a trace as input tensors. A side without ids is None."""
    return pipeline.batch(sources, "source") if sources else None, pipeline.batch(targets, "target") if targets else None


_SHARED = Runs()


def runs() -> Runs:
    """The caches of this process."""
    return _SHARED


def trained(model: str) -> bool:
    """Whether a model of the picker is trained: a shipped model, a snapshot of its training, a model of this session, or a
    model in a folder of the server."""
    return model in available() or model in own_models() or model in folder_models() or snapshot_of(model) is not None


def is_only_here(model: str) -> bool:
    """Whether a model of the picker exists only in this session or on this server, so that a link with its name does not work
    elsewhere."""
    return model in own_models() or model in folder_models()


def trained_key(model: str) -> Key:
    """The cache key of a model for which `trained` is true."""
    return own_models().get(model) or folder_models().get(model, model)


def snapshot_of(model: str) -> tuple[str, int] | None:
    """The shipped model and the step of a snapshot's name; None if there is no such snapshot."""
    named = parse_snapshot_name(model)
    return named if named and named[0] in available() and named[1] in snapshots(named[0]) else None


@cached
def snapshots(model: str) -> tuple[int, ...]:
    """The steps of the snapshots of a shipped model, in order."""
    return Pipeline.snapshots(model)


def filmed(model: str) -> str | None:
    """The shipped model whose snapshots show the training of a model of the picker: the model itself, or the model with whose
    weights its training started. None if neither has snapshots."""
    model, _ = snapshot_of(model) or (model, 0)
    if model not in available():
        return None
    if snapshots(model):
        return model
    start = str(runs().pipeline(model).card.recipe.get("start") or "")
    return start if start in available() and snapshots(start) else None


@cached
def available() -> dict[str, str]:
    """Name of a shipped model → one line on what the model does, in the order of the recipes."""
    order = list(RECIPES)
    descriptions = Pipeline.available()
    return dict(sorted(descriptions.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order)))
