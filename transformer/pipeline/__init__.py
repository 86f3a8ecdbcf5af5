"""From a text to an answer and a trace; models in files, and untrained ones."""
