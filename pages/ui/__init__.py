"""Pieces that any page may use."""
