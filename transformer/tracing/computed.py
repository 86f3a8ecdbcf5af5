"""A mapping whose values are computed when they are first read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

Value = TypeVar("Value")


class Computed(Mapping[str, Value]):
    """A mapping from each of `keys` to `compute(key)`. A value is computed when it is first read, and then kept."""

    def __init__(self, keys: Sequence[str], compute: Callable[[str], Value]) -> None:
        self._keys, self._compute, self._values = dict.fromkeys(keys), compute, {}

    def __getitem__(self, key: str) -> Value:
        if key not in self._keys:
            raise KeyError(key)
        if key not in self._values:
            self._values[key] = self._compute(key)
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys
