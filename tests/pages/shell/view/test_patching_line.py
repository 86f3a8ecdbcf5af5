"""Which patching gives up its turn."""

import pytest

from pages.shell.view import turns
from pages.shell.view.patched_runs import Choice, Runs, is_heavy
from pages.shell.view.view import View
from pages.ui.caches import cached
from tests.pages.shell.view.taken_turns import any_turn_is_taken
from transformer.pipeline.untrained import Untrained


def runs_of_words(count: int, layers: int) -> Runs:
    """Runs of an untrained model below the size of heavy models, on texts of so many words."""
    texts = ["a " * (count - 1) + last for last in "ab"]
    sizes = {"encoder_layers": layers, "decoder_layers": layers, "heads": 16, "d_model": 64, "d_ff": 64}
    key = Untrained.of("vanilla", texts, [texts[0]], sizes)
    clean, corrupt = (View("own-sizes", (source,), (texts[0],), key) for source in texts)
    return Runs(clean, corrupt)


@pytest.mark.slow
@pytest.mark.parametrize(("words", "layers", "gives_up"), [(60, 12, True), (3, 1, False)])
def test_only_long_work_gives_up_its_turn(words: int, layers: int, gives_up: bool) -> None:
    runs, turn_is_free = runs_of_words(words, layers), cached(lambda _: not any_turn_is_taken())
    assert not runs.clean.heavy
    with turns.turn():
        assert turns.computed("", turn_is_free, "a", heavy=is_heavy(runs, Choice())) is gives_up
