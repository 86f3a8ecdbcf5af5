"""Pipelines from a text to an answer and a trace, with models from files or untrained."""
