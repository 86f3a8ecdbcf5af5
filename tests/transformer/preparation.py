"""Settings for all tests that call the library."""

import inspect

import torch

from transformer.text.vocabulary import Vocabulary


def prepare() -> None:
    """Set up the checks of types and the number of threads."""
    # Tokens come from files and from people, so vocabularies check them themselves. Without this line, the import hook would
    # check them first. (The hook does not check the constructors that `validation.by_name` makes.)
    Vocabulary.__init__ = inspect.unwrap(Vocabulary.__init__)
    # On tensors this small, a second thread costs more time than it saves.
    torch.set_num_threads(1)
