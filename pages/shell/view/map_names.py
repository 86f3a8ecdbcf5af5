"""Names of the rows and columns of an attention map."""

from pages.shell.view.view import View
from transformer import Difference, Trace
from transformer.tracing.paths import Kind


def map_names(view: View, shown: Trace | Difference, kind: str, item: int = 0) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the rows (`Trace.query_names`) and of the columns (the key tokens) of an attention map of this kind, for the
    text `item` of the batch. The last query of the decoder is named after `<eos>`, or after `…` if the answer has no end
    (`View.end`). `shown` is the trace of the view, of tokens or whole words, or its difference from another run."""
    queries, keys = shown.tokens(kind, item)
    if Kind.of(kind).queries == "source":
        return queries, keys
    end = view.end(item)
    name = "…" if end is None else view.pipeline.vocabulary("target").tokens_of([end])[0]
    return shown.query_names(kind, item, name), keys
