"""The Tokens page."""
