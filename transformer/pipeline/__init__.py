"""From a text to a trace; models in files."""
