"""Measurements, as ratios to a peer in one run. Not tests."""
