"""Checks of the network and the runs before patching. The message of each error says what is allowed."""

from torch import nn

from transformer.analysis.checks import check_trace
from transformer.analysis.word_trace import WordTrace
from transformer.errors import InputError
from transformer.network.tap import Traceable
from transformer.tracing.trace import Trace

LENGTHS = (
    "The {side} of one run has {clean} tokens, and that of the other {corrupt}. Patching puts the vector of a token in the "
    "place of another, so both need equally many: change one word for one of as many tokens. A rare word can be several."
)
OTHER_TARGETS = "The two runs read different targets; give both the same one, because the tokens before the row must be equal."


def check_evaluation_mode(network: object) -> None:
    """Check that a network is in evaluation mode, in which dropout changes nothing.

    Raises:
        InputError: the network, or a part of it, is in training mode.
    """
    module = _module(network)
    if module is not None and any(part.training for part in module.modules()):
        raise InputError("The network is in training mode, in which dropout changes every run; call its `eval()` first.")


def check_gradients(network: object) -> None:
    """Check that gradients of the network can be computed.

    Raises:
        InputError: the network was built within `torch.inference_mode`.
    """
    module = _module(network)
    if module is not None and any(parameter.is_inference() for parameter in module.parameters()):
        raise InputError("The model was built within `torch.inference_mode`, so it has no gradients; open it outside of it.")


def check_plain(network: Traceable, trace: object) -> None:
    """Check that a trace has one text, has tokens and not words (a `WordTrace`), and has the configuration of `network`.

    Raises:
        InputError: `trace` is not such a trace.
    """
    check_trace(trace)
    assert isinstance(trace, Trace)
    if isinstance(trace, WordTrace):
        raise InputError("The traces must be of the tokens that the model reads, not of words.")
    if trace.batch_size != 1:
        raise InputError("Each trace must be of one text; this one has {count}.", count=trace.batch_size)
    if trace.config != network.config:
        raise InputError("The network must be the one that was traced; this one has another configuration.")


def check_lengths(clean: Trace, corrupt: Trace) -> None:
    """Check that two runs have the same sides (source, target) and equally many tokens on each; if there are both sides, also
    that their targets are equal.

    Raises:
        InputError: the runs differ in one of these.
    """
    if clean.sides != corrupt.sides:
        raise InputError("The two runs must have the same sides, source and target.")
    for side in clean.sides:
        lengths = [len(trace.ids_of(side)[0]) for trace in (clean, corrupt)]
        if side == "target" and len(clean.sides) > 1 and clean.target_ids[0] != corrupt.target_ids[0]:
            raise InputError(OTHER_TARGETS)
        if lengths[0] != lengths[1]:
            raise InputError(LENGTHS, side=side, clean=lengths[0], corrupt=lengths[1])


def _module(network: object) -> nn.Module | None:
    """The `nn.Module` of a network: `network` itself, or its attribute `model`, a model of the library `transformers`. None if
    there is no such module."""
    module = network if isinstance(network, nn.Module) else getattr(network, "model", None)
    return module if isinstance(module, nn.Module) else None
