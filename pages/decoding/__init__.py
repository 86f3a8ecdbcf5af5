"""The Watch it write page."""
