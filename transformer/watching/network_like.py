"""`network_like`: a network of ours, `Transformer`, with the sizes of a user's module."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from transformer.errors import InputError
from transformer.network.config import LARGEST_TABLE, TransformerConfig
from transformer.network.layers import ACTIVATIONS
from transformer.network.model import Transformer
from transformer.validation import checked
from transformer.watching.passes import Pass, Use
from transformer.watching.placing import is_sinusoid
from transformer.watching.placing_attentions import Group, attention_groups
from transformer.watching.recorder import run_recorded
from transformer.watching.watch import check_module

# Fields that have no usual value.
NEEDED = ("source_vocab", "target_vocab", "d_model", "heads", "encoder_layers", "decoder_layers", "d_ff")


def network_like(
    module: nn.Module,
    source: Int[Tensor, "batch source"] | None = None,
    target: Int[Tensor, "batch target"] | None = None,
    run: Callable[[nn.Module, Tensor, Tensor], Any] | None = None,
    **fields: Any,
) -> Transformer:
    """A new `Transformer` with the sizes of a module, to compare the two. Its weights are random.

        ours = network_like(my_transformer, source, target)
        print(compare(my_transformer, ours, source, target))

    One pass of the module is recorded. Sizes come from its weights, the number of heads from its attentions, and the place of
    the norms from their order. The scale of the embedding and the mask of the target get their usual values: tokens are
    multiplied by √d_model if positions are sinusoidal, and padding of the target is hidden as keys. If the module differs
    there, `compare` names the difference.

    Args:
        module: an encoder–decoder Transformer, for example `torch.nn.Transformer` or a class of yours.
        source, target: ids to call the module with; by default a few small ids, or vectors if the module takes no ids.
        run: called as `run(module, source, target)` if the module is called in another way than `module(source, target)`.
        fields: fields of `TransformerConfig` to set instead of reading them, such as `target_padding="nothing"`.

    Raises:
        InputError: `module`, `source`, `target` or `run` has another type; the module fails; or a size cannot be read: then the
            message names its field.
        ConfigError: a field does not exist, or its value is not allowed.
    """
    check_module("module", module)
    for name, ids in (("source", source), ("target", target)):
        if ids is not None and (not isinstance(ids, Tensor) or ids.ndim not in (2, 3)):
            raise InputError("{name} is {ids!r}; it must be a tensor of ids [batch, {name}], or None.", name=name, ids=ids)
    if run is not None and not callable(run):
        raise InputError("run is {run!r}; it must be a function of the module, the source and the target.", run=run)
    recorder, texts = _recorded(module, source, target, run)
    read = {name: value for name, value in _read(recorder, module, texts).items() if value}
    missing = [name for name in NEEDED if name not in read | fields]
    if missing:
        raise InputError(
            "These sizes cannot be read from your module: {missing}. Give each, as in network_like(module, {first}=…).",
            missing=", ".join(missing),
            first=missing[0],
        )
    width = checked("d_model", (read | fields)["d_model"], int)
    room: dict[str, Any] = {"max_len": max(1, min(4096, LARGEST_TABLE // max(1, width)))}
    with torch.random.fork_rng():
        return Transformer(TransformerConfig(**(room | _usual(read) | read | fields))).eval()


def _usual(read: dict[str, Any]) -> dict[str, Any]:
    """The usual values of the fields that are not read from the module, because it may have a mistake there."""
    return {"scale_embedding": read.get("position") != "learned", "target_padding": "keys"}


def _recorded(
    module: nn.Module, source: Tensor | None, target: Tensor | None, run: Callable[[nn.Module, Tensor, Tensor], Any] | None
) -> tuple[Pass, dict[str, int]]:
    """A recorded pass of the module, and side → number of tokens in all texts of the batch together."""
    widths = [each.shape[-1] for each in module.parameters() if each.ndim == 1]
    width = max(set(widths), key=widths.count) if widths else 1
    ids = torch.tensor([[1, 2, 1], [2, 1, 2]])
    vectors = torch.randn(2, 3, width, generator=torch.Generator().manual_seed(0))
    choices = [(ids if source is None else source, ids if target is None else target), (vectors, vectors.clone())]
    problem = None
    for given in choices if source is None and target is None else choices[:1]:
        inputs = {"source": given[0].clone(), "target": given[1].clone()}
        recorder = Pass(inputs, dict(module.named_parameters()) | dict(module.named_buffers()))
        try:
            run_recorded(module, recorder, lambda inputs=inputs: (run or _call)(module, inputs["source"], inputs["target"]))
        except InputError as error:
            problem = problem or error
            continue
        return recorder, {side: tensor.shape[0] * tensor.shape[1] for side, tensor in inputs.items()}
    raise problem or InputError("Your module does not run.")


def _call(module: nn.Module, source: Tensor, target: Tensor) -> Any:
    """The result of the module for both sides. A decoder alone gets the target first; a module with one input gets the
    source."""
    if isinstance(module, nn.TransformerDecoder | nn.TransformerDecoderLayer):
        return module(target, source)
    required = [
        each for each in inspect.signature(module.forward).parameters.values() if each.default is each.empty and each.kind < 2
    ]
    return module(source) if len(required) == 1 else module(source, target)


def _read(run: Pass, module: nn.Module, tokens: dict[str, int]) -> dict[str, Any]:
    """The fields of the configuration that can be read from a pass: name → value; 0 or None for a field that cannot be read."""
    tables = [use for use in run.uses if use.kind == "table"]
    norms = [use for use in run.uses if use.kind == "norm"]
    widths = [each.weight.shape[-1] for each in (tables or norms)]
    width = max(set(widths), key=widths.count) if widths else 0
    try:
        groups = attention_groups(run, width)
    except InputError:
        groups = []
    inside = {id(use) for group in groups for uses in group.branches.values() for use in uses}
    inside |= {id(group.output) for group in groups}
    others = [use for use in run.uses if use.kind == "linear" and id(use) not in inside]
    in_decoder = [group for group in groups if "target" in run.origin(run.attentions[group.attentions[0]].product.query)]
    # Cross-attention may read the wrong side, so the layers of the decoder are counted by pairs of attentions.
    fields: dict[str, Any] = {"d_model": width, "encoder_layers": len(groups) - len(in_decoder)}
    fields |= {"decoder_layers": len(in_decoder) // 2, "heads": _heads(run, groups, in_decoder, tokens)}
    fields |= _feed_forward(run, others)
    layers = 2 * fields["encoder_layers"] + 3 * fields["decoder_layers"]
    sources = [use.weight for use in tables if "target" not in use.origin]
    targets = [use.weight for use in tables if "target" in use.origin]
    fields["source_vocab"] = len(sources[0]) if sources else 0
    # If there is one linear layer after the last feed-forward network, it computes the logits.
    last = len(others[-1].weight) if len(others) % 2 and tables else 0
    fields["target_vocab"] = last or (len(targets[0]) if targets else 0)
    own = [use for use in norms if use.weight.shape == (width,)]
    fields |= {"final_norm": len(own) > layers, "norm_eps": next((use.eps for use in own if use.eps), None)}
    if own and groups:
        queries = [use for uses in groups[0].branches.values() for use in uses]
        fields["norm_first"] = own[0].order < min(use.order for use in queries)
    return fields | _positions(run, module, width)


def _heads(run: Pass, groups: Sequence[Group], in_decoder: Sequence[Group], tokens: dict[str, int]) -> int:
    """The number of heads of the first attention."""
    if not groups:
        return 0
    group = groups[0]
    attention = run.attentions[group.attentions[0]]
    sizes = dict(zip(attention.product.axes, attention.weights.shape, strict=False))
    texts = max(1, tokens["target" if in_decoder and group is in_decoder[0] else "source"] // sizes["query"])
    return len(group.attentions) * attention.weights.numel() // (texts * sizes["query"] * sizes["key"])


def _feed_forward(run: Pass, others: Sequence[Use]) -> dict[str, Any]:
    """The fields `d_ff` and `activation`, from the first feed-forward network; empty if there is none. `others` are the linear
    layers outside of attentions."""
    if len(others) < 2:
        return {}
    hidden = others[0].output
    same = [each for each in run.values if each.shape == hidden.shape and each is not hidden]
    active = {
        name: function for name, function in ACTIVATIONS.items() if any(torch.allclose(function(hidden), each) for each in same)
    }
    return {"d_ff": len(others[0].weight), "activation": next(iter(active), "relu")}


def _positions(run: Pass, module: nn.Module, width: int) -> dict[str, Any]:
    """The fields of the configuration about positions: `position`, and `max_len` if positions are trained."""
    trained = dict(module.named_parameters())
    tables = [
        trained[name].squeeze()
        for use in run.uses
        if use.kind == "positions" and use.weight.shape[-1] == width
        for name in use.names & trained.keys()
    ]
    learned = [table for table in tables if table.ndim == 2 and not is_sinusoid(table)]
    return {"position": "learned", "max_len": len(learned[0])} if learned else {"position": "sinusoidal"}
