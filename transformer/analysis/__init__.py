"""One module for each question asked of a trace or a model."""
