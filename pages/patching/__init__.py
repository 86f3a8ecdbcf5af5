"""The Patching page."""
