"""A class that answers a lesson together."""
