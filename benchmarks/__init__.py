"""Benchmarks, reported as ratios to a baseline in the same run. They are not tests."""
