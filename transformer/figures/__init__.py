"""Pictures: arrays and labels in, `go.Figure` out. No model, no page."""

from transformer.figures.attention import head_map
from transformer.figures.theme import KIND_COLORS

__all__ = ["KIND_COLORS", "head_map"]
