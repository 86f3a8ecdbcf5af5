"""The weights of one head in two runs, and their difference."""

from pages.shell.view.second_run import SecondRun
from pages.shell.view.two_runs import alignment, difference_of, show_both_maps
from pages.shell.view.view import View
from pages.ui.text import text
from transformer import Trace
from transformer.figures.panels import tensor_view
from transformer.tracing.paths import Kind


def show_both_heads(view: View, shown: Trace, second: SecondRun, kind: str, layer: int, head: int) -> None:
    """Draw the weights of a head in A and in B, and B − A. `shown` is A's trace, between tokens or words.

    Raises:
        HeadlightError: B has no such head.
    """
    words, of = text("attention"), Kind.of(kind)
    difference = difference_of(view, shown, second)
    names = {"query": difference.query_names(kind), "key": difference.tokens(kind)[1]}
    title = words["head_title"].format(kind=words["kinds"][kind], layer=layer + 1, head=head + 1)
    difference.head(kind, layer, head)  # raises a sentence if the head is not in both
    views = [
        tensor_view(
            title,
            run.head(kind, layer, head).numpy(),
            ("query", "key"),
            "weights",
            names,
            hidden=~run.head_allowed(kind, layer, head).numpy(),
        )
        for run in difference.runs
    ]
    show_both_maps(views, title, alignment(difference, of.queries, of.keys))
