"""`TextPipeline`: the base class of all pipelines, for Transformers of this project (`Pipeline`) and Hugging Face models."""

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
    """A model with its vocabularies, which answers texts, and traces them: records every tensor of a forward pass. `Pipeline`
    documents the arguments and errors of each method.

    Attributes:
        name: the name of the model.
        config: the sizes of the model.
        trained: whether the weights were learnt.
        card: the record of its training; an empty card for a model that Headlight did not train.
        note: how the network differs from the Transformer of this project, in a sentence or two; may be empty.
        network: the network that encodes and decodes. All its traceable tensors have names (`network.taps`).
        model: the network again, if it is a `Transformer` of this project; None for any other network.
        readout: the parts that compute the decoder's logits from its residual stream; None for an encoder alone, or if they are
            unknown.
        mask_token: the token, such as `[MASK]`, that a masked language model replaces; empty for any other model.
        separator: the token between a question and the text that answers it; empty for a model that answers no questions.
        output_kind: what the model computes from its last vectors: `tokens`, logits over the vocabulary; `label`, logits over
            the labels of a text; `labels`, logits over the labels of each token; `span`, the start and end of an answer in the
            text; `vectors`, nothing more.
        labels: the names of the labels; empty for a model without labels.
        parameters: the number of parameters.
        stacks: the stacks of the model: `encoder`, `decoder`, or both. An encoder alone has no target. A decoder alone reads
            its source and the tokens that it writes as one target.
        missing: paths of tensors that other models of this family have and this one does not; empty for our own network.
        nbytes: memory in bytes of the parameters and of the buffers, such as tables of sinusoidal positions.
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
        """The vocabulary of a side, `source` or `target`."""

    @abstractmethod
    def token_table(self, side: Side) -> Float[Tensor, "vocab d_model"]:
        """The token embeddings of a side, `source` or `target`, not copied, so do not write to them."""

    @abstractmethod
    def position_table(self, side: Side) -> Float[Tensor, "position d_model"] | None:
        """The position vectors that are added to the token vectors of a side, `source` or `target`; None if the network adds no
        position vectors. Do not write to them."""

    @abstractmethod
    def longest(self, side: Side) -> int:
        """The most tokens that a text of a side, `source` or `target`, may have."""

    @abstractmethod
    def encode(self, text: str, side: Side = "source") -> Encoding:
        """The tokens and ids that the model reads for a text of a side, `source` or `target`."""

    @abstractmethod
    def batch(self, rows: Sequence[Sequence[int]], side: Side) -> Int[Tensor, "batch length"]:
        """Rows of ids of a side, `source` or `target`, as one tensor; shorter rows are padded at the end."""

    def answer(self, source: Source, edits: Sequence[Edit] = ()) -> str:
        """The model's answer to a text, by greedy decoding. `edits` change tensors while the answer is written. Raises the same
        errors as `answers`."""
        return self.answers([source], edits)[0].text

    @abstractmethod
    def answers(self, sources: Sequence[Source], edits: Sequence[Edit] = (), max_new_tokens: int | None = None) -> list[Answer]:
        """The model's answers to several texts, by greedy decoding. `edits` change tensors while the answers are written. Each
        answer has at most `max_new_tokens` tokens; None stands for the limit of the pipeline."""

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
        """An iterator over the steps of an answer; each step is computed when the iterator reaches it. `Pipeline.generate`
        explains the arguments."""

    @abstractmethod
    def trace(
        self, source: Source | Sequence[Source], target: Target | Sequence[Target] = None, edits: Sequence[Edit] = ()
    ) -> Trace:
        """A trace, which has every tensor of one forward pass, over a text or over a batch of several texts. Without a target,
        the decoder reads the model's own answer. `edits` change tensors in the pass. Raises `InputError` for a text that the
        model cannot read, and `PathError` for an edit of a tensor that the model lacks."""

    @abstractmethod
    def check(self, trace: Trace) -> Agreement:
        """The comparison of the logits of an unedited trace with the logits of the model without tracing. This takes one
        forward pass."""
