"""Analyses of a model or of a `Trace` (every tensor of one forward pass), one module for each question."""
