"""The page Lessons: the list, a lesson from a file, the sheet, the tests before and after, and the editor of own lessons."""

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.lessons.content.lesson import HEAD, Lesson, Question, Stop, Truth
from pages.lessons.content.library import OWN, shipped
from pages.lessons.content.packing import unpack
from pages.lessons.content.reading import VIEW_CHARACTERS, as_toml
from pages.lessons.content.stop_views import run_of
from pages.lessons.content.truths import head_of, truth_of
from pages.lessons.desk.before_after import FORMS, normalised_gain
from pages.lessons.desk.before_after import test_sheet as sheet_of_tests
from pages.lessons.desk.pictures import MOST_BARS, picture
from pages.lessons.desk.sheet import sheet
from pages.lessons.playing.keeping import KEPT
from pages.shell.models.own_models import OWN as OWN_MODELS
from pages.shell.view.runs import runs
from pages.ui.format import share
from pages.ui.limits import LESSON_STOPS, SENTENCES, TEXT_CHARACTERS
from pages.ui.prose import line_as_html, plain
from pages.ui.text import text
from tests.pages.apps import on_page, shown
from tests.pages.visitor import Visitor

PAGE, HOME, ATTENTION = "pages/lessons/page.py", "pages/home/page.py", "pages/attention/page.py"
WORDS = text("lessons")
TEACHING = Path(__file__).parents[3] / "docs" / "TEACHING.md"
CSS = Path(__file__).parents[3] / "pages" / "lessons" / "desk" / "sheet.css"
HOSTILE = "<img src=x onerror=alert(1)><script>1</script>"


def to_editor(app: AppTest) -> None:
    """Open Lessons and its part with the editor."""
    app.switch_page(PAGE).run()
    app.button_group(key="part").set_value("write").run()


def sheets(app: AppTest) -> list[str]:
    return [each.proto.body for each in app.get("html") if "lesson-sheet" in each.proto.body]


def test_every_shipped_lesson_is_listed_with_its_length() -> None:
    app = on_page(PAGE)
    assert list(shipped()) == [
        "first-look",
        "one-lesson-core",
        "one-lesson",
        "inside-one-head",
        "does-attention-explain",
        "writing-and-learning",
        "needed-or-enough",
    ]
    listed = " ".join(markdown.value for markdown in app.main.markdown)
    for name, lesson in shipped().items():
        assert shown(app.button(key=f"start {name}").label) == f"{WORDS['start']} :small[{lesson.title}]"
        assert (
            f"{len(lesson.stops)} stops, {len(lesson.questions)} questions, about {round(lesson.minutes)} minutes"
            in listed.replace("\\", "")
        )
    assert round(shipped()["first-look"].minutes) == 10
    assert len(shipped()["first-look"].stops) == 7
    assert round(shipped()["one-lesson-core"].minutes) == 45
    assert len(shipped()["one-lesson-core"].stops) == 6
    assert round(shipped()["one-lesson"].minutes) == 90
    assert all(stop.notes for stop in shipped()["one-lesson"].stops)


def test_the_sheet_has_words_questions_answers_and_notes() -> None:
    (first,) = sheets(on_page(PAGE, part="print", solutions="true", notes="true"))
    lesson = shipped()["first-look"]
    assert first.count("<section>") == first.count('class="question"') == first.count('class="solution"') == len(lesson.stops)
    assert first.count('class="notes"') == len(lesson.stops)
    assert "t, 43.4%" in first  # this number is computed, and not in the lesson's file
    bare = str(sheet(lesson, notes=False, solutions=False))
    assert not {"solution", "notes", "reveal"} & {*re.findall(r'class="(\w+)"', bare)}
    assert "@media print" in CSS.read_text(encoding="utf-8")


def test_the_sheet_of_the_teacher_has_a_time_table() -> None:
    lesson = shipped()["one-lesson"]
    printed = str(sheet(lesson, notes=True, solutions=False))
    rows = re.findall(r"<tr><td>([\d.]+)</td><td>([\d.]*)</td>", printed)
    assert rows[0] == ("0", f"{lesson.stops[0].minutes:g}")
    assert rows[-1] == ("90", "")
    assert printed.count("also in 45 minutes") == len(shipped()["one-lesson-core"].stops) == 6
    assert "also in" not in str(sheet(shipped()["one-lesson-core"], notes=True, solutions=False))
    assert "time-table" not in str(sheet(lesson, notes=False, solutions=False))


def test_the_letters_of_an_order_do_not_reveal_it() -> None:
    question = Question(kind="order", ask="?", options=("one", "two", "three", "four"))
    printed = str(sheet(Lesson(title="t", stops=(Stop(title="a", say="b", page="home", question=question),)), False, True))
    shown = re.findall(r"<li>[A-D]: (\w+)</li>", printed)
    assert sorted(shown) == sorted(question.options)
    assert shown != list(question.options)
    told = re.search(r"Answer: ([A-D ]+)<", printed)
    assert told
    assert [shown["ABCD".index(letter)] for letter in told[1].split()] == list(question.options)


def test_a_hostile_lesson_is_escaped_on_the_sheet() -> None:
    question = Question(kind="choose", ask=HOSTILE, options=(HOSTILE, "b"), reasons=(HOSTILE, ""), answer=1)
    stop = Stop(title=HOSTILE, say=HOSTILE, page="home", question=question, reveal=HOSTILE, notes=HOSTILE)
    printed = str(sheet(Lesson(title=HOSTILE, about=HOSTILE, audience=HOSTILE, stops=(stop,)), True, True))
    assert "<img" not in printed
    assert "<script" not in printed
    assert printed.count("&lt;img") == 11


def test_the_sheet_draws_each_stop_without_the_answer() -> None:
    lesson = shipped()["first-look"]
    asked, solved = (str(sheet(lesson, False, solutions, True)) for solutions in (False, True))
    assert asked.count("<figure>") == solved.count("<figure>") == len(lesson.stops)
    # Only the picture with solutions has the cells of the row of <sos>.
    row = truth_of(lesson.stops[2])
    assert row
    without, with_it = (str(picture(lesson.stops[2], solutions)) for solutions in (False, True))
    assert with_it.count("--dark") - without.count("--dark") == sum(round(10 * weight) > 0 for weight in row.row)
    assert "yours to fill in" in without
    assert f"puts {max(row.row):.2f} on t" in with_it
    # Without solutions, the probability that the question asks for is neither in the bars nor in their text.
    asks = Question(kind="number", ask="a", tolerance=0.1, truth=Truth(name="next-word-probability", query="<sos>"))
    guess = replace(lesson.stops[5], question=asks)
    guessed = truth_of(guess)
    assert guessed
    assert f"{guessed.number:.2f}" not in str(picture(guess, False))
    assert f"{guessed.number:.2f}" in str(picture(guess, True))
    number_of_tokens = shipped()["one-lesson"].stops[1]
    assert not picture(number_of_tokens, False)
    assert picture(number_of_tokens, True)
    # The vectors that a model adds for positions.
    places = Stop(title="a", say="b", page="positions", view=(("model", "reverse"), ("source", "abc")))
    drawn = str(picture(places, False))
    assert "0 &lt;sos&gt;" in drawn
    assert "white is −0.99, black is 1.00" in drawn  # the cosines of positions 3 and 0
    # Untrusted text is escaped in a drawing, too. A view that cannot be run has no drawing.
    view = (("model", "english-french"), ("source", f"the cat {HOSTILE}"))
    hostile = Stop(title="a", say="b", page="home", view=view)
    assert "onerror" not in re.sub("&lt;.*?&gt;", "", str(sheet(Lesson(title="t", stops=(hostile,)), False, False, True)))
    unknown = replace(hostile, page="attention", view=(("model", "reverse"), ("source", "abc"), ("layer", "99")))
    assert "<figure>" not in str(sheet(Lesson(title="t", stops=(unknown,)), False, False, True))


@pytest.mark.parametrize("name", ["inside-one-head", "does-attention-explain", "first-look", "one-lesson"])
def test_no_picture_of_a_sheet_has_a_row_that_one_of_its_stops_asks_about(name: str) -> None:
    """A class sees all pictures of its sheet at once, so a later picture would tell the answer, too."""
    stops, rows = shipped()[name].stops, dict[tuple[object, ...], set[str]]()
    for stop in stops:
        if stop.page == "attention" and stop.truth and stop.truth.form.may == HEAD and stop.truth.query:
            rows.setdefault((run_of(stop), head_of(stop)), set()).add(stop.truth.query)
    assert rows
    for stop in stops:
        if stop.page != "attention" or stop.asks == "edit-changes-answer":
            continue
        drawn, solved = (str(picture(stop, solutions, stops)) for solutions in (False, True))
        asked = rows.get((run_of(stop), head_of(stop)), set())
        assert drawn.count('class="empty"') == len(asked), stop.title
        assert 'class="empty"' not in solved
        assert ("yours to fill in" in drawn) == bool(asked)


def test_a_picture_is_drawn_once_and_at_the_step_of_the_view() -> None:
    """Stop 5 of “How it writes, how it learns” asks how probable the third token is; stops 1 and 2 have one picture."""
    lesson = shipped()["writing-and-learning"]
    asked, solved = (str(sheet(lesson, False, solutions, True)) for solutions in (False, True))
    assert asked.count(WORDS["pictures"]["same"].format(stop=1)) == 1
    assert asked.count('<td class="share">') == 3 * MOST_BARS  # of stops 1, 3 and 5
    assert "&lt;sos&gt; le chat." in asked
    bar = '<th>dort</th><td class="share">'
    assert (asked.count(bar), solved.count(bar)) == (0, 1)


def test_the_words_of_a_sheet_are_true_on_paper() -> None:
    """Paper has no colours and no frames around rows that are filled in, and nothing on it can be moved."""
    for lesson in shipped().values():
        words = " ".join(f"{stop.say} {stop.question.ask if stop.question else ''}" for stop in lesson.stops).lower()
        assert not re.findall(r"framed|\bblue\b|\bred\b|\borange\b|\bgrey\b|the slider stands", words), lesson.title


@pytest.mark.parametrize("form", FORMS)
def test_a_form_has_one_sound_item_for_each_question_of_the_documentation(form: str) -> None:
    items = text("lesson_tests")[form]
    table = TEACHING.read_text(encoding="utf-8").partition("## Misconceptions")[0]
    assert [item["about"] for item in items] == re.findall(r"^\| ([^|]*) \| \d \|", table, re.MULTILINE)
    assert len(items) == 12
    for item in items:
        assert len(item["options"]) == len({*item["options"]}) == 4
        assert 1 <= item["answer"] <= 4
        assert item["reason"]
    assert str(sheet_of_tests(form, solutions=True)).count('class="solution"') == 12
    assert "solution" not in str(sheet_of_tests(form, solutions=False))


@pytest.mark.parametrize("form", FORMS)
def test_neither_a_length_nor_a_letter_reveals_the_right_options(form: str) -> None:
    items = text("lesson_tests")[form]
    lengths = [[len(plain(option)) for option in item["options"]] for item in items]
    assert [item["about"] for item, each in zip(items, lengths, strict=True) if max(each) > 1.25 * min(each)] == []
    answers = [item["answer"] for item in items]
    right = [each[answer - 1] for each, answer in zip(lengths, answers, strict=True)]
    # An option that is as long as another one counts as the longest, too.
    assert sum(length == max(each) for length, each in zip(right, lengths, strict=True)) <= 4
    assert sum(length == min(each) for length, each in zip(right, lengths, strict=True)) <= 4
    assert all(2 <= answers.count(place) <= 4 for place in (1, 2, 3, 4))
    assert all(len({*answers[first : first + 3]}) > 1 for first in range(len(answers) - 2))


def test_the_two_forms_ask_in_other_words_and_with_other_letters() -> None:
    for first, second in zip(*(text("lesson_tests")[form] for form in FORMS), strict=True):
        assert first["about"] == second["about"]
        assert first["ask"] != second["ask"]
        assert first["answer"] != second["answer"]


def test_the_gain_is_the_share_of_the_greatest_possible_gain() -> None:
    assert normalised_gain(40, 70) == pytest.approx(0.5)
    assert normalised_gain(0, 100) == 1
    assert normalised_gain(50, 40) == pytest.approx(-0.2)
    app = on_page(PAGE, before="40", after="70")
    assert [(metric.label, metric.value) for metric in app.metric] == [(WORDS["gain"], "0.50")]
    assert not on_page(PAGE, before="100", after="100").metric
    (printed,) = sheets(on_page(PAGE, sheet="b"))  # the page has only one sheet, so only one is printed
    assert line_as_html(text("lesson_tests")["b"][0]["options"][2]) in printed


@pytest.mark.parametrize(
    ("query", "part"),
    [({}, "take"), ({"sheet": "a"}, "print"), ({"class_lesson": "first-look"}, "class"), ({"after": "5"}, "test")],
)
def test_a_link_opens_the_part_of_what_it_has(query: dict[str, str], part: str) -> None:
    assert on_page(PAGE, **query).button_group(key="part").value == part


@pytest.mark.slow
def test_views_become_a_lesson_that_can_be_played_saved_and_shared() -> None:
    app = on_page(ATTENTION, model="reverse", source="stream", kind="cross", layer="2")
    app.button(key="keep_view").click().run()
    app.switch_page(HOME).run()
    app.button(key="keep_view").click().run()
    to_editor(app)
    assert not app.exception
    app.text_input(key="own_lesson_title").set_value("Mine")
    app.text_area(key="own_stop_0_say").set_value("Look at <b>row</b> 1")
    app.button_group(key="own_stop_0_kind").set_value("choose").run()
    assert "put a * before the right option" in shown(app.warning[0].value)
    assert app.info[0].value == WORDS["own_open"].format(stops="1")
    assert app.text_area(key="own_stop_0_reveal")  # the other boxes stay
    app.text_input(key="own_stop_0_ask").set_value("Which?")
    app.text_area(key="own_stop_0_options").set_value("this\n*that")
    app.text_area(key="own_stop_0_reasons").set_value("no\nyes").run()
    assert not app.warning
    # The typed texts are still there after another page was open.
    app.switch_page(HOME).run()
    to_editor(app)
    assert app.text_area(key="own_stop_0_options").value == "this\n*that"
    app.button(key="own_stop_1_up").click().run()
    (link,) = [code.value for code in app.code]
    lesson = unpack(link.partition("lesson=")[2])
    assert [stop.page for stop in lesson.stops] == ["home", "attention"]
    assert dict(lesson.stops[1].view) | {"layer": "2"} == dict(lesson.stops[1].view)
    assert dict(lesson.stops[1].view)["source"] == "stream"
    question = lesson.stops[1].question
    assert question
    assert (question.options, question.answer) == (("this", "that"), 2)
    assert tomllib.loads(as_toml(lesson))["title"] == "Mine"
    for address, is_local in (("http://localhost:8501", True), ("https://school.example/headlight", False)):
        app.context["url"] = f"{address}/lessons"
        app.run()
        assert app.code[0].value.startswith(f"{address}/?lesson=")
        assert any("on this computer alone" in caption.value for caption in app.caption) is is_local
    app.button(key="play_own").click().run()
    assert not app.exception
    assert app.query_params["lesson"] in ("my-own", ["my-own"])
    app.button(key="own_stop_0_remove").click().run()
    assert len(unpack(app.code[0].value.partition("lesson=")[2]).stops) == 1
    app.button(key="own_put_back").click().run()
    assert unpack(app.code[0].value.partition("lesson=")[2]) == lesson  # the stop is back, with its texts and question
    assert "own_put_back" not in [button.key for button in app.button]


def test_the_longest_batch_is_kept_and_a_longer_parameter_gives_a_warning() -> None:
    batch = "\n".join(["a" * (TEXT_CHARACTERS - 1)] * (SENTENCES - 1))
    app = on_page("pages/masks/page.py", model="reverse", source="abc", batch=batch)
    app.button(key="keep_view").click().run()
    assert not app.exception
    assert dict(app.session_state[KEPT][0].stop.view)["batch"] == batch
    assert not any("Kept, but" in shown(warning.value) for warning in app.warning)
    app.query_params["long"] = "a" * (VIEW_CHARACTERS + 1)
    app.button(key="keep_view").click().run()
    assert "long" not in dict(app.session_state[KEPT][1].stop.view)
    assert dict(app.session_state[KEPT][1].stop.view)["batch"] == batch
    assert any("Kept, but without long" in shown(warning.value) for warning in app.warning)
    app.run()
    assert not any("Kept, but" in shown(warning.value) for warning in app.warning)


def own_model() -> None:
    from pages.shell.models.own_models import add_own
    from transformer import Pipeline

    add_own("my-model", Pipeline.load("reverse").to_bytes(), "trained here")


@pytest.mark.slow
def test_a_lesson_with_a_model_of_this_session_says_that_others_need_it() -> None:
    app = on_page(ATTENTION, model="reverse", source="abc")
    app.button(key="keep_view").click().run()
    app.session_state[OWN_MODELS] = AppTest.from_function(own_model).run().session_state[OWN_MODELS]
    app.run()
    app.query_params["model"] = "my-model"  # as the browser does
    app.sidebar.selectbox(key="model").set_value("my-model").run()
    app.button(key="keep_view").click().run()
    to_editor(app)
    assert WORDS["only_here"].format(stops="2") in [info.value for info in app.info]


@pytest.mark.slow
def test_the_editor_computes_answers_from_the_run_of_the_view() -> None:
    app = on_page(ATTENTION, model="reverse", source="cab", kind="cross", layer="2", head="1")
    app.button(key="keep_view").click().run()
    to_editor(app)
    app.button_group(key="own_stop_0_kind").set_value("tokens").run()
    app.text_input(key="own_stop_0_ask").set_value("Where?")
    app.selectbox(key="own_stop_0_query").set_value("b").run()
    row = runs().trace("reverse", ("cab",), (None,), ()).weights("cross", 1)[0, 0, 1]

    def question() -> Question:
        assert not app.exception
        (link,) = [code.value for code in app.code]
        asked = unpack(link.partition("lesson=")[2]).stops[0].question
        assert asked
        return asked

    assert question().truth == Truth(name="attention-row", query="b")
    said = [shown(caption.value) for caption in app.caption if "Computed from the run" in caption.value]
    assert f"Answer: a, {share(float(row.max()), 1)}" in said[0]
    app.button_group(key="own_stop_0_kind").set_value("number").run()
    app.selectbox(key="own_stop_0_key").set_value("a")
    app.number_input(key="own_stop_0_tolerance").set_value(0.1).run()
    assert question().truth == Truth(name="attention-weight", query="b", key="a")
    assert question().tolerance == 0.1
    for name in ("token-count", "head-width", "next-word-probability"):
        app.selectbox(key="own_stop_0_truth").set_value(name).run()
        truth = question().truth
        assert truth
        assert truth.name == name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "kind", "truth", "told"),
    [
        ("attention", "silence", "silence-changes-answer", "The answer stays "),
        ("masks", "mask", "mask-row", "Answer: <sos>"),
        ("positions", "alike", "most-alike-position", "Answer: 1 · c"),
        ("decoding", "next", "next-token", "After <sos>: b "),
    ],
)
def test_the_editor_offers_the_questions_of_each_page(page: str, kind: str, truth: str, told: str) -> None:
    app = on_page(f"pages/{page}/page.py", model="reverse", source="cab")
    app.button(key="keep_view").click().run()
    to_editor(app)
    offered = app.button_group(key="own_stop_0_kind").options
    assert all((WORDS["questions"][other] in offered) == (other == kind) for other in ("silence", "mask", "alike"))
    app.button_group(key="own_stop_0_kind").set_value(kind).run()
    app.text_input(key="own_stop_0_ask").set_value("What do you expect?").run()
    assert not app.exception
    assert not app.warning
    (link,) = [code.value for code in app.code]
    (stop,) = unpack(link.partition("lesson=")[2]).stops
    assert stop.question
    assert stop.question.truth
    assert stop.question.truth.name == truth
    assert truth_of(stop)
    assert any(told in shown(caption.value) for caption in app.caption)
    drawn = str(picture(stop, solutions=False))
    assert bool(drawn) == (page != "masks")  # the picture of Masks would reveal the answer
    assert (WORDS["pictures"]["empty_bars"] in drawn) == (page == "decoding")


def test_the_copy_in_the_tab_restores_the_kept_views_after_a_reload() -> None:
    app = on_page(ATTENTION, model="reverse", source="stream", kind="cross", present="1")
    app.button(key="keep_view").click().run()
    to_editor(app)
    app.text_area(key="own_stop_0_say").set_value("Words").run()
    copy = sent(app)
    assert json.loads(copy)["views"][0]["fields"]["say"] == "Words"
    assert "present" not in json.loads(copy)["views"][0]["view"]
    # As after a reload: a new session has no views, and the browser sends the copy.
    again = AppTest.from_function(taken)
    hostile = [
        "",
        "5",
        "[",
        "[" * 100_000,
        '{"views": 5}',
        '{"views": [5, {"page": "../x"}, {"page": "nowhere"}]}',
        "x" * 10**6,
    ]
    for value in hostile:
        again.session_state["sent"] = value
        assert again.run().session_state["pages"] == []
    again.session_state["sent"] = copy
    assert again.run().session_state["pages"] == [("attention", "Words")]
    many = json.loads(copy)["views"] * (LESSON_STOPS + 1)
    again.session_state["sent"] = json.dumps({"views": many})
    assert len(again.run().session_state["pages"]) == LESSON_STOPS


def taken() -> None:
    import streamlit as st

    from pages.lessons.playing.keeping import kept, restore

    restore(st.session_state["sent"])
    st.session_state["pages"] = [(each.stop.page, each.fields["say"]) for each in kept()]


def sent(app: AppTest) -> str:
    """The copy that is stored in the tab."""
    stored = [json.loads(each.proto.json) for each in app.get("bidi_component") if '"recalled"' in each.proto.json]
    return next(data["text"] for data in stored if data["name"] == "kept_views")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["first-look", "one-lesson"])
def test_a_lesson_is_opened_changed_and_stays_whole(name: str) -> None:
    lesson = shipped()[name]
    app = on_page(PAGE, part="write")
    app.selectbox(key="own_take").set_value(name).run()
    app.button(key="own_take_stops").click().run()
    assert not app.exception
    opened = played(app)
    assert replace(opened, stops=(), order=lesson.order) == replace(lesson, stops=())
    for stop, given in zip(opened.stops, lesson.stops, strict=True):
        for part in Stop.__dataclass_fields__:
            assert getattr(stop, part) == getattr(given, part)
    app.text_input(key="own_stop_0_title").set_value("Changed").run()
    assert played(app).stops == (replace(lesson.stops[0], title="Changed"), *lesson.stops[1:])
    # A reload of the page keeps all of it.
    again = AppTest.from_function(taken_stops)
    again.session_state["sent"] = sent(app)
    assert again.run().session_state["stops"] == list(lesson.stops)
    app.button(key="own_stop_2_preview").click().run()
    assert app.query_params["lesson"] in ("my-own", ["my-own"])
    assert not app.exception


def taken_stops() -> None:
    import streamlit as st

    from pages.lessons.playing.keeping import kept, restore

    restore(st.session_state["sent"])
    st.session_state["stops"] = [each.stop for each in kept()]


def played(app: AppTest) -> Lesson:
    """The lesson of the editor, as it is played."""
    app.button(key="play_own").click().run()
    assert not app.exception
    lesson = app.session_state[OWN]["my-own"]
    assert isinstance(lesson, Lesson)
    return lesson


def test_a_lesson_from_a_file_is_listed_and_a_wrong_one_is_explained() -> None:
    lesson = Lesson(title=HOSTILE, stops=(Stop(title="a", say="b", page="home"),))
    app = on_page(PAGE)
    app.get("file_uploader")[0].upload("mine.toml", as_toml(lesson).encode(), "application/toml").run()
    assert not app.exception
    assert not app.error
    assert app.button(key="start my-mine")
    app.get("file_uploader")[0].upload("wrong.toml", b"title = 5", "application/toml").run()
    assert "title is 5; it must be a text" in app.error[0].value.replace("\\", "")


@pytest.mark.slow
@pytest.mark.browser
def test_nothing_is_printed_after_the_sheet(visitor: Visitor) -> None:
    """Empty space below the sheet could fill another page of paper."""
    page = visitor.open("lessons?sheet=pre", whole=True)
    page.emulate_media(media="print")
    end = page.locator(".lesson-sheet").evaluate("sheet => sheet.getBoundingClientRect().bottom")
    assert abs(page.evaluate("document.querySelector('.stApp').scrollHeight") - end) < 20
    page.emulate_media(media="screen")
