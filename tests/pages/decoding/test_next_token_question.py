"""Guessing the next token before its distribution is shown."""

from streamlit.testing.v1 import AppTest

from pages.decoding.answer_steps import Run
from pages.decoding.decoding_settings import PLAIN, generated
from pages.shell.view.runs import runs
from tests.pages.apps import charts, on_page, shown
from tests.pages.decoding.answers import player
from transformer.figures.decoding_figures import percent

PAGE = "pages/decoding/page.py"
QUERY = {"model": "reverse", "source": "abcd", "step": "2"}


def opened(**query: str) -> AppTest:
    app = on_page(PAGE, **QUERY, **query)
    assert not app.exception
    return app


def test_after_a_guess_the_page_shows_its_rank_and_probability() -> None:
    app = opened(predict="next:")
    assert not charts(app.main)
    # No player: only scripts that draw nothing.
    assert {component.key for component in app.main.get("bidi_component")} <= {"parts", "choice"}
    assert not any("dcba" in shown(markdown.value) for markdown in app.main.markdown)
    encoding = runs().encoding("reverse", "source", "abcd")
    run = Run(runs().pipeline("reverse"), encoding, generated("reverse", "abcd", PLAIN), PLAIN)
    own = run.own(run.chain[1])
    guess = int(own.argsort()[-3])
    app.selectbox(key="predict-answer-next").select(guess).run()
    assert app.query_params["predict"] == f"next:{guess}"
    (button,) = [button for button in app.main.button if button.label == "Show"]
    button.click().run()
    assert not app.exception
    (sentence,) = [shown(markdown.value) for markdown in app.markdown if " and rank **" in markdown.value]
    token, best = run.tokens_of([guess, int(own.argmax())])
    assert sentence.startswith(f"“{token}” has **{percent(own[guess])}** and rank **3** of {len(own)}.")
    assert f"“{best}”, with {percent(own.max())}" in sentence
    assert player(app)["step"] == 1
    (button,) = [button for button in app.main.button if button.label == "Guess the next one"]
    button.click().run()
    assert (app.query_params["step"], app.query_params["predict"]) == ("3", "next:")
