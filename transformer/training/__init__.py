"""The training of the shipped models: recipe, run, evaluation, command line."""
