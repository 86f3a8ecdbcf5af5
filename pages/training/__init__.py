"""The Watch it learn page."""
