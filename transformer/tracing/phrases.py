"""Edits as phrases, for the list of edits on a page and for the page's URL.

    silence cross layer 1 head 2          the weights of the head are 0
    average cross layer 1 head 2          each query of the head attends equally to every key that the mask allows
    block cross layer 1 query 3 key 5     the query may not attend to the key
    no causal mask                        the decoder attends to later tokens (and to padding, which the same mask hides)
    no padding mask                       the encoder and cross-attention attend to padding of the source
    no positions                          no position vectors are added to the tokens
    no scaling cross layer 1              scores are not divided before softmax
    no residual encoder layer 1 feed_forward    the sub-layer's input is not added to its output

Layers and heads are counted from 1, as on the pages. Queries and keys are counted from 0, as on the axes. Without `head`, a
phrase applies to all heads of the layer.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from transformer.errors import InputError, cut
from transformer.network.config import NetworkConfig, check_sizes
from transformer.tracing.intervention import MOST_POSITIONS
from transformer.tracing.interventions import Ablate, Block, Intervention, Patch, Replace, Scale
from transformer.tracing.paths import SUBLAYERS, Kind, TensorPath, check_index

Interventions = tuple[Intervention, ...]

PLACE = rf"(?P<kind>{'|'.join(Kind)}) layer (?P<layer>\d+)"
HEAD = r"(?: head (?P<head>\d+))?"
# The meaning of the words in capitals in `FORMS`.
WORDS = (
    f"KIND is {' or '.join(Kind)}; STACK is {' or '.join(SUBLAYERS)}; SUBLAYER is {' or '.join(SUBLAYERS['decoder'])} "
    "(an encoder layer has no cross_attention); N is a number: layers and heads are counted from 1, queries and keys from 0. "
    "For example: silence cross layer 1 head 2"
)


NO_POSITION = {
    "query": "There is no query {position}: the {side} has {count} tokens; allowed are 0 to {last}.",
    "key": "There is no key {position}: the {side} has {count} tokens; allowed are 0 to {last}.",
}


@dataclass(frozen=True)
class Phrase:
    """The parts of a typed edit such as `silence cross layer 1 head 2`, with the configuration and the lengths it applies to.

    Attributes:
        parts: name of a variable part → its text, as it was typed. Names: `kind`, `stack`, `sublayer`, `layer`, `head`, `query`
            and `key`.
        config: configuration of the model.
        lengths: side, `source` or `target` → its number of tokens. If a side is missing, any position is allowed on it.
    """

    parts: dict[str, str]
    config: NetworkConfig
    lengths: Mapping[str, int]

    def position(self, name: str) -> int:
        """The position that the phrase gives for the query or the key, counted from 0. `name` is `query` or `key`.

        Raises:
            InputError: the text has no such token.
        """
        position, side = int(self.parts[name]), self.kind.queries if name == "query" else self.kind.keys
        count = self.lengths.get(side)
        if count is not None and position >= count:
            raise InputError(NO_POSITION[name], position=position, side=side, count=count, last=count - 1)
        return position

    @property
    def kind(self) -> Kind:
        """The kind of attention that the phrase names: `encoder`, `decoder` or `cross`."""
        return Kind.of(self.parts["kind"])

    def layer(self, stack: str) -> int:
        """The index of the phrase's layer in `stack` (`encoder` or `decoder`), counted from 0.

        Raises:
            InputError: the model has no such layer.
        """
        layer, depth = (
            int(self.parts["layer"]),
            self.config.encoder_layers if stack == "encoder" else self.config.decoder_layers,
        )
        if not 1 <= layer <= depth:
            template = "The {stack} has no layer {layer}; allowed are 1 to {depth}."
            raise InputError(template, stack=stack, layer=layer, depth=depth)
        return layer - 1

    @property
    def attention(self) -> TensorPath:
        """The path of the attention module that the phrase names, such as `encoder.layers.0.self_attention`. Raises
        `InputError` if the model has no such layer."""
        return self.kind.path(self.layer(self.kind.stack))

    @property
    def heads(self) -> tuple[int, ...] | None:
        """A tuple with the index of the phrase's head, counted from 0; None if the phrase names no head and so means all heads.

        Raises:
            InputError: the model has no such head.
        """
        if not self.parts.get("head"):
            return None
        head, count = int(self.parts["head"]), self.config.heads
        if not 1 <= head <= count:
            raise InputError("There is no head {head}; allowed are 1 to {count}.", head=head, count=count)
        return (head - 1,)


def _silence(phrase: Phrase) -> Interventions:
    return (Ablate(str(phrase.attention / "weights"), heads=phrase.heads),)


def _average(phrase: Phrase) -> Interventions:
    return (Ablate(str(phrase.attention / "weights"), heads=phrase.heads, to="uniform"),)


def _block(phrase: Phrase) -> Interventions:
    edge = (phrase.position("query"), phrase.position("key"))
    return (Block(str(phrase.attention), heads=phrase.heads, edges=(edge,)),)


def _no_causal_mask(_: Phrase) -> Interventions:
    return (Patch("target_mask", values=True),)


def _no_padding_mask(_: Phrase) -> Interventions:
    return (Patch("source_mask", values=True),)


def _no_positions(phrase: Phrase) -> Interventions:
    depths = {"source": phrase.config.encoder_layers, "target": phrase.config.decoder_layers}
    return tuple(Scale(f"{side}_embedding.position", factor=0.0) for side, depth in depths.items() if depth)


def _no_scaling(phrase: Phrase) -> Interventions:
    scale = getattr(phrase.config, "score_scale", None)
    if scale is None:
        raise InputError("The scaling of scores can be left out in models of this project only.")
    return (Scale(str(phrase.attention / "scaled_scores"), factor=scale),)


def _no_residual(phrase: Phrase) -> Interventions:
    stack, name = phrase.parts["stack"], phrase.parts["sublayer"]
    if name not in SUBLAYERS[stack]:
        allowed = ", ".join(SUBLAYERS[stack])
        raise InputError("The {stack} has no sub-layer {name}; allowed are {allowed}.", stack=stack, name=name, allowed=allowed)
    sublayer = TensorPath(stack, phrase.layer(stack), name)
    return (Replace(str(sublayer.add_norm / "sum"), by=str(sublayer / "output")),)


# The forms of phrases. Each has a pattern, the text that errors show, and the function that returns the interventions.
FORMS: tuple[tuple[str, str, Callable[[Phrase], Interventions]], ...] = (
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


def interventions(phrase: str, config: NetworkConfig, lengths: Mapping[str, int] | None = None) -> Interventions:
    """The interventions (edits of tensors during a forward pass) that a phrase describes.

    Args:
        phrase: a phrase in one of `FORMS`, such as `silence cross layer 1 head 2`. Capitals and additional spaces are allowed.
        config: configuration of the model.
        lengths: side, `source` or `target` → its number of tokens; None to allow any position.

    Raises:
        InputError: the phrase has none of the forms, or its layer, head or token does not exist (the message lists what is
            allowed), or `lengths` is not a mapping.
        ConfigError: `config` is not a TransformerConfig or another NetworkConfig.
    """
    check_sizes(config)
    if lengths is not None and not isinstance(lengths, Mapping):
        template = "lengths is {given!r}; it must give the number of tokens of each side, such as {{'source': 5}}."
        raise InputError(template, given=lengths)
    plain = " ".join(phrase.lower().split()) if isinstance(phrase, str) else ""
    if len(plain) <= 200:
        for pattern, _, meaning in FORMS:
            match = re.fullmatch(pattern, plain, flags=re.ASCII)
            if match:
                parts = {name: value for name, value in match.groupdict().items() if value is not None}
                if any(len(value) > 6 for value in parts.values() if value.isdigit()):
                    break
                return meaning(Phrase(parts, config, lengths or {}))
    forms = "; ".join(form for _, form, _ in FORMS)
    raise InputError("{phrase!r} is not an edit; allowed are {forms}. {words}", phrase=phrase, forms=forms, words=WORDS)


def all_interventions(phrases: Sequence[str], config: NetworkConfig, lengths: Mapping[str, int] | None = None) -> Interventions:
    """The interventions that several phrases describe, in the same order. `config` and `lengths` are those of `interventions`.

    Raises:
        InputError: as in `interventions` (if there are several phrases, the message quotes the invalid phrase); or `phrases` is
            not a list.
        ConfigError: `config` is not a TransformerConfig or another NetworkConfig.
    """
    if isinstance(phrases, str) or not isinstance(phrases, Sequence):
        raise InputError("Edits must be a list of phrases, not {phrases!r}.", phrases=phrases)
    edits: Interventions = ()
    for phrase in phrases:
        try:
            edits += interventions(phrase, config, lengths)
        except InputError as error:
            if len(phrases) == 1 or "phrase" in error.values:  # the message already contains the phrase, or needs none
                raise
            raise InputError("In “{phrase}”: {error}", phrase=cut(phrase, 80), error=error) from None
    return edits


def at_head(verb: str, kind: str, layer: int, head: int | None = None) -> str:
    """A phrase such as `silence cross layer 1 head 2`, which describes an edit of one head.

    Args:
        verb: `silence` or `average`; or `block`, for a phrase that the function `block` completes with a query and a key.
        kind: `encoder`, `decoder` or `cross`.
        layer, head: counted from 0, although the phrase counts from 1. If `head` is None, the phrase is about all heads.

    Raises:
        HeadlightError: there is no such kind, or `layer` or `head` is not a whole number of at least 0.
    """
    kind = Kind.of(kind)
    check_index("layer", layer, MOST_POSITIONS)
    if head is not None:
        check_index("head", head, MOST_POSITIONS)
    return f"{verb} {kind} layer {layer + 1}" + (f" head {head + 1}" if head is not None else "")


def block(kind: str, layer: int, head: int | None, query: int, key: int) -> str:
    """A phrase such as `block cross layer 1 head 2 query 3 key 5`: that query may not attend to that key. `kind` is `encoder`,
    `decoder` or `cross`; None for `head` means all heads. All numbers are counted from 0, but the phrase counts layers and
    heads from 1. Errors are those of `at_head`."""
    check_index("query", query, MOST_POSITIONS)
    check_index("key", key, MOST_POSITIONS)
    return f"{at_head('block', kind, layer, head)} query {query} key {key}"
