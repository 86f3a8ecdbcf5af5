"""How the shipped models are trained."""
