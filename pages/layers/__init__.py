"""The Layers page."""
