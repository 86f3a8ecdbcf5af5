"""The page of the head that turns."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from transformer import Pipeline

ROOT = Path(__file__).parents[2]


def test_one_model_has_a_head_that_turns_and_the_other_has_not() -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    app.switch_page("pages/inside/turning.py").run()
    assert not app.exception
    assert not app.error
    shifts = [float(metric.value) for metric in app.metric if metric.label == "Shift on these two sentences"]
    assert len(shifts) == 2
    assert shifts[0] >= 0.9
    assert shifts[1] <= 0.2
    shown = " ".join(markdown.value for markdown in app.markdown)
    assert "“il”" in shown
    assert "“elle”" in shown


def test_the_numbers_are_those_of_the_cards() -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    app.switch_page("pages/inside/turning.py").run()
    shown = [metric.value for metric in app.metric if metric.label.startswith("Mean shift")]
    assert shown == [
        f"{Pipeline.load(name).card.measures['pronouns']['shift']:.3f}" for name in ("english-french", "english-french-static")
    ]
