"""A figure that a notebook shows without an internet connection."""

import base64
import functools
import gzip
import inspect
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, get_args

import pandas as pd
import plotly.graph_objects as go
import plotly.io
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from transformer.analysis.checks import check_text_pipeline, check_trace
from transformer.errors import InputError
from transformer.figures.numbers import numbers
from transformer.network.model import Transformer
from transformer.pipeline.checkpoint import as_path, write_whole
from transformer.tracing.difference import Difference
from transformer.validation import checked

Arguments = ParamSpec("Arguments")
CONFIG = {"displaylogo": False, "responsive": True}
NOT_OURS = (
    "This drawing needs our own network, as `Pipeline.load` gives it, or `open_model` with own_network=True; not {pipeline!r}."
)
# The browser unpacks Plotly, and only once for a page with several drawings.
FRAGMENT = Markup("""<div style="background: white; overflow-x: auto">
<div id="{id}" role="img" aria-label="{name}" style="min-width: {width}px; height: {height}px"></div>
</div>
<script>
window.headlightPlotly ??= (async () => {{
  const bytes = Uint8Array.from(atob("{plotly}"), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(unpacked).text();
  document.head.append(script);
}})();
window.headlightPlotly.then(() => {{
  const figure = {figure};
  window.Plotly.newPlot("{id}", figure.data, figure.layout, {config});
}});
</script>
""")
PAGE = Markup("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{name}</title></head><body>
{body}</body></html>
""")


@functools.cache
def packed_plotly() -> str:
    """Plotly's script, compressed with gzip and encoded as base64: 2 MB instead of 5 MB."""
    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), mtime=0)).decode()


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure that a notebook shows when it is the last value of a cell. The output of the cell contains everything that is
    needed to show it, so a saved notebook shows it without an internet connection and without Python.

    Attributes:
        figure: the Plotly figure; it may be changed.
        name: the name of the figure, for screen readers.
    """

    figure: go.Figure
    name: str

    @property
    def numbers(self) -> pd.DataFrame:
        """The numbers of the figure as a table: a matrix for a heatmap, otherwise a row for each number."""
        return numbers(self.figure)

    def _repr_html_(self) -> str:
        layout = self.figure.to_plotly_json()["layout"]
        # `</` in the figure would end the script.
        spec = str(plotly.io.to_json(self.figure, validate=False)).replace("<", "\\u003c")
        return str(
            FRAGMENT.format(
                id=f"headlight-{secrets.token_hex(6)}",
                name=self.name,
                width=(layout.get("meta") or {}).get("least_width", 0),
                height=layout.get("height", 450),
                # These are our own scripts, and all text in them is encoded.
                plotly=Markup(packed_plotly()),
                figure=Markup(spec),
                config=Markup(json.dumps(CONFIG)),
            )
        )

    def save(self, path: str | Path) -> None:
        """Write an HTML page with only the figure to `path`. The page needs no internet connection.

        Raises:
            CheckpointError: the file cannot be written.
        """
        page = PAGE.format(name=self.name, body=Markup(self._repr_html_()))
        write_whole(as_path(path), page.encode())


def drawn(function: Callable[Arguments, go.Figure]) -> Callable[Arguments, Drawing]:
    """The same function, but returning a `Drawing` of its figure. The drawing's name is the first sentence of the function's
    docstring. The new function refuses a Difference unless the annotations of its arguments name one.

    Raises:
        InputError: in the new function: `pipeline` is not a pipeline, `trace` is not a run, or the function needs one run and
            got the difference of two.
        ConfigError: in the new function: an argument that must be a text, or True or False, is not.
    """
    hints = function.__annotations__
    takes_difference = any(Difference in get_args(hint) for hint in hints.values())
    simple = {name: kind for kind in (str, bool) for name, hint in hints.items() if hint in (kind, kind | None)}
    parameters = tuple(inspect.signature(function).parameters)

    @functools.wraps(function)
    def wrapped(*arguments: Arguments.args, **named: Arguments.kwargs) -> Drawing:
        for name, given in (*zip(parameters, arguments, strict=False), *named.items()):
            if isinstance(given, Difference) and not takes_difference:
                check_trace(given)
            elif name == "pipeline":
                check_text_pipeline(given)
            elif name == "trace" and not isinstance(given, Difference):
                check_trace(given)
            elif name in simple and not (given is None and hints[name] is not simple[name]):
                checked(name, given, simple[name])
        first = (function.__doc__ or function.__name__).strip().partition(".")[0]
        return Drawing(function(*arguments, **named), " ".join(first.split()))

    return wrapped


def own_model(pipeline: Any) -> Transformer:
    """The network of a pipeline, for drawings that need this project's own network, a `Transformer`.

    Raises:
        InputError: the pipeline runs another network, such as one of `transformers`.
    """
    model = getattr(pipeline, "model", None)
    if not isinstance(model, Transformer):
        raise InputError(NOT_OURS, pipeline=pipeline)
    return model
