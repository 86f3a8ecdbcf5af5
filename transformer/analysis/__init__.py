"""Analyses of a trace or a model, one module for each question."""
