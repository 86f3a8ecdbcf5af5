"""A model of `transformers` that encodes, decodes and is traced like Headlight's `Transformer`."""

import copy
import dataclasses
import inspect
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import DynamicCache, EncoderDecoderCache, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from transformer.errors import CheckpointError
from transformer.huggingface import hf_attention as attention
from transformer.huggingface.families import Family, Point, Stack, into
from transformer.huggingface.files import MEGABYTE
from transformer.huggingface.hf_attention import AttentionTaps, add_tap
from transformer.huggingface.hf_limits import TRACE_MEGABYTES
from transformer.huggingface.hf_readout import TOLERANCE, checked_readout, final_norm
from transformer.huggingface.hooks import find_module, hook, item, running
from transformer.huggingface.output import last_tokens
from transformer.network.config import NetworkConfig
from transformer.network.id_checks import check_batch
from transformer.network.masks import Mask, causal, padding_keys
from transformer.network.tap import Tap, Taps, tracing
from transformer.tracing.paths import STACK_SIDES, Side
from transformer.tracing.readout import Readout

# The id of padding if the tokenizer has no token for it. The model reads id 0 instead, and no other position attends to it.
NO_PAD = -1
# Number of texts, of source tokens and of target tokens in the pass that measures shapes. The numbers differ, so that the size
# of an axis tells which axis it is.
TEXTS, SOURCE, TARGET = 2, 5, 4
# The argument of models of `transformers` that says for how many of the last positions logits are computed.
ROWS = "logits_to_keep"


@dataclass(frozen=True, kw_only=True)
class ModelConfig(NetworkConfig):
    """The sizes of a model of `transformers`, under the names of Headlight's `TransformerConfig`.

    Attributes:
        family: `model_type` of its configuration, such as `marian`.
        source_vocab, target_vocab: number of rows of the token tables.
        source_pad, target_pad: id of padding; `NO_PAD` (−1) if the tokenizer has none.
        d_model: width of the residual stream.
        heads, key_heads: number of query heads, and of key and value heads, of a layer; in the decoder if there is one.
        d_ff: width of the hidden layer of the feed-forward network.
        encoder_layers, decoder_layers: number of layers of each stack; 0 for a stack that the model lacks.
        d_head: width of a head.
        max_len: most tokens of a text.
        position: how positions enter: a table that is `learned` or `sinusoidal`, `rotary` (queries and keys are turned),
            `relative` (a bias on the scores), or `none` if no known kind is found.
        norm_first: whether norms come before the sub-layers.
        final_norm: whether there is a norm after the last layer of a stack.
        scale_embedding: whether the rows of the token table are multiplied by a factor.
        target_padding, mask_fill, mask_before_scaling: as in `TransformerConfig`, with the values that `transformers` uses.
    """

    family: str
    source_vocab: int
    target_vocab: int
    source_pad: int
    target_pad: int
    d_model: int
    heads: int
    key_heads: int
    d_ff: int
    encoder_layers: int
    decoder_layers: int
    d_head: int
    max_len: int
    position: str
    norm_first: bool
    final_norm: bool
    scale_embedding: bool
    target_padding: str = "keys"
    mask_fill: float = torch.finfo(torch.float32).min
    mask_before_scaling: bool = False

    def to_json(self) -> str:
        """Every field as JSON."""
        return json.dumps(dataclasses.asdict(self))


class TransformersCache:
    """Keys and values of earlier positions, kept from one step of an answer to the next.

    Args:
        crossed: whether the model has an encoder and a decoder.

    Attributes:
        length: number of target positions that were read.
        past_key_values: the cache object of `transformers`.
    """

    def __init__(self, crossed: bool) -> None:
        self.length = 0
        # Built without a configuration, so that keys which a sliding window hides are kept, and shown as hidden.
        self.past_key_values: Any = EncoderDecoderCache(DynamicCache(), DynamicCache()) if crossed else DynamicCache()

    def select(self, rows: Sequence[int]) -> None:
        """Keep only the items `rows` of the batch, counted from 0, in this order. An index may occur several times, as in beam
        search."""
        self.past_key_values.reorder_cache(torch.tensor(rows))


class Network:
    """A model of `transformers` with taps, the named points at which its tensors are recorded or changed.

    Args:
        model: built with `eager` attention, in evaluation mode. It gets hooks and must not be used elsewhere.
        family: its architecture, and where its tensors are.
        source_pad, target_pad: id of padding; `NO_PAD` (−1) if there is none.
        longest: most tokens of a text.
        start: the id that a decoder reads first.

    Attributes:
        output: what the model computes from its last vectors.
        model: the model with taps.
        eager: the same weights in a model without taps, as `transformers` would run it.
        config: sizes of the model.
        taps: path of a tensor → its tap.
        missing: paths of tensors that other models of the family have and this one does not.
        readout: how the logits of its decoder are computed from the residual stream; None without a decoder, or if the readout
            does not give the model's logits.
        keeps: whether logits are the same if keys and values of earlier positions are cached.

    Raises:
        CheckpointError: the model computes other logits with taps than without, or logits that are not finite; or its decoder
            attends to later tokens.
    """

    def __init__(
        self, model: PreTrainedModel, family: Family, source_pad: int, target_pad: int, longest: int, start: int = 0
    ) -> None:
        self.family, self.output = family, family.output
        self.stacks = {name: stack for name in STACK_SIDES if (stack := getattr(family, name)) is not None}
        shared = {id(tensor): tensor for tensor in [*model.parameters(), *model.buffers()]}
        self.eager: Any = copy.deepcopy(model, shared)
        self.model: Any = model
        model.set_attn_implementation(attention.NAME)

        points = self._points()
        shapes = self._shapes(points)
        self.config = self._config(points, shapes, source_pad, target_pad, longest)
        taps = Taps()
        self.taps: dict[str, Tap] = taps
        self._name(taps, points, shapes)
        side = STACK_SIDES[[*self.stacks][-1]]
        if "encoder" in self.stacks:
            self.source_mask = add_tap(taps, "source_mask", Tap("batch 1 1 source"))
        if self.output.kind != "vectors":
            axes = self.output.axes(side)
            self.logits, self.probabilities = (add_tap(taps, name, Tap(axes)) for name in ("logits", "probabilities"))
        self.readout: Readout | None = None
        self.missing = self._check([path for path, (_, point) in points.items() if path != point.module])
        self.keeps = "decoder" in self.stacks and self.output.kind == "tokens" and self._keeps(start)

    @property
    def crossed(self) -> bool:
        """Whether the model has an encoder and a decoder."""
        return len(self.stacks) == 2

    # --- running -----------------------------------------------------------------------------------------------------------

    def __call__(
        self, source: Int[Tensor, "batch source"] | None, target: Int[Tensor, "batch target"] | None
    ) -> Float[Tensor, "batch ..."]:
        """The logits of a forward pass, or the last vectors of a model without an output layer. A side that the model lacks is
        None: `source` without an encoder, `target` without a decoder.

        Raises:
            InputError: a side is not a tensor of ids, or the model has no row for an id.
        """
        if target is None:
            self.check_ids("source", source)
            assert source is not None
            mask = self.source_mask(padding_keys(source, self.config.source_pad))
            given = {"input_ids": _readable(source), "attention_mask": _numbers(mask)} | self.output.given(source)
            with running(len(source)):
                return self._tapped(self.output.of(self.model, given))
        memory, mask = (None, None) if source is None else self.encode(source)
        return self.decode(target, memory, mask)

    def encode(self, source: Int[Tensor, "batch source"]) -> tuple[Float[Tensor, "batch source d_model"], Mask]:
        """The encoder's output, and the mask of the source keys that may be attended to.

        Raises:
            InputError: `source` is not a tensor of ids, or the model has no row for an id.
        """
        self.check_ids("source", source)
        mask = Mask.of(self.source_mask(padding_keys(source, self.config.source_pad)))
        with running(len(source)):
            encoded = self.model.get_encoder()(input_ids=_readable(source), attention_mask=_numbers(mask.keep))
        return encoded[0], mask

    def decode(
        self,
        target: Int[Tensor, "batch target"],
        memory: Float[Tensor, "batch source d_model"] | None,
        mask: Mask | None,
        cache: TransformersCache | None = None,
        rows: int | None = None,
    ) -> Float[Tensor, "batch ..."]:
        """Logits for the token after each target position; with a cache, only after the positions that the cache does not have
        yet.

        Args:
            target: ids of the decoder's input, including the positions in the cache.
            memory, mask: what `encode` returned; None for both in a decoder alone.
            cache: keys and values of the first positions, to which those of the new positions are added; None for no cache.
            rows: the number of last positions whose logits are returned; None for all. Most models without an encoder then
                compute no other logits.

        Raises:
            InputError: `target` is not a tensor of ids, or the model has no row for an id.
        """
        self.check_ids("target", target)
        first, keep = cache.length if cache else 0, self.target_keys(target)
        given: dict[str, Any] = {"past_key_values": cache.past_key_values if cache else None, "use_cache": cache is not None}
        if rows is not None and ROWS in inspect.signature(self.model.forward).parameters:
            given[ROWS] = rows
        new = _readable(target[:, first:])
        if memory is None or mask is None:
            given |= {"input_ids": new, "attention_mask": keep.long()}
        else:
            given |= {"encoder_outputs": BaseModelOutput(last_hidden_state=memory), "attention_mask": _numbers(mask.keep)}
            given |= {"decoder_input_ids": new, "decoder_attention_mask": keep.long()}
        last = None if self.crossed else last_tokens(keep)
        with running(len(target)):
            logits = self.output.of(self.model, given, last)
        if cache:
            cache.length = target.shape[1]
        return self._tapped(logits if rows is None else logits[:, -rows:])

    def check_ids(self, side: str, ids: object) -> None:
        """Check that the token table has a row for every id, or that the id is `NO_PAD` (−1). The length is not limited,
        because passes that are not traced may be longer than `max_len`. `side`, `source` or `target`, is named in the message
        of an error.

        Raises:
            InputError: `ids` is not a tensor of ids, or has an id outside the table.
        """
        check_batch(side, ids, self._rows, sys.maxsize, NO_PAD)

    def new_cache(self) -> TransformersCache | None:
        """An empty cache for `decode`; None if cached keys and values would change the logits."""
        return TransformersCache(self.crossed) if self.keeps else None

    def target_keys(self, target: Int[Tensor, "batch target"]) -> Bool[Tensor, "batch target"]:
        """True for the target tokens that may be attended to: all but padding. The first token is never padding, although some
        models start with the id of padding."""
        keep = target != self.config.target_pad
        return torch.cat([torch.ones_like(keep[:, :1]), keep[:, 1:]], dim=1)

    def target_mask(self, target: Int[Tensor, "batch target"]) -> Bool[Tensor, "batch 1 target target"]:
        """True where the decoder may attend in its own input: not to later tokens, and not to padding. A layer with a sliding
        window hides more keys; the mask of each layer is in `Trace.used_masks`."""
        return causal(target.shape[1]) & self.target_keys(target)[:, None, None, :]

    def eager_logits(
        self, source: Int[Tensor, "batch source"] | None, target: Int[Tensor, "batch target"] | None
    ) -> Float[Tensor, "batch ..."]:
        """The logits of the model without taps, with the attention of `transformers` itself; or the last vectors of a model
        without an output layer. A side that the model lacks is None."""
        given: dict[str, Any] = {"use_cache": False} if target is not None else {}
        last = None
        if source is not None:
            mask = padding_keys(source, self.config.source_pad)
            given |= {"input_ids": _readable(source), "attention_mask": _numbers(mask)} | self.output.given(source)
        if target is not None:
            prefix, keep = "decoder_" if source is not None else "", self.target_keys(target)
            given |= {f"{prefix}input_ids": _readable(target), f"{prefix}attention_mask": keep.long()}
            last = None if self.crossed else last_tokens(keep)
        with torch.inference_mode(), running():
            return self.output.of(self.eager, given, last)

    def position_table(self, side: Side) -> Float[Tensor, "position d_model"] | None:
        """The position vectors that are added to the token vectors of a side (`source` or `target`), in order from the first
        token on; None if no vectors are added. There are at most `max_len` of them."""
        stack = next((stack for name, stack in self.stacks.items() if STACK_SIDES[name] == side), None)
        point = stack.embedding.get("position") if stack else None
        module: Any = find_module(self.model, point.module) if point else None
        if module is None:
            return None
        table = module.weight if hasattr(module, "weight") else module.weights
        first = getattr(module, "offset", self.family.first_position(self.model.config))
        return table.detach()[first : first + self.config.max_len]

    def _tapped(self, logits: Tensor) -> Tensor:
        if self.output.kind == "vectors":
            return logits
        logits = self.logits(logits)
        probabilities = self.output.probabilities(logits)
        if probabilities is not None:
            self.probabilities(probabilities)
        return logits

    # --- taps --------------------------------------------------------------------------------------------------------------

    def _points(self) -> dict[str, tuple[nn.Module, Point]]:
        """Path of a tensor → its module and point, for all points of the family that the model has; and for the output of any
        other module with weights, under the module's own path."""
        points: dict[str, tuple[str, Point]] = {path: (point.module, point) for path, point in self.family.other.items()}
        for name, stack in self.stacks.items():
            points |= {f"{STACK_SIDES[name]}_embedding.{path}": (p.module, p) for path, p in stack.embedding.items()}
            for index in range(len(self._layers(stack))):
                layer = f"{stack.layers}.{index}"
                for path, point in stack.points.items():
                    modules = "|".join(f"{layer}.{each}".rstrip(".") for each in point.module.split("|"))
                    points[f"{name}.layers.{index}.{path}"] = modules, point
            points[f"{name}.output"] = stack.module, Point(stack.module, "output")
        placed = {path: (find_module(self.model, module), point) for path, (module, point) in points.items()}
        named = {_scaled(path, module): (module, point) for path, (module, point) in placed.items() if module is not None}
        known = {id(module) for module, point in named.values() if point.end == "output" and point.item == 0}
        for path, module in self.model.named_modules():
            weights = next(module.parameters(recurse=False), None)
            if weights is not None and id(module) not in known:
                named[path] = module, Point(path, "output")
        return named

    def _layers(self, stack: Stack) -> Any:
        return find_module(self.model, stack.layers)

    def _shapes(self, points: dict[str, tuple[nn.Module, Point]]) -> dict[str, tuple[int, ...]]:
        """Path → shape of the tensor at a point, and of `logits`, in a pass of `TEXTS` texts. Points that the pass does not
        reach are left out."""
        shapes: dict[str, tuple[int, ...]] = {}
        handles = []
        for path, (module, point) in points.items():

            def given(_module: Any, inputs: Any, path: str = path) -> None:
                shapes[path] = tuple(inputs[0].shape)

            def output(_module: Any, _inputs: Any, result: Any, path: str = path, index: int = point.item) -> None:
                values = item(result, index)
                shapes[path] = tuple(values.shape) if isinstance(values, Tensor) else ()

            if point.end == "input":
                handles.append(module.register_forward_pre_hook(given))
            else:
                handles.append(module.register_forward_hook(output))
        try:
            with torch.inference_mode():
                probe = self._probe("input_ids", "decoder_input_ids")
                last = None if self.crossed or "encoder" in self.stacks else torch.full((TEXTS,), TARGET - 1)
                shapes["logits"] = tuple(self.output.of(self.model, probe, last).shape)
        finally:
            for handle in handles:
                handle.remove()
        return shapes

    def _probe(self, source: str, target: str) -> dict[str, Tensor]:
        """Ids for the pass that measures shapes, under the names `source` and `target`; the ids of a decoder alone have the
        first name."""
        sizes = {source: SOURCE, target: TARGET} if self.crossed else {source: SOURCE if "encoder" in self.stacks else TARGET}
        return {
            name: (torch.arange(TEXTS * size).view(TEXTS, size) + self._rows // 2) % self._rows for name, size in sizes.items()
        }

    @property
    def _rows(self) -> int:
        """The number of rows of the model's token table."""
        return self.model.get_input_embeddings().weight.shape[0]

    def _config(
        self,
        points: dict[str, tuple[nn.Module, Point]],
        shapes: dict[str, tuple[int, ...]],
        source_pad: int,
        target_pad: int,
        longest: int,
    ) -> ModelConfig:
        given, last = self.model.config, [*self.stacks][-1]
        hidden = [shapes[path][-1] for path in points if path.endswith("feed_forward.activated") and path in shapes]
        heads, key_heads = _heads(given, last)
        return ModelConfig(
            family=given.model_type,
            source_vocab=self._rows,
            target_vocab=shapes["logits"][-1] if self.output.kind == "tokens" else self._rows,
            source_pad=source_pad,
            target_pad=target_pad,
            d_model=shapes[f"{last}.layers.0.feed_forward_add_norm.sum"][-1],
            heads=heads,
            key_heads=key_heads,
            d_ff=max(hidden, default=0),
            encoder_layers=len(self._layers(self.stacks["encoder"])) if "encoder" in self.stacks else 0,
            decoder_layers=len(self._layers(self.stacks["decoder"])) if "decoder" in self.stacks else 0,
            d_head=_d_head(given, heads),
            max_len=min(longest, self._tokens_of_a_trace(heads)),
            position=self._position(points),
            norm_first=_norm_first(self.stacks[last]),
            final_norm=any(final_norm(self.model, stack) is not None for stack in self.stacks.values()),
            scale_embedding=self._scale_embedding(points),
        )

    def _scale_embedding(self, points: Mapping[str, object]) -> bool:
        """Whether the rows of the token table are multiplied by a factor, in the module of the table (recorded as `scaled`) or,
        as in Marian, outside of it."""
        outside = (find_module(self.model, stack.module) for stack in self.stacks.values())
        factors = (float(getattr(module, "embed_scale", 1)) for module in outside)
        return any(path.endswith("_embedding.scaled") for path in points) or any(factor != 1 for factor in factors)

    def _tokens_of_a_trace(self, heads: int) -> int:
        """The most tokens whose attention weights fit into `TRACE_MEGABYTES`."""
        layers = {name: len(self._layers(stack)) for name, stack in self.stacks.items()}
        attentions = sum(layers.values()) + (layers["decoder"] if len(layers) > 1 else 0)
        return max(1, math.isqrt(int(TRACE_MEGABYTES * MEGABYTE) // (4 * heads * attentions)))

    def _position(self, points: Mapping[str, Any]) -> str:
        """How positions enter the model: `ModelConfig.position`."""
        modules = [(name.rpartition(".")[2], type(module).__name__) for name, module in self.model.named_modules()]
        if any("rotary_emb" in name for name, _ in modules):
            return "rotary"
        if any(name == "relative_attention_bias" for name, _ in modules):
            return "relative"
        if any("Sinusoidal" in kind for _, kind in modules):
            return "sinusoidal"
        return "learned" if any(path.endswith("_embedding.position") for path in points) else "none"

    def _name(self, taps: Taps, points: dict[str, tuple[nn.Module, Point]], shapes: dict[str, tuple[int, ...]]) -> None:
        """Add a tap at each point that has a shape, and the taps of each attention."""
        for path, (module, point) in points.items():
            if path in shapes and (axes := self._axes(path, shapes[path])):
                hook(module, point, add_tap(taps, path, Tap(axes)))
        for name, stack in self.stacks.items():
            for index, layer in enumerate(self._layers(stack)):
                for ours, theirs in stack.attentions.items():
                    path, module = f"{name}.layers.{index}.{ours}", find_module(layer, theirs)
                    setattr(module, attention.TAPS, AttentionTaps(taps, path, *_heads(self.model.config, name)))

    def _axes(self, path: str, shape: tuple[int, ...]) -> str:
        """The names of the axes of the tensor at a point; empty if the tensor does not have a vector for each token."""
        lengths, name = {SOURCE: "source", TARGET: "target"}, path.rpartition(".")[2]
        if len(shape) == 2 and shape[0] in (TEXTS * SOURCE, TEXTS * TARGET):  # all texts on one axis (`hooks.see`)
            shape = (TEXTS, shape[0] // TEXTS, shape[1])
        if name in ("normalized", "projected") and len(shape) == 4:  # before the axes of positions and heads are swapped
            return f"batch {'query' if '.query.' in path else 'key'} head d_head"
        if not shape or len(shape) not in (2, 3) or shape[-2] not in lengths:
            return ""
        width = "d_model" if shape[-1] == self.config.d_model else "feature"
        sizes = {"vocab": self.config.target_vocab, "d_ff": self.config.d_ff}
        of_attention = "attention." in path and path.startswith((*STACK_SIDES,))  # joined heads may be as wide as `d_ff`
        if (".feed_forward." in path and not path.endswith(".output")) or (width == "feature" and not of_attention):
            width = next((axis for axis in reversed(sizes) if shape[-1] == sizes[axis]), width)
        length = lengths[shape[-2]]
        if of_attention and name in ("projected", "concatenated", "output"):
            length = "key" if ".key." in path or ".value." in path else "query"
        if len(shape) == 2 or shape[0] == 1:
            return ("1 " if len(shape) == 3 else "") + f"position {width}"
        return f"batch {length} {width}"

    def _check(self, expected: list[str]) -> tuple[str, ...]:
        """The paths in `expected` whose tensors a test pass does not compute. This method also checks the logits of the pass,
        deletes the taps that the pass does not reach, and sets `readout`.

        Raises:
            CheckpointError: the logits are not finite, or differ from those of the model without taps; or a decoder attends to
                later tokens.
        """
        source, target = self._sides()
        with torch.inference_mode(), tracing(self) as values:
            logits = self(source, target)
        if not logits.isfinite().all():
            template = "This model of the family {family!r} computes logits that are not finite."
            raise CheckpointError(template, family=self.config.family)
        if not torch.equal(logits, self.eager_logits(source, target)):
            raise CheckpointError(
                "With taps, this model of the family {family!r} computes other logits than without; it cannot be traced.",
                family=self.config.family,
            )
        if target is not None:
            self._check_masks(values.masks, self.target_mask(target))
            if self.output.kind == "tokens":
                self.readout = checked_readout(self.model, self.stacks["decoder"], self.config.norm_first, values)
        for path in [*self.taps]:
            if path not in values:
                del self.taps[path]
        return tuple(path for path in expected if path not in self.taps)

    def _sides(self) -> tuple[Tensor | None, Tensor | None]:
        """Ids of the source and of the target for a pass; None for a side that the model lacks."""
        probe = self._probe("source", "target")
        return (None, probe["source"]) if "encoder" not in self.stacks else (probe["source"], probe.get("target"))

    def _check_masks(self, masks: Mapping[str, Tensor], allowed: Bool[Tensor, "batch 1 target target"]) -> None:
        """Refuse a decoder that attends to more than `target_mask` allows, as decoders for text embeddings do."""
        if any((mask & ~allowed).any() for path, mask in masks.items() if path.startswith("decoder") and "self_" in path):
            raise CheckpointError(
                "The decoder of this model of the family {family!r} attends to later tokens; it cannot be traced.",
                family=self.config.family,
            )

    @torch.inference_mode()
    def _keeps(self, start: int) -> bool:
        """Whether a decoder computes the same logits with a cache. It is tested on a few ids after the start id."""
        source, target = self._sides()
        assert target is not None
        if source is not None:
            target[:, 0] = start
        encoded = (None, None) if source is None else self.encode(source)
        cache = TransformersCache(self.crossed)
        kept = [self.decode(target[:, :length], *encoded, cache) for length in (1, TARGET)]
        return torch.allclose(torch.cat(kept, dim=1), self.decode(target, *encoded), rtol=TOLERANCE, atol=TOLERANCE)


def _heads(config: Any, stack: str) -> tuple[int, int]:
    """The number of query heads of a stack, and of its key and value heads."""
    heads = getattr(config, f"{stack}_attention_heads", None) or config.num_attention_heads
    return heads, getattr(config, "num_key_value_heads", None) or heads


def _d_head(config: Any, heads: int) -> int:
    """The width of a head."""
    width = getattr(config, "head_dim", None) or getattr(config, "d_kv", None)
    return width or (getattr(config, "hidden_size", None) or config.d_model) // heads


def _norm_first(stack: Stack) -> bool:
    """Whether the norm of a sub-layer reads the residual stream, and not the sum of the stream and the sub-layer's output."""
    name = "self_attention_add_norm"
    return stack.points.get(f"{name}.sum") != into(stack.points[f"{name}.normalized"].module)


def _scaled(path: str, module: nn.Module) -> str:
    """The path of a point. The path of a token embedding ends with `scaled` if its module also multiplies the embedding by a
    factor."""
    factor: Any = getattr(module, "embed_scale", 1.0)
    return path.removesuffix("token") + "scaled" if path.endswith("_embedding.token") and float(factor) != 1 else path


def _readable(ids: Tensor) -> Tensor:
    """The ids with 0 in the place of `NO_PAD`, for which a table has no row."""
    return ids.clamp(min=0)


def _numbers(mask: Bool[Tensor, "batch 1 1 key"]) -> Int[Tensor, "batch key"]:
    """A mask in the form that `transformers` accepts: 1 for the keys that may be attended to."""
    return mask[:, 0, 0].long()
