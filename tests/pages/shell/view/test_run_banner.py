"""Warnings and errors on pages: untrained models, unknown tokens, long batches, unreadable texts."""

import pytest
from streamlit.testing.v1 import AppTest

from benchmarks.app_server import ROOT
from pages.shell.frame.navigation import page_files
from pages.shell.view.answer_line import shaded
from pages.shell.view.view import View
from pages.ui.format import whole
from pages.ui.limits import SENTENCES
from pages.ui.text import text
from tests.pages.apps import HOME, notes, on_page, shown, shown_errors
from tests.pages.visitor import Visitor
from transformer import Vocabulary
from transformer.pipeline import pipeline as pipelines
from transformer.pipeline.answer import Answer
from transformer.training.recipe import RECIPES

ATTENTION = "pages/attention/page.py"
# Pages that draw the run of the sidebar.
READING = [str(file.relative_to(ROOT)) for file in page_files() if file.parent.name != "lessons"]


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("page", READING)
def test_every_page_marks_an_untrained_model(page: str) -> None:
    app = on_page(page, model="own-sizes")
    assert not shown_errors(app)
    assert any("untrained" in markdown.value for markdown in app.main.markdown)
    app = on_page(page, model="reverse")
    assert not any(":orange-badge" in markdown.value for markdown in app.main.markdown)


@pytest.mark.parametrize(("step", "name"), [(0, "not_begun"), (316, "unfinished"), (4000, "")])
def test_a_model_whose_training_was_not_finished_says_so(step: int, name: str) -> None:
    words = text("common")
    app = on_page(HOME, model=f"reverse@{step:06d}" if step < 4000 else "reverse", source="abc")
    notes = {each: words[each].format(step=step, steps="4,000") for each in ("not_begun", "unfinished")}
    shown_notes = {each for each, says in notes.items() if says in [markdown.value for markdown in app.main.markdown]}
    assert shown_notes == {name} - {""}


def test_a_snapshot_that_is_older_than_the_last_steps_of_its_recipe_names_all_steps() -> None:
    app = on_page(HOME, model="everyday@000300", source="I see.")
    steps = whole(RECIPES["everyday"].steps)
    assert text("common")["unfinished"].format(step=300, steps=steps) in [markdown.value for markdown in app.main.markdown]
    assert f"everyday after 300 of {steps} steps" in shown(app.sidebar.caption[0].value)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["map", "lines", "pattern", "steps", "combined", "what-if"])
@pytest.mark.parametrize("source", ["the cat", "1 5 0"])
def test_every_part_of_attention_works_on_an_untrained_model_and_a_batch(part: str, source: str) -> None:
    for kind in ("encoder", "cross"):
        app = on_page(ATTENTION, model="own-sizes", source=source, batch="7 7", part=part, kind=kind, edits="no positions")
        assert not shown_errors(app)


def test_unknown_tokens_give_one_note_for_each_side_that_names_the_first_tokens() -> None:
    app = on_page(ATTENTION, model="reverse", source="a1b2c3d4e5f6", target="7")
    first, second = notes(app)
    assert all(f"The source has “{token}”" in first for token in "1234")
    assert "“5”" not in first
    assert "And 2 more." in first
    assert first.count("It was trained on source texts of this kind: 1 to 12 letters from a to z.") == 1
    assert "The target has “7”" in second
    assert "It was trained on targets that answer source texts of this kind: 1 to 12 letters from a to z." in second


@pytest.mark.parametrize("page", ["pages/masks/page.py", "pages/tokens/page.py", "pages/layers/page.py"])
def test_notes_about_a_batch_name_their_text(page: str) -> None:
    letters = "abcdefghijklmn"
    app = on_page(page, model="reverse", source="ab", batch=f"c1\n{letters}", batch_targets="c\nd2")
    assert [note.partition(",")[0].partition(".")[0] for note in notes(app)] == [
        "The source of text 2 has “1”",
        "The target of text 3 has “2”",
        f"Text 3 has {len(letters)} tokens",
    ]
    (long,) = (shown(line.value) for line in app.main.markdown if line.value.startswith(f"**{letters}** → "))
    assert f"the rule that made the training pairs answers **{letters[::-1]}**" in long
    alone = notes(on_page(page, model="reverse", source=f"1{letters}"))
    assert alone[0].startswith("The source has “1”")
    assert alone[1].startswith(f"This text has {len(letters) + 1} tokens")


def test_invalid_batch_leaves_the_first_text_alone() -> None:
    app = AppTest.from_file(ROOT / "app.py", default_timeout=60)
    for name, value in {"model": "reverse", "source": "abc", "batch": "a\nb\nc\nd"}.items():
        app.query_params[name] = value
    app.run()
    for page in ("pages/home/page.py", ATTENTION, "pages/masks/page.py"):
        app.switch_page(page).run()
        assert not shown_errors(app)
        (warned,) = notes(app)
        assert warned.startswith(f"There are 4 further source texts; up to {SENTENCES - 1} can be read together")
        assert ", one on each line. Until then, the first text is shown alone." in warned
        assert any("cba" in line.value for line in app.markdown)


def test_invalid_size_is_explained_and_the_tour_links_stay() -> None:
    app = on_page(ATTENTION, model="own-sizes", n_heads="3")
    assert "d_model is 64; it must be a multiple of heads, which is 3" in shown_errors(app)
    assert len(app.get("page_link")) >= 1


@pytest.mark.parametrize("source", ["", "   "])
def test_an_empty_source_is_explained_and_an_example_offered(source: str) -> None:
    app = on_page(ATTENTION, model="reverse", source=source)
    assert not shown_errors(app)
    assert notes(app) == ["There is nothing to read in your text; type 1 to 12 letters from a to z."]
    example = app.button(key="open_example").click().run()
    assert not notes(example)
    assert pictures(example)


@pytest.mark.slow
@pytest.mark.parametrize("query", [{"d_model": "1024"}, {"source": "-5"}], ids=["not built yet", "no such id"])
def test_what_an_untrained_model_cannot_read_is_said_once_and_an_example_offered(query: dict[str, str]) -> None:
    app = on_page(ATTENTION, **{"model": "own-sizes", "source": " "} | query)
    assert len(notes(app)) + len(app.error) == 1
    app.button(key="open_example").click().run()
    assert pictures(app)
    assert not app.error


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        (("silence cross layer 99",), "The decoder has no layer 99; allowed are 1 to 2."),
        (
            ("no positions", "silence cross layer 99"),
            "In “silence cross layer 99”: The decoder has no layer 99; allowed are 1 to 2.",
        ),
    ],
)
def test_error_names_the_wrong_edit(edits: tuple[str, ...], expected: str) -> None:
    app = on_page(ATTENTION, model="reverse", part="what-if", edits=edits)
    assert shown_errors(app) == expected


@pytest.mark.slow
@pytest.mark.browser
def test_typed_addresses_are_not_links(visitor: Visitor) -> None:
    page = visitor.open(
        "tokens?source=http%3A%2F%2Fa.example+HTTPS%3A%2F%2Fb.example+WWW.c.example+d%40e.example&target=www.f.example"
    )
    assert page.get_by_text("a.example").count() > 0
    assert page.locator('a[href*="example"]').count() == 0


def pictures(app: AppTest) -> list[str]:
    """The ids of all components in the main part of the page, without scripts that draw nothing."""
    return [element.proto.id for element in app.main.get("bidi_component") if element.key != "choice"]


def answered(app: AppTest, answer: str) -> bool:
    """Whether the banner names an answer, or, on the page Training, the caption of its film."""
    return any(answer in element.value for element in [*app.main.markdown, *app.main.caption])


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("page", READING)
def test_unreadable_text_keeps_the_last_figures(page: str) -> None:
    app = on_page(page, model="reverse", source="abc")
    before = pictures(app)
    assert before
    app.text_area(key="source").set_value(" ").run()
    assert not shown_errors(app)
    (note,) = notes(app)
    assert note.startswith("There is nothing to read in your text; type 1 to 12 letters from a to z.")
    assert note.endswith("the page shows the last text that could be read.")
    assert pictures(app) == before
    assert answered(app, "cba")
    app.text_area(key="source").set_value("abd").run()
    assert not shown_errors(app)
    assert not notes(app)
    assert answered(app, "dba")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "wrong", "says"),
    [
        ("own-sizes", "-5", "There is no token id '-5' here; allowed are 0 to 999."),
        ("shared_heads", "1 " * 80, "Your text has 80 ids"),
        ("own-sizes", " ", "There is nothing to read in your text"),
    ],
)
def test_unreadable_text_of_an_untrained_model_is_said_beside_its_box(model: str, wrong: str, says: str) -> None:
    app = on_page(ATTENTION, model=model, source="1 2 3")
    before = pictures(app)
    app.text_area(key="source").set_value(wrong).run()
    assert not shown_errors(app)
    assert pictures(app) == before
    (note,) = notes(app)
    assert note.startswith(says)
    assert any("the last text read" in line.value for line in app.main.markdown)


def test_an_unreadable_target_leaves_the_last_run_and_its_line_says_so() -> None:
    app = on_page(ATTENTION, model="english-french", source="the cat is tired")
    assert not any("the last text read" in line.value for line in app.main.markdown)
    app.sidebar.text_input(key="target").set_value("le " * 80).run()
    assert not shown_errors(app)
    assert any("the last text read" in line.value for line in app.main.markdown)


def test_what_cannot_be_read_comes_before_other_notes() -> None:
    app = on_page(
        "pages/masks/page.py", model="english-french", source="the zorglub is tired", batch="the flub\n" + "the " * 80
    )
    first, *others = notes(app)
    assert first.startswith("Text 3 cannot be read. Your text has 80 words")
    assert ["zorglub" in other for other in others] == [True, False]
    assert sum("It was trained on source texts of this kind" in note for note in notes(app)) == 1


def test_unreadable_text_on_a_first_visit_shows_examples_but_no_figure() -> None:
    app = on_page("pages/home/page.py", model="reverse", source=" ")
    assert "nothing to read" in notes(app)[0]
    assert len(pictures(app)) == 2  # examples and the tour, no map
    app.switch_page(ATTENTION).run()
    assert "nothing to read" in notes(app)[0]
    assert pictures(app) == []


def test_each_text_is_split_and_answered_once_in_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    decoded: list[int] = []
    split, decode = Vocabulary.split, pipelines.greedy
    monkeypatch.setattr(Vocabulary, "split", lambda self, given: texts.append(given) or split(self, given))
    monkeypatch.setattr(pipelines, "greedy", lambda *given: decoded.append(1) or decode(*given))
    app = on_page(ATTENTION, model="english-french", source="the dog sees the cat")
    texts.clear()
    decoded.clear()
    app.text_area(key="source").set_value("the woman sees the dog")
    app.sidebar.text_input(key="target").set_value("le chat voit").run()
    assert not shown_errors(app)
    assert sorted(texts) == ["le chat voit", "the woman sees the dog"]
    assert len(decoded) == 1


@pytest.mark.parametrize(
    ("model", "source", "remark"),
    [
        ("addition", "1000+1=", "“1000” is too large: numbers up to 999 were in training."),
        ("dates", "31 april 2001", "31 April 2001 does not exist: that month has 30 days."),
        ("english-french", "the cat the dog", "No sentence in training had “the” after “the cat” in this way"),
    ],
)
def test_a_text_unlike_any_in_training_gets_a_note(model: str, source: str, remark: str) -> None:
    app = on_page(ATTENTION, model=model, source=source)
    assert not app.exception
    assert any(remark in note for note in notes(app))


def test_a_text_like_those_in_training_gets_no_note() -> None:
    for model, source in (("addition", "417+85"), ("dates", "14-7-98"), ("sort", "hahahaha"), ("english-french", "i see it .")):
        app = on_page(ATTENTION, model=model, source=source)
        assert not app.exception
        assert not notes(app)


def test_an_unknown_name_and_another_unknown_word_get_one_note_each() -> None:
    (note,) = notes(on_page("pages/home/page.py", model="english-french", source="my name is zorblax"))
    assert "Where a name may stand, the model was trained to copy such a word." in note
    (note,) = notes(on_page("pages/home/page.py", model="english-french", source="the zorblax is big"))
    assert "“zorblax”, which this model does not know" in note


def test_a_wrong_answer_is_shown_with_the_right_one() -> None:
    for model, wrong in (("reverse", False), ("reverse@000168", True)):
        app = on_page(ATTENTION, model=model, source="abcdefgh")
        answer = next(shown(markdown.value) for markdown in app.main.markdown if "→ **" in markdown.value)
        assert answer.startswith("→ **hgfedcba**") is not wrong
        assert (text("common")["wrong"].format(right="hgfedcba") in answer) is wrong


def test_an_uncertain_answer_is_marked() -> None:
    def said(model: str) -> list[str]:
        return [m.value for m in on_page(ATTENTION, model=model, source="abc").main.markdown if "not sure:" in m.value]

    assert not said("reverse")
    assert len(said("reverse@000168")) == 1


@pytest.mark.slow
def test_the_mark_of_doubt_shades_unsure_words_also_beside_a_typed_target() -> None:
    """“The shop opens at nine.” becomes a shop that is ninety years old."""
    for texts in ({}, {"target": "Le magasin ouvre à neuf heures."}):
        app = on_page(ATTENTION, model="everyday", source="The shop opens at nine.", **texts)
        (says,) = [m for m in app.main.markdown if "the model is unsure here" in m.value]
        assert ":orange-background[" in says.value
        assert "chrF" in says.proto.help
    sure = on_page(ATTENTION, model="everyday", source="Where is the station?")
    assert not any("unsure" in m.value or ":orange-background[" in m.value for m in sure.main.markdown)


def test_words_with_a_piece_of_less_than_half_are_shaded() -> None:
    view = View("everyday", ("Hi.",), (None,), "everyday")
    tokens = ("▁B", "on", "jour", "▁tout", "▁le", "▁monde", ".")
    chances = (-0.1, -0.9, -0.1, -0.1, -0.1, -0.8, -0.1, -0.1)  # the last is that of `<eos>`
    answer = Answer("Bonjour tout le monde.", tokens, True, log_probabilities=chances)
    assert shaded(view, answer) == r":orange-background[Bonjour] tout le :orange-background[monde]\."
    # Two pieces that are one letter only together are no text alone, so no word is shaded.
    split = Answer("é", ("<0xC3>", "<0xA9>"), True, log_probabilities=(-2.0, -0.1, -0.1))
    assert shaded(view, split) in ("é", ":orange-background[é]")
