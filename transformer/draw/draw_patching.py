"""Drawings of activation patching: what each place carries of the difference between two runs; which heads are needed, or
enough."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from transformer.analysis.checks import check_array, check_text_pipeline
from transformer.draw.drawing import drawn
from transformer.errors import InputError
from transformer.figures.patching_charts import Dot, agreement_dots, need_map, run_bars
from transformer.figures.patching_figures import Grid, patch_grids
from transformer.patching.attribution import agreement
from transformer.patching.need import HALF, Needs
from transformer.patching.opened import most_probable, patched_logits
from transformer.patching.pair import RunPair, check_pair
from transformer.patching.places import OF_HEADS, Place
from transformer.patching.sweep import Grids, Patched
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.paths import Kind

ENDS = ("as the corrupt run", "as the clean run")
AXES = ("lost: corrupt into clean", "restored: clean into corrupt")
WORDS = {"alone": "alone", "backup": "has a backup", "partner": "needs a partner", "bystander": "bystander"}
NAMED = 0.2  # a head with a share of at least this has its name beside its dot


@drawn
def patched(patched: Patched, metric: str = "logit") -> go.Figure:
    """What each patched place, such as a head, carries of the difference between two runs. 0 is the corrupt run and 1 the clean
    run. If the runs barely differ, the figure shows the change of the measure instead. `patched` is a result of
    `patch_everywhere`. `metric` is the measure: `logit`, `probability`, `divergence` or `exact` (see
    `transformer.patching.scores.Scores`); others raise ConfigError. Rows are layers, and columns are heads, if the places have
    any. If every token was patched on its own, columns are tokens, and each head has a row."""
    if not isinstance(patched, Patched):
        raise InputError("A result of `patch_everywhere` is drawn, not {given!r}.", given=patched)
    differs = patched.differs(metric)
    values = patched.shares(metric) if differs else patched.moved[metric]
    each = any(of_grid.shape[2] > 1 for of_grid in values.values())
    of_heads = patched.swap.what in OF_HEADS
    grids = [_grid(name, of_grid, each, of_heads) for name, of_grid in values.items()]
    noise = differs and patched.direction == "noise"
    return patch_grids(grids, ENDS if differs else None, "share" if differs else metric, tokens=each, reverse=noise)


@drawn
def needed(needs: Needs) -> go.Figure:
    """What the answer loses without a head, and what the head alone restores, as a dot for each head. The horizontal axis has
    the lost share, the vertical axis the restored share. `needs` is a result of the function `needs` of
    `transformer.patching.need`."""
    if not isinstance(needs, Needs):
        raise InputError("A result of `needs` is drawn, not {given!r}.", given=needs)
    dots = []
    for head in needs.roles:
        lost, restored = (float(of[head.kind][head.layer, head.head]) for of in (needs.lost, needs.restored))
        name = f"{head.kind} layer {head.layer} head {head.head}"
        dots.append(Dot(head.kind, name, lost, restored, written=max(abs(lost), abs(restored)) >= NAMED))
    return need_map(dots, {kind: kind for kind in needs.lost}, WORDS, HALF, AXES)


@drawn
def per_head(values: Mapping[str, Float[np.ndarray, "layer head"]], name: str = "value") -> go.Figure:
    """One number for each head of each kind of attention. `values` maps kinds (`encoder`, `decoder`, `cross`) to arrays, as
    `path_effects` and `changes_elsewhere` return them; `name` says what a number is. Raises InputError for an empty dict or
    another kind."""
    if not isinstance(values, Mapping) or not values:
        raise InputError("The values must be a dict: kind → array with axes layer head; not {given!r}.", given=values)
    for kind, of_kind in values.items():
        check_array(Kind.of(kind), of_kind, "layer head")
    return patch_grids([_grid(kind, of_kind[..., None], False, True) for kind, of_kind in values.items()], None, name)


@drawn
def patched_answer(
    pipeline: TextPipeline, pair: RunPair, place: Place, what: str = "head_output", direction: str = "denoise"
) -> go.Figure:
    """The probability of the next token in the clean run, in the corrupt run, and with one place patched. The bars are those of
    the two compared tokens and of the most probable tokens of the three runs. `place`, `what` and `direction` are as for
    `patch_everywhere`: `what` is the tensor that is taken from the other run, and `denoise` takes it from the clean run,
    `noise` from the corrupt run."""
    check_text_pipeline(pipeline)
    check_pair(pair)
    if pipeline.network is not pair.network:
        raise InputError("The pipeline must be the one whose runs were paired.")
    after = patched_logits(pair, (place,), what, direction)[0]
    # Without places nothing is patched, so these are the clean and the corrupt run.
    runs = [patched_logits(pair, (), direction=start)[0] for start in ("noise", "denoise")] + [after]
    probabilities = [run.double().softmax(-1).numpy() for run in runs]
    ids = most_probable(pair.tokens, probabilities)
    tokens = pipeline.vocabulary("source" if pair.clean.target is None else "target").tokens_of(ids)
    return run_bars(tokens, [of[ids] for of in probabilities], ("clean", "corrupt", "patched"))


@drawn
def estimated(estimated: Grids, patched: Patched) -> go.Figure:
    """The estimated change of the logit difference at each place, beside the exact change. On the line both are equal. The
    arguments are results of `attribute_everywhere` and of `patch_everywhere`, for the same places of the same pair of runs;
    otherwise, an InputError is raised."""
    agreement(estimated, patched)
    names = [f"{grid} {index}" for grid, values in estimated.items() for index in np.ndindex(values.shape)]
    first, second = (np.concatenate([values.ravel() for values in of.values()]) for of in (estimated, patched.moved["logit"]))
    return agreement_dots(first, second, names, ("exact change", "estimated change"))


def _grid(name: str, values: Float[np.ndarray, "layer head position"], each: bool, of_heads: bool) -> Grid:
    columns = [*map(str, range(values.shape[2]))] if each else None
    return Grid.of(name, values, name, columns, head="layer {layer} head {head}" if of_heads else "")
