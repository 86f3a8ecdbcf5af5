"""A task of letters with a limit on the length of its sources, so that a training takes less time."""

import random
from typing import Any

from transformer.tasks import Pair, Task
from transformer.tasks.letters import LetterTask


def can_be_shortened(task: Task) -> bool:
    """Whether all lengths of sources are sampled equally often. A limit on the length then does not change the task."""
    return isinstance(task, LetterTask)


def shortened(task: Task, longest: int) -> Task:
    """A task that samples sources of at most `longest` tokens, and is otherwise like the given task, with the same split.

    Args:
        task: one that `can_be_shortened`.
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
