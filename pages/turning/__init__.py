"""The Head that turns page."""
