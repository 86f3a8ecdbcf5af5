"""Names of the rows and columns of an attention map."""

from pages.shell.view.view import View
from transformer import Difference, Trace
from transformer.tracing.paths import Kind


def map_names(view: View, shown: Trace | Difference, kind: str, item: int = 0) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A name for each query and for each key of a kind of attention (`Trace.query_names`). The last query of the decoder writes
    the end of the answer.

    Args:
        shown: the trace of the view, between tokens or words, or its difference from another run.
        item: the text of the batch, counted from 0.
    """
    vocabulary = view.pipeline.vocabulary(Kind.of(kind).queries)
    end = "…" if vocabulary.eos is None else vocabulary.tokens_of([vocabulary.eos])[0]
    return shown.query_names(kind, item, end), shown.tokens(kind, item)[1]
