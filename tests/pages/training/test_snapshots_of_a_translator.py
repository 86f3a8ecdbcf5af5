"""The film of a model whose first snapshot is not at step 0, and which opens on the head that the card names."""

import pytest

from pages.shell.view.runs import runs
from pages.training.frames import frames_of
from pages.ui.format import whole
from pages.ui.text import text
from tests.pages.apps import on_page, shown_errors
from transformer import Pipeline

PAGE = "pages/training/page.py"


@pytest.mark.slow
def test_the_film_opens_on_the_head_that_aligns_words_best() -> None:
    app = on_page(PAGE, model="everyday")
    assert shown_errors(app) == ""
    alignment = Pipeline.load("everyday").card.measures["alignment"]
    assert [app.session_state[name] for name in ("kind", "layer", "head")] == ["cross", alignment["layer"], alignment["head"]]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["everyday", "reverse"])
def test_the_film_says_its_steps_if_the_first_is_not_before_the_training(model: str) -> None:
    app, steps = on_page(PAGE, model=model), frames_of(model).steps
    assert runs().pipeline(model).card.recipe["steps"] == steps[-1]
    says = text("training")["film_steps"].format(steps="; ".join(map(whole, steps)), first=whole(steps[0]))
    assert any(says in caption.value for caption in app.caption) == (steps[0] > 0)


def test_the_film_says_from_which_step_sentences_were_shown_as_people_type_them() -> None:
    app = on_page(PAGE, model="everyday")
    (says,) = [caption.value for caption in app.caption if text("training")["film_translations"] in caption.value]
    recipe = Pipeline.load("everyday").card.recipe
    assert f"From step {recipe['hard_from']:,} on, {recipe['as_typed']:.0%} of the sentences" in says
