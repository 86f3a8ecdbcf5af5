"""Pipelines: each answers texts with one model and records its tensors. The model is read from a file, or untrained."""
