"""What every pipeline gives, whether it runs our own network (`Pipeline`) or one of Hugging Face."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

from jaxtyping import Int
from torch import Tensor

from transformer.network.config import NetworkConfig
from transformer.network.tap import Edit
from transformer.pipeline.decoding.controls import Control
from transformer.pipeline.decoding.methods import Method
from transformer.pipeline.decoding.write import DecodingStep
from transformer.pipeline.pipeline import Answer, Reading, Source, Target
from transformer.tracing.paths import Side
from transformer.tracing.trace import Trace


@runtime_checkable
class Tokens(Protocol):
    """A vocabulary: the tokens of one side of a model, in the order of their ids."""

    def __len__(self) -> int: ...

    @property
    def tokens(self) -> tuple[str, ...]:
        """Every token."""
        ...

    @property
    def specials(self) -> Sequence[int]:
        """The ids of the special tokens."""
        ...

    def tokens_of(self, ids: Iterable[int]) -> tuple[str, ...]:
        """The token of each id. Raises `InputError` for an id that is not in the vocabulary."""
        ...


@runtime_checkable
class TextPipeline(Protocol):
    """Answers and traces of one model. The methods of `Pipeline` say what each does and raises."""

    @property
    def name(self) -> str:
        """The name of the model."""
        ...

    @property
    def config(self) -> NetworkConfig:
        """Its sizes."""
        ...

    @property
    def stacks(self) -> tuple[str, ...]:
        """The stacks it has: `encoder`, `decoder`, or both. An encoder alone has no target; a decoder alone traces its source
        and what follows as one target."""
        ...

    @property
    def missing(self) -> tuple[str, ...]:
        """Paths of tensors that cannot be traced, though others of its kind have them; empty for our own."""
        ...

    @property
    def nbytes(self) -> int:
        """Memory in bytes of the weights and of the tables that are not trained."""
        ...

    def vocabulary(self, side: Side) -> Tokens:
        """The vocabulary of a side."""
        ...

    def longest(self, side: Side) -> int:
        """The most tokens of a text."""
        ...

    def read(self, text: str, side: Side = "source") -> Reading:
        """A text as tokens and ids."""
        ...

    def batch(self, rows: Sequence[Sequence[int]], side: Side) -> Int[Tensor, "batch length"]:
        """Rows of ids as one tensor, padded at the end."""
        ...

    def answer(self, source: Source, edits: Sequence[Edit] = ()) -> str:
        """The greedy output for a text."""
        ...

    def answers(self, sources: Sequence[Source], edits: Sequence[Edit] = ()) -> list[Answer]:
        """The greedy outputs for several texts."""
        ...

    def write(
        self,
        source: Source,
        method: Method | None = None,
        controls: Sequence[Control] = (),
        forced: Mapping[int, int] | None = None,
        edits: Sequence[Edit] = (),
        cached: bool = True,
    ) -> Iterator[DecodingStep]:
        """The steps of an answer, each computed when it is asked for."""
        ...

    def trace(
        self, source: Source | Sequence[Source], target: Target | Sequence[Target] = None, edits: Sequence[Edit] = ()
    ) -> Trace:
        """A trace of one forward pass."""
        ...
