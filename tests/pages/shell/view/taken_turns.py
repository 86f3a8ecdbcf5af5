"""Whether another run could have a turn."""

import threading

from pages.shell.view.turns import TURNS
from pages.ui.limits import RUNS
from tests.waiting import SECONDS


def any_turn_is_taken() -> bool:
    """Whether a turn is taken, so that another thread cannot take all turns at once."""
    taken: list[bool] = []

    def take() -> None:
        got = [TURNS.acquire(blocking=False) for _ in range(RUNS)]
        for _ in filter(None, got):
            TURNS.release()
        taken.append(not all(got))

    thread = threading.Thread(target=take)
    thread.start()
    thread.join(SECONDS)
    return taken[0]
