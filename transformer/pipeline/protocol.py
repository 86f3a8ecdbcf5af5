"""`TextPipeline`: the base class of every pipeline, whether it runs our own network (`Pipeline`) or one of Hugging Face."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from jaxtyping import Float, Int
from torch import Tensor

from transformer.network.config import NetworkConfig
from transformer.network.model import Transformer
from transformer.network.tap import Edit
from transformer.pipeline.agreement import Agreement
from transformer.pipeline.answer import Answer, Source, Target
from transformer.pipeline.card import Card
from transformer.pipeline.decoding.generate import DecodingStep, Network
from transformer.pipeline.decoding.logits_processors import LogitsProcessor
from transformer.pipeline.decoding.methods import Method
from transformer.pipeline.encoding import Encoding
from transformer.text.tokens import Tokens
from transformer.tracing.paths import Side
from transformer.tracing.readout import Readout
from transformer.tracing.trace import Trace

OutputKind = Literal["tokens", "label", "labels", "span", "vectors"]


class TextPipeline(ABC):
    """Answers and traces of one model. The docstrings of `Pipeline` say what each method does and raises.

    Attributes:
        name: the name of the model.
        config: the sizes of the model.
        trained: whether the weights were learnt.
        card: the record of its training; an empty card for a model that Headlight did not train.
        note: how the network differs from our own, in a sentence or two; may be empty.
        network: the network, which encodes, decodes and has taps.
        model: our own network, whose every operation can be computed again; None for any other network, of which only recorded
            tensors are known.
        readout: how the logits of its decoder are read from the residual stream; None for an encoder alone, or if this
            is unknown.
        mask_token: the token that stands for a word which the model fills in; empty for a model that fills in none.
        separator: the token between a question and the text that answers it; empty for a model that answers no questions.
        output_kind: what the model computes from its last vectors: `tokens`, logits over the vocabulary; `label`, logits over
            the labels of a text; `labels`, logits over the labels of each token; `span`, the start and end of an answer in the
            text; `vectors`, nothing.
        labels: the names of the labels; empty for a model without labels.
        parameters: the number of parameters.
        stacks: the stacks of the model: `encoder`, `decoder`, or both. An encoder alone has no target; a decoder alone traces
            its source and the tokens after it as one target.
        missing: paths of tensors that other models of this family have and this one does not; empty for our own network.
        nbytes: memory in bytes of the weights and of the tables that are not trained.
    """

    name: str
    config: NetworkConfig
    trained: bool
    card: Card
    note: str
    network: Network
    model: Transformer | None
    readout: Readout | None
    mask_token: str
    separator: str = ""
    output_kind: OutputKind = "tokens"
    labels: tuple[str, ...] = ()
    parameters: int
    stacks: tuple[str, ...]
    missing: tuple[str, ...]
    nbytes: int

    @property
    def writes(self) -> bool:
        """Whether the model writes texts: whether it has a decoder and a language head."""
        return "decoder" in self.stacks and self.output_kind == "tokens"

    @abstractmethod
    def vocabulary(self, side: Side) -> Tokens:
        """The vocabulary of a side."""

    @abstractmethod
    def token_table(self, side: Side) -> Float[Tensor, "vocab d_model"]:
        """The embedding table of a side. Do not write to it."""

    @abstractmethod
    def position_table(self, side: Side) -> Float[Tensor, "position d_model"] | None:
        """The position vectors that are added to the token vectors of a side; None if none are added. Do not write to it."""

    @abstractmethod
    def longest(self, side: Side) -> int:
        """The most tokens that a text of this side may have."""

    @abstractmethod
    def encode(self, text: str, side: Side = "source") -> Encoding:
        """A text as tokens and ids."""

    @abstractmethod
    def batch(self, rows: Sequence[Sequence[int]], side: Side) -> Int[Tensor, "batch length"]:
        """Rows of ids as one tensor; shorter rows are padded at the end."""

    def answer(self, source: Source, edits: Sequence[Edit] = ()) -> str:
        """The greedy output for a text, as text. Raises the same errors as `answers`."""
        return self.answers([source], edits)[0].text

    @abstractmethod
    def answers(self, sources: Sequence[Source], edits: Sequence[Edit] = (), max_new_tokens: int | None = None) -> list[Answer]:
        """The greedy outputs for several texts."""

    @abstractmethod
    def generate(
        self,
        source: Source,
        method: Method | None = None,
        logits_processors: Sequence[LogitsProcessor] = (),
        forced: Mapping[int, int] | None = None,
        edits: Sequence[Edit] = (),
        cached: bool = True,
    ) -> Iterator[DecodingStep]:
        """The steps of an answer. Each is computed when the iterator reaches it."""

    @abstractmethod
    def trace(
        self, source: Source | Sequence[Source], target: Target | Sequence[Target] = None, edits: Sequence[Edit] = ()
    ) -> Trace:
        """A trace of one forward pass over a text, or over several together. Without a target, the decoder reads the model's
        own answer. Raises `InputError` for a text that the model cannot read, and `PathError` for an edit of a tensor that the
        model lacks."""

    @abstractmethod
    def check(self, trace: Trace) -> Agreement:
        """The comparison of the logits of an unedited trace with the logits of the same weights without taps. This takes one
        forward pass."""
