"""The scripts of the pages that `benchmarks.repaint` serves beside the app."""

# The beginning of a page with only a picture, and the three pictures.
PICKERS = """
import numpy as np
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from pages.shell.view.runs import runs
from pages.ui.charts import chart, show
from pages.ui.compat import no_callback
from pages.ui.head_grid import overview
from pages.ui.pickers import pick
from transformer.figures.attention_figures import MASKED_LEVEL, quantized
from transformer.pipeline.untrained import Untrained

asked = st.query_params
layers, heads, width, hidden = (int(asked[name]) for name in ("n_layers", "n_heads", "d_model", "d_ff"))
sizes = {"encoder_layers": layers, "decoder_layers": layers, "heads": heads, "d_model": width, "d_ff": hidden}
key = Untrained.of(asked["variant"], (asked["source"],), (asked["target"],), sizes)
trace = runs().trace(key, (asked["source"],), (asked["target"],), ())
st.set_page_config(layout="wide")
st.title("All heads")
kind = pick("Kind of attention", ["encoder", "decoder", "cross"], "kind")
layer = pick("Layer", range(1, layers + 1), "layer")
head = pick("Head", range(1, heads + 1), "head")
weights = trace.attention(kind)[:, 0].numpy()
queries, keys = trace.tokens(kind)
"""
PICTURES = {
    "canvas": """
allowed = trace.allowed(kind)[:, 0].numpy()
overview(weights, allowed, queries, keys, (layer - 1, head - 1), "red", "heads", on_pick=no_callback)
""",
    "subplots": """
figure = make_subplots(layers, heads, horizontal_spacing=0.01, vertical_spacing=0.02)
for row in range(layers):
    for column in range(heads):
        chosen = (row + 1, column + 1) == (layer, head)
        names = {axis: [f"{at}: {name}" for at, name in enumerate(side)] for axis, side in (("x", keys), ("y", queries))}
        colors = {"zmin": 0, "zmax": 1, "colorscale": "Viridis", "showscale": chosen}
        figure.add_trace(go.Heatmap(z=weights[row, column], **names, **colors), row=row + 1, col=column + 1)
figure.update_xaxes(showticklabels=False).update_yaxes(showticklabels=False, autorange="reversed")
st.plotly_chart(figure.update_layout(height=100 + 90 * layers), key="heads")
""",
}

# The app with one Plotly heatmap with gaps as its overview of all heads. Its axes name the layer, head and token of each
# cell. The frame of the picked head is drawn without sending the heatmap again.
ONE_HEATMAP = """
import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.shell.server.requests import middleware
from pages.shell.server.warm_up import warm_up
from pages.ui import head_grid
from pages.ui.charts import chart, show
from pages.ui.compat import ignore_pages_folder, no_callback
from transformer.figures.attention_figures import MASKED_LEVEL, quantized

GAP = 2  # cells between two heads


def mosaic(levels, down, across):
    layers, heads, rows, columns = levels.shape
    picture = np.full((layers, heads, rows + GAP, columns + GAP), MASKED_LEVEL, np.uint8)
    picture[:, :, :rows, :columns] = levels
    z = picture.transpose(0, 2, 1, 3).reshape(len(down), len(across))
    scale = [[0, "#440154"], [0.5, "#21908d"], [0.996, "#fde725"], [1, "white"]]
    figure = go.Figure(go.Heatmap(z=z, x=across, y=down, zmin=0, zmax=255, colorscale=scale, showscale=False))
    figure.update_xaxes(type="category", showticklabels=False)
    figure.update_yaxes(type="category", showticklabels=False, autorange="reversed")
    return figure.update_layout(height=100 + 45 * layers, margin={"l": 8, "r": 8, "t": 40, "b": 8})


def overview(weights, allowed, queries, keys, selected, color, key, on_pick=None, **options):
    layers, heads, rows, columns = weights.shape
    down = [f"layer {layer}, {at}: {queries[at] if at < rows else ''}" for layer in range(layers) for at in range(rows + GAP)]
    across = [f"head {head}, {at}: {keys[at] if at < columns else ''}" for head in range(heads) for at in range(columns + GAP)]
    sides = zip("xy", selected[::-1], (columns, rows))
    edges = [(name, index * (size + GAP) - 0.5, (index + 1) * (size + GAP) - GAP - 0.5) for name, index, size in sides]
    places = {f"{name}{end}": edge for name, *both in edges for end, edge in enumerate(both)}
    marks = [{"type": "rect", "line": {"color": color}, **places}]
    shown = chart(mosaic, quantized(weights, allowed), tuple(down), tuple(across))
    show(shown, key, "all heads", asks={"click": on_pick or no_callback}, marks=marks)


head_grid.overview = overview
ignore_pages_folder()
app = st.App(APP, lifespan=warm_up, middleware=middleware())
"""
