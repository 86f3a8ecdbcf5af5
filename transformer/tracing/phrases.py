"""Edits in words: what a person reads in the list, and what stands in a link.

    silence cross layer 1 head 2          that head contributes nothing
    average cross layer 1 head 2          it looks equally at every key it may look at
    block cross layer 1 query 3 key 5     that query may not look at that key
    no causal mask                        the decoder sees what comes after (and padding, which the same mask hides)
    no padding mask                       the encoder and cross-attention see padding of the source
    no positions                          tokens do not know where they stand
    no scaling cross layer 1              scores are not divided before softmax
    no residual encoder layer 1 feed_forward

Layers and heads are counted from 1, as on the pages; queries and keys from 0, as on the axes. Without `head`, all heads of the
layer are meant.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from transformer.errors import InputError, cut
from transformer.network.config import TransformerConfig
from transformer.tracing.interventions import Ablate, Block, Intervention, Patch, Replace, Scale
from transformer.tracing.paths import SUBLAYERS, Kind, TensorPath

Interventions = tuple[Intervention, ...]

PLACE = rf"(?P<kind>{'|'.join(Kind)}) layer (?P<layer>\d+)"
HEAD = r"(?: head (?P<head>\d+))?"
# What the capitals in the forms below stand for.
WORDS = (
    f"KIND is {' or '.join(Kind)}; STACK is {' or '.join(SUBLAYERS)}; SUBLAYER is {' or '.join(SUBLAYERS['decoder'])} "
    "(an encoder layer has no cross_attention); N is a number: layers and heads are counted from 1, queries and keys from 0. "
    "For example: silence cross layer 1 head 2"
)


@dataclass(frozen=True)
class Found:
    """What a phrase says, with the model and the lengths of the text it is said of."""

    parts: dict[str, str]
    config: TransformerConfig
    lengths: Mapping[str, int]

    def number(self, name: str, most: int) -> int:
        """A layer or head, counted from 0.

        Raises:
            InputError: the model has no such one.
        """
        number = int(self.parts[name])
        if not 1 <= number <= most:
            raise InputError(name, number, f"allowed are 1 to {most}")
        return number - 1

    def position(self, name: str) -> int:
        """A query or key, counted from 0.

        Raises:
            InputError: the text has no such one.
        """
        at, side = int(self.parts[name]), self.kind.queries if name == "query" else self.kind.keys
        count = self.lengths.get(side)
        if count is not None and at >= count:
            raise InputError(name, at, f"the {side} has {count} token{'s' * (count > 1)}; allowed are 0 to {count - 1}")
        return at

    @property
    def kind(self) -> Kind:
        """The kind of attention that is meant."""
        return Kind.of(self.parts["kind"])

    def layer(self, stack: str) -> int:
        """The layer of a stack that is meant, counted from 0."""
        return self.number("layer", self.config.encoder_layers if stack == "encoder" else self.config.decoder_layers)

    @property
    def attention(self) -> TensorPath:
        """The path of the attention that is meant."""
        return self.kind.path(self.layer(self.kind.stack))

    @property
    def heads(self) -> tuple[int, ...] | None:
        return (self.number("head", self.config.heads),) if self.parts.get("head") else None


def _silence(found: Found) -> Interventions:
    return (Ablate(str(found.attention / "weights"), found.heads),)


def _average(found: Found) -> Interventions:
    return (Ablate(str(found.attention / "weights"), found.heads, to="uniform"),)


def _block(found: Found) -> Interventions:
    edge = (found.position("query"), found.position("key"))
    return (Block(str(found.attention), found.heads, edges=(edge,)),)


def _no_causal_mask(_: Found) -> Interventions:
    return (Patch("target_mask", values=True),)


def _no_padding_mask(_: Found) -> Interventions:
    return (Patch("source_mask", values=True),)


def _no_positions(_: Found) -> Interventions:
    return (Scale("source_embedding.position", factor=0.0), Scale("target_embedding.position", factor=0.0))


def _no_scaling(found: Found) -> Interventions:
    return (Scale(str(found.attention / "scaled_scores"), factor=found.config.score_scale),)


def _no_residual(found: Found) -> Interventions:
    stack, name = found.parts["stack"], found.parts["sublayer"]
    if name not in SUBLAYERS[stack]:
        raise InputError("sub-layer", name, f"allowed in the {stack} are {', '.join(SUBLAYERS[stack])}")
    sublayer = TensorPath(stack, found.layer(stack), name)
    return (Replace(str(sublayer.add_norm / "sum"), by=str(sublayer / "output")),)


# Every form a phrase can take, what it looks like to a person, and what it means.
FORMS: tuple[tuple[str, str, Callable[[Found], Interventions]], ...] = (
    (rf"silence {PLACE}{HEAD}", "silence KIND layer N [head N]", _silence),
    (rf"average {PLACE}{HEAD}", "average KIND layer N [head N]", _average),
    (rf"block {PLACE}{HEAD} query (?P<query>\d+) key (?P<key>\d+)", "block KIND layer N [head N] query N key N", _block),
    (r"no causal mask", "no causal mask", _no_causal_mask),
    (r"no padding mask", "no padding mask", _no_padding_mask),
    (r"no positions", "no positions", _no_positions),
    (rf"no scaling {PLACE}", "no scaling KIND layer N", _no_scaling),
    (
        r"no residual (?P<stack>encoder|decoder) layer (?P<layer>\d+) (?P<sublayer>[a-z_]+)",
        "no residual STACK layer N SUBLAYER",
        _no_residual,
    ),
)


def interventions(phrase: str, config: TransformerConfig, lengths: Mapping[str, int] | None = None) -> Interventions:
    """What a phrase means for a model.

    Args:
        phrase: as above.
        config: of the model.
        lengths: how many tokens `source` and `target` have; None if any position is to be allowed.

    Raises:
        InputError: no such form, or the model has no such layer or head, or the text no such token; says what is allowed.
    """
    plain = " ".join(phrase.lower().split()) if isinstance(phrase, str) else ""
    if len(plain) <= 200:
        for pattern, _, meaning in FORMS:
            match = re.fullmatch(pattern, plain, flags=re.ASCII)
            if match:
                parts = {name: value for name, value in match.groupdict().items() if value is not None}
                if any(len(value) > 6 for value in parts.values() if value.isdigit()):
                    break
                return meaning(Found(parts, config, lengths or {}))
    raise InputError("edit", phrase, f"allowed are {'; '.join(form for _, form, _ in FORMS)}. {WORDS}")


def all_interventions(
    phrases: Sequence[str], config: TransformerConfig, lengths: Mapping[str, int] | None = None
) -> Interventions:
    """What several phrases mean together, in their order; `config` and `lengths` as for `interventions`.

    Raises:
        InputError: as `interventions`, naming the phrase where there is more than one; or they are no list.
    """
    if isinstance(phrases, str) or not isinstance(phrases, Sequence):
        raise InputError("edits", phrases, "must be a list of phrases")
    found: Interventions = ()
    for phrase in phrases:
        try:
            found += interventions(phrase, config, lengths)
        except InputError as error:
            if len(phrases) == 1 or error.value == phrase:
                raise
            raise InputError(f"in “{cut(phrase, 80)}”, {error.what}", error.value, error.allowed) from None
    return found


def at_head(verb: str, kind: str, layer: int, head: int | None = None) -> str:
    """The phrase that silences or averages a head (or, without one, all heads of a layer), both counted from 0."""
    return f"{verb} {kind} layer {layer + 1}" + (f" head {head + 1}" if head is not None else "")


def block(kind: str, layer: int, head: int | None, query: int, key: int) -> str:
    """The phrase that forbids one look; layer and head counted from 0."""
    return f"{at_head('block', kind, layer, head)} query {query} key {key}"
