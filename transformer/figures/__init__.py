"""Functions that make Plotly figures (`go.Figure`) from arrays and labels. They need neither a model nor a web page."""

from transformer.figures.attention_figures import head_map, small_head_map
from transformer.figures.layer_walk import layer_figure
from transformer.figures.panels import tensor_view
from transformer.figures.theme import KIND_COLORS
from transformer.figures.walk_figures import stop_figure

__all__ = ["KIND_COLORS", "head_map", "layer_figure", "small_head_map", "stop_figure", "tensor_view"]
