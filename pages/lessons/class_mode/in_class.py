"""What a lesson uses of its class. Where the server has no classes (`HEADLIGHT_CLASSES=0`), nothing else of class mode is
imported, and no session is in a class."""

from typing import TYPE_CHECKING

from pages.ui.limits import CLASSES

if CLASSES or TYPE_CHECKING:
    from pages.lessons.class_mode.seat import (
        advance,
        class_phase,
        class_stop,
        follow_class,
        linked_class,
        take_seat,
        teaches_class,
    )
else:

    def advance(_stop: int, _to: int) -> None:
        """Nothing: there is no class."""

    def class_phase(_stop: int) -> None:
        """None: there is no class."""

    def class_stop() -> int:
        """The first stop."""
        return 0

    def follow_class(_keep_problem: bool) -> str:
        """No lesson: an address cannot name a class."""
        return ""

    def linked_class() -> dict[str, str]:
        """No parameters."""
        return {}

    def take_seat() -> None:
        """Nothing: there is no class to leave."""

    def teaches_class() -> None:
        """None: there is no class."""


__all__ = ["CLASSES", "advance", "class_phase", "class_stop", "follow_class", "linked_class", "take_seat", "teaches_class"]
