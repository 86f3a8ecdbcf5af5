"""Widgets and helpers that any page can use."""
