"""The tasks: small languages that the shipped models are trained on. To add a task, add a module to this folder; the code below
finds it.

Every class in a module of this folder that derives from `Task` and has no abstract methods is a task.
"""

import importlib
import inspect
import pkgutil

from transformer.errors import InputError
from transformer.tasks.task import Example, Pair, ReferencePair, Split, Task

__all__ = ["TASKS", "Example", "Pair", "ReferencePair", "Split", "Task", "find_task"]


def _tasks() -> dict[str, Task]:
    """One instance of every task of this package, by name, in alphabetical order."""
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    tasks: dict[str, Task] = {}
    for module in modules:
        for _, task_class in inspect.getmembers(module, inspect.isclass):
            defined_here = task_class.__module__ == module.__name__
            if not defined_here or not issubclass(task_class, Task) or inspect.isabstract(task_class):
                continue
            if task_class.name in tasks:
                raise TypeError(f"{task_class.__name__} and {type(tasks[task_class.name]).__name__} have the same name.")
            tasks[task_class.name] = task_class()
    return dict(sorted(tasks.items()))


TASKS: dict[str, Task] = _tasks()


def find_task(name: str) -> Task:
    """The task with this name, such as "reverse"; the keys of `TASKS` are all names.

    Raises:
        InputError: no task has this name.
    """
    if not isinstance(name, str) or name not in TASKS:
        raise InputError("There is no task called {name!r}; the tasks are {names}.", name=name, names=", ".join(TASKS))
    return TASKS[name]
