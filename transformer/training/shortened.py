"""Limit the length of the sources of a task, so that a training takes less time."""

import random
from typing import Any

from transformer.tasks import Pair, Task
from transformer.tasks.letters import LetterTask


def can_be_shortened(task: Task) -> bool:
    """Whether `shortened` can limit the length of a task's sources: True for tasks of letters, which sample all lengths equally
    often."""
    return isinstance(task, LetterTask)


def shortened(task: Task, longest: int) -> Task:
    """A task that samples sources of at most `longest` tokens, and is otherwise like the given task. It holds out the same
    sources.

    Args:
        task: a task for which `can_be_shortened` returns True.
        longest: from 1 to `task.longest`.
    """
    task_class: Any = type(task)

    class Shortened(task_class):
        accepts = f"1 to {longest} letters from a to z"

        def sample(self, rng: random.Random) -> Pair:
            while True:
                pair = super().sample(rng)
                if len(self.source_vocabulary.split(pair.source)) <= longest:
                    return pair

    Shortened.longest = longest
    return Shortened()
