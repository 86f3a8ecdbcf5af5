"""A class on two replicas behind nginx keeps every view when one replica is killed."""

import pytest

from benchmarks.killed_replica import STEPS_AFTER, killed
from tests.deploy.needs import needs_nginx

SESSIONS = 16  # so many that hardly ever all of them are on one replica


@pytest.mark.slow
@needs_nginx
def test_visitors_of_a_killed_replica_continue_on_the_other_with_their_views() -> None:
    people = killed(SESSIONS)
    assert len({person.session.cookie for person in people}) == SESSIONS
    moved = [person for person in people if person.recovery]
    assert 0 < len(moved) < SESSIONS, "one replica had all the visitors"
    assert [person.recovery.lost for person in moved if person.recovery and person.recovery.lost] == []
    assert all(person.steps_after >= STEPS_AFTER for person in moved)
