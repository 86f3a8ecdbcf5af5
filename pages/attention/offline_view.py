"""The picked view of the Attention page as one HTML file, which works without a server: a click on a head shows its lines."""

from pathlib import Path

from markupsafe import Markup

from pages.attention.lines import LinesState, lines_data, signed
from pages.shell.view.map_names import map_names
from pages.shell.view.view import View
from pages.ui.component import packed
from pages.ui.head_grid import grid_data
from pages.ui.offline import offline_page, place
from pages.ui.text import text
from transformer import Trace
from transformer.figures.attention_figures import quantized
from transformer.figures.theme import KIND_COLORS

HERE, UI = Path(__file__).parent, Path(__file__).parents[1] / "ui"
BODY = Markup("""<h1>{title}</h1>
<p>{about}</p>
<p>{source}</p>
<p>{caption}</p>
{grid}
<h2 id="head"></h2>
{lines}
""")


def offline_view(view: View, shown: Trace, kind: str, layer: int, head: int, state: LinesState) -> str:
    """An HTML page that works without a server: all heads of one `kind` of attention, such as `cross`, as small heatmaps, and
    the weights of the picked layer as lines, at first with the choices in `state`. `shown` is the trace of the run, of tokens
    or of whole words; `view` has the names of the model and of the text. `layer` and `head`, from 0, are the head picked at
    first."""
    words = text("attention")
    saved = words["saved_view"]
    queries, keys = map_names(view, shown, kind)
    weights, allowed = shown.attention(kind)[:, 0].numpy(), shown.allowed(kind)[:, 0].numpy()
    heading = words["head_title"].replace("{kind}", words["kinds"][kind])
    data = {
        "layer": layer,
        "head": head,
        "heading": heading,
        "grid": grid_data(weights.shape, queries, keys, (layer, head), KIND_COLORS[kind]),
        "levels": packed(quantized(weights, allowed)),
        "lines": lines_data(weights.shape[1:], queries, keys, state, head),
        "weights": [packed(signed(*each)) for each in zip(weights, allowed, strict=True)],
    }
    body = BODY.format(
        title=saved["title"].format(kind=words["kinds"][kind]),
        about=saved["about"].format(model=view.model),
        source=saved["source"].format(source=view.source),
        caption=saved["hint"],
        grid=place("grid", UI / "head_grid"),
        lines=place("lines", HERE / "lines"),
    )
    return offline_page(f"Headlight: {view.model}, {kind}", body, data, HERE / "offline_view.js")
