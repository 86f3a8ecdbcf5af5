"""The caches of models and of their runs, for all sessions of the process. Results are shared, never copied.

If a whole class opens one link, the run is computed only once, because sessions that request the same result wait for one
computation.
"""

from collections.abc import Callable
from typing import Any

from pages.shell.models.folders import FolderModel, kept_folder, open_folder
from pages.shell.models.own_models import OwnModel, load_own
from pages.shell.models.untrained_models import BYTES_EACH, UntrainedModels
from pages.ui.caches import ABSENT, RESULTS, Store, cached
from pages.ui.limits import PARAMETERS
from transformer import ConfigError, Intervention, Pipeline, Trace, Transformer
from transformer.analysis.head_measures import PerHead
from transformer.analysis.importance import Predictions, head_importance, predictions
from transformer.pipeline.pipeline import Agreement, Answer, Encoding, Side
from transformer.pipeline.protocol import TextPipeline
from transformer.pipeline.untrained import Untrained
from transformer.tasks import TASKS, find_task
from transformer.tracing.trace import Ids

# Cache key of a model: the name of a shipped model or snapshot, the description of an untrained model, the digest of a
# session's own model, or the path of a model in a folder of the server.
Key = str | Untrained | OwnModel | FolderModel
Edits = tuple[Intervention, ...]
Sources = tuple[str, ...]
# An answer is passed as an `Answer`, because splitting its text again may give other tokens.
Targets = tuple[str | Answer | None, ...]
Report = Callable[[int, int], None]
Drops = dict[str, PerHead]


class Runs:
    """Caches of models, encodings, answers, traces and head importances. The keys are values (model, texts, edits). Sharing a
    trace is safe, because no code writes to it."""

    def __init__(self, cache: Store = RESULTS) -> None:
        self._cache = cache
        self._loaded, self._untrained = cache.cached(load), cache.cached(UntrainedModels)
        self.trace = cache.cached(self._trace)
        self.encoding = cache.cached(self._encoding)
        self.answer = cache.cached(self._answer)
        self.agreement = cache.cached(self._agreement)
        self.edited = cache.cached(self._edited)
        self.importance = cache.cached(self._importance, ignored=1)

    def pipeline(self, key: Key) -> TextPipeline:
        """The pipeline of the model with this cache key, which is loaded or built if needed.

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
        """The pipeline of the model with this cache key, if it is in memory; None if it would have to be loaded or built."""
        if isinstance(key, Untrained):
            models = self._cache.kept(self._untrained, key.preset, key.sizes)
            return None if models is ABSENT else models.built(key)
        pipeline = kept_folder(key) if isinstance(key, FolderModel) else self._cache.kept(self._loaded, key)
        return None if pipeline is ABSENT else pipeline

    def own_pipeline(self, key: Key) -> Pipeline:
        """The pipeline of a model that runs in our own network: a shipped model, its snapshot, or a trained or uploaded one.
        Raises the errors of `pipeline`."""
        pipeline = self.pipeline(key)
        assert isinstance(pipeline, Pipeline)
        return pipeline

    def own_network(self, key: Key) -> Transformer:
        """The network of a model that runs in our own classes, not in other code. Raises the errors of `pipeline`."""
        model = self.pipeline(key).model
        assert model is not None
        return model

    def _trace(self, key: Key, sources: Sources, targets: Targets, edits: Edits) -> Trace:
        if isinstance(key, FolderModel) and not edits:  # a run with edits keeps the run without edits, to compare them
            self._cache.drop_large()
        # Edits select texts by their place in the batch. So the answers to a batch with edits are computed together, by
        # `trace`.
        alone = not edits or len(sources) == 1
        read = [self.encoding(key, "source", source) for source in sources]
        pipeline = self.pipeline(key)
        if "decoder" not in pipeline.stacks:
            return pipeline.trace(read, None, edits)
        given = [
            target
            if isinstance(target, Answer)
            else self.encoding(key, "target", target)
            if target is not None
            else self.answer(key, source, edits)
            if alone and pipeline.writes
            else None
            for source, target in zip(sources, targets, strict=True)
        ]
        return pipeline.trace(read, given, edits)

    def _agreement(self, key: Key, sources: Sources, targets: Targets) -> Agreement:
        return self.pipeline(key).check(self.trace(key, sources, targets, ()))

    def _encoding(self, key: Key, side: Side, text: str) -> Encoding:
        return self.pipeline(key).encode(text, side)

    def _answer(self, key: Key, source: str, edits: Edits) -> Answer:
        return self.pipeline(key).answers([self.encoding(key, "source", source)], edits)[0]

    def _edited(self, key: Key, source: str, target: str | Answer | None, edits: Edits, wanted: tuple[int, ...]) -> Predictions:
        """The predictions of a run with edits for the wanted tokens, on the target that the run without edits reads. For a
        large model, only this result is cached, and not the second trace."""
        pipeline, trace = self.pipeline(key), self.trace(key, (source,), (target,), ())
        return predictions(pipeline.network, *as_batches(pipeline, trace.source_ids, trace.target_ids), wanted, edits)

    def _importance(
        self, key: Key, source: str, target: str | Answer, edits: Edits, position: int, report: Report
    ) -> tuple[float, Drops]:
        """The log-probability, in nats, of the output token at a position (from 0), and for each head how much this
        log-probability drops if only that head is silenced."""
        pipeline, trace = self.pipeline(key), self.trace(key, (source,), (target,), edits)
        expected = [*trace.target_ids[0][1:], pipeline.vocabulary("target").eos]
        sources, targets = as_batches(pipeline, trace.source_ids, trace.target_ids)
        token = expected[position]
        assert token is not None  # the end of an answer has a position only if the vocabulary has `<eos>`
        progress = None
        for progress in head_importance(pipeline.network, sources, targets, position, token, edits):
            report(progress.done, progress.total)
        assert progress is not None
        return progress.before, progress.drops


@cached
def right_answer(task_name: str, source: str) -> str | None:
    """The answer to a text by the rule that made the training pairs of a task. None if the rule does not apply to the text, or
    if there is no such task."""
    return find_task(task_name).solve(source) if task_name in TASKS else None


def load(key: str | OwnModel) -> Pipeline:
    """Load the pipeline of a shipped model, of a snapshot, or of a session's own model.

    Raises:
        HeadlightError: no model has that name, or the session no longer keeps its own model.
    """
    if isinstance(key, str):
        return Pipeline.load(key)
    RESULTS.make_room(BYTES_EACH * key.parameters)
    return load_own(key)


def as_batches(pipeline: TextPipeline, sources: Ids, targets: Ids) -> tuple[Any, Any]:
    """The source and target ids of a trace as input tensors; None for a side without ids."""
    return pipeline.batch(sources, "source") if sources else None, pipeline.batch(targets, "target") if targets else None


_SHARED = Runs()


def runs() -> Runs:
    """The caches of models and of their runs, which all sessions of this process share."""
    return _SHARED
