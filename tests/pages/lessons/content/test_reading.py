"""Reading a lesson from a file or a link. Every value is checked, because lessons are untrusted input."""

import base64
import hashlib
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pages.lessons.content.lesson import TRUTHS, LessonError
from pages.lessons.content.library import lessons_in
from pages.lessons.content.packing import PACKED, pack, unpack
from pages.lessons.content.reading import as_table, as_toml, read_lesson, read_toml
from pages.ui.limits import LESSON_BYTES, LESSON_CHARACTERS, LESSON_LINK, LESSON_OPTIONS, LESSON_PARAMETERS, LESSON_STOPS
from pages.ui.prose import as_html, prose

FOLDER = Path(__file__).parents[4] / "assets" / "lessons"
SHIPPED = sorted(FOLDER.glob("*/*.toml"))
STOP: dict[str, Any] = {"title": "a", "say": "b", "page": "home"}
CHOOSE: dict[str, Any] = {"kind": "choose", "ask": "?", "options": ["a", "b"], "reasons": ["no", "yes"], "answer": 2}


def lesson(stop: dict[str, Any] | None = None, **values: Any) -> dict[str, Any]:
    return {"title": "t", "stops": [STOP | (stop or {})], **values}


def asked(**values: Any) -> dict[str, Any]:
    question = {name: value for name, value in (CHOOSE | values).items() if value is not None}
    return lesson({"question": question})


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_a_shipped_lesson_survives_a_file_and_a_table(file: Path) -> None:
    read = read_toml(file.read_bytes())
    assert len(read.stops) > 2
    assert read_toml(as_toml(read).encode()) == read
    assert read_lesson(json.loads(json.dumps(as_table(read)))) == read


def test_the_lesson_in_the_documentation_is_valid() -> None:
    recipe = (FOLDER.parents[1] / "docs" / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Add a lesson")[2]
    read = read_toml(recipe.partition("```toml\n")[2].partition("```")[0].encode())
    assert read.stops[0].question
    assert read.stops[0].question.truth


def test_the_quotations_in_the_documentation_are_in_the_lessons() -> None:
    def plain(words: str) -> str:
        return " ".join(re.sub("[*`]", "", words).split())

    lessons = plain(" ".join(file.read_text(encoding="utf-8") for file in SHIPPED))
    quoted = re.findall("“(.*?)”", (FOLDER.parents[1] / "docs" / "TEACHING.md").read_text(encoding="utf-8"))
    assert len(quoted) > 20
    assert [words for words in quoted if plain(words) not in lessons] == []


def test_each_of_the_twelve_questions_is_answered_at_the_stop_that_the_documentation_names() -> None:
    def plain(words: str) -> str:
        return " ".join(re.sub("[*`]", "", words).split())

    documentation = (FOLDER.parents[1] / "docs" / "TEACHING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]*) \| (\d) \| “(.*?)”", documentation.partition("## Misconceptions")[0], re.MULTILINE)
    assert len(rows) == 12
    stops = read_toml((FOLDER / "en" / "first-look.toml").read_bytes()).stops
    for question, number, sentence in rows:
        stop = stops[int(number) - 1]
        assert plain(sentence) in plain(f"{stop.say} {stop.reveal}"), question


def test_every_character_survives_a_file_and_a_link() -> None:
    text = "".join(map(chr, [*range(1, 300), 0x2028, 0x1F600])) + "\\ \"\"\" ''' \\n\nsecond line\n\n- x\r\ny"
    read = read_lesson(lesson({"say": f"a{text}z", "view": {"source": "<script>&\u202e"}}, about="\x7f é"))
    assert read_toml(as_toml(read).encode()).stops[0].view == read.stops[0].view
    assert unpack(pack(read)) == read


WRONG: list[tuple[Any, str]] = [
    ([], "The lesson is [] *; it must be a table"),
    ({"title": "t"}, "The lesson has 0 stops; allowed are 1 to"),
    (lesson(title=""), "title is empty"),
    (lesson(colour="red"), "The lesson has 'colour', which is not a name"),
    (lesson({"html": "<b>"}), "Stop 1 has 'html', which is not a name"),
    (lesson(stops=[STOP] * (LESSON_STOPS + 1)), f"has {LESSON_STOPS + 1} stops"),
    (lesson(stops=["x"]), "Stop 1 is 'x'; it must be a table"),
    (lesson({"say": "x" * (LESSON_CHARACTERS + 1)}), "say has 4,001 characters"),
    (lesson({"say": 5}), "say is 5; it must be a text"),
    (lesson({"say": "\ud800"}), "half of a surrogate pair"),
    (lesson({"minutes": -1}), "minutes is -1; it must be a number from 0"),
    (lesson({"minutes": float("nan")}), "minutes is nan"),
    (lesson({"minutes": True}), "minutes is True"),
    (lesson({"page": "../etc"}), "page is '../etc'; it must be the name of a page"),
    (lesson({"page": "//evil.example"}), "it must be the name of a page"),
    (lesson({"place": "a b"}), "place is 'a b'"),
    (lesson({"head": "best"}), "head is 'best'; allowed are turning, needed"),
    (lesson({"cover": "yes"}), "cover is 'yes'; it must be true or false"),
    (lesson({"pictures": ["film"]}), "pictures has 'film'; allowed are answers, probabilities, row, heads"),
    (lesson({"pictures": ["heads"]}), "Stop 1: the pictures row, heads and vectors need a row"),
    (lesson({"pictures": ["row"], "row": "a"}), "Stop 1: the pictures answers, probabilities and row need an edit"),
    (lesson({"pictures": ["trainings"]}), "Stop 1: the picture trainings needs a second model"),
    (lesson({"edit": "x" * 101}), "edit has 101 characters"),
    (lesson({"view": {"lesson": "x"}}), "has the parameter 'lesson', which a view cannot have"),
    (lesson({"view": {"a&b": "x"}}), "has the parameter 'a&b'"),
    (lesson({"view": {"source": ["x"]}}), "source is ['x']; it must be a text"),
    (lesson({"view": {"source": "x" * 5000}}), "source has 5,000 characters"),
    (lesson({"view": dict.fromkeys(map(chr, range(65, 65 + 26)), "") | dict.fromkeys("abcdefgh", "")}), "has 34 parameters"),
    (asked(kind="essay"), "kind is 'essay'; allowed are choose, tokens, order, number"),
    (asked(options=["a"]), "has fewer than two options"),
    (asked(options=["a", "a"]), "the same option twice"),
    (asked(options=["x"] * (LESSON_OPTIONS + 1)), "must be a list of up to"),
    (asked(options="ab"), "must be a list"),
    (asked(answer=None), "either an answer, the number of the right option, or a truth"),
    (asked(answer=3), "answer is 3; there are 2 options"),
    (asked(answer=1.0), "answer is 1.0; it must be a whole number"),
    (asked(reasons=["one"]), "needs one reason for each option"),
    (asked(truth={"name": "token-count", "side": "source"}, answer=None), "a truth can decide between two options"),
    ({"title": "a", "stops": [{"title": "a", "say": "b", "page": "home", "minutes": 10**400}]}, "must be a number from 0 to"),
    ({"title": "a", "stops": [{"title": "a", "say": "b", "page": "home", "minutes": float("nan")}]}, "minutes is nan"),
    (asked(kind="number", answer=None), "needs a truth that gives a number"),
    (asked(kind="tokens", truth={"name": "head-count"}), "needs a truth that gives a row"),
    (asked(kind="order", answer=1), "neither answer nor truth"),
    (asked(truth={"name": "import os"}, answer=None), "name is 'import os'; allowed are attention-weight"),
    (asked(truth={"name": "attention-row", "query": "a", "kind": "x"}, answer=None), "kind is 'x'; allowed are encoder"),
    (asked(truth={"name": "attention-row"}, answer=None), "query is missing; it must be a text"),
    (asked(truth={"name": "token-count", "side": "both"}, answer=None), "side is 'both'"),
    (asked(truth={"name": "head-count", "code": "1"}, answer=None), "has 'code', which is not a name"),
]


@pytest.mark.parametrize(("values", "sentence"), WRONG, ids=[sentence[:40] for _, sentence in WRONG])
def test_a_wrong_lesson_is_refused_with_a_sentence(values: Any, sentence: str) -> None:
    with pytest.raises(LessonError) as error:
        read_lesson(values)
    for part in sentence.split("*"):
        assert part.strip() in str(error.value)


def test_files_beyond_the_limits_or_without_toml_are_refused() -> None:
    assert LESSON_PARAMETERS < 34
    with pytest.raises(LessonError, match="bytes; a lesson may have up to"):
        read_toml(b" " * (LESSON_BYTES + 1))
    with pytest.raises(LessonError, match="has 60,000 dots; up to 1000 are allowed"):
        read_toml(b"title = 'a'\na" + b".a" * 60_000 + b" = 1")
    for data in (b"\xff", b"title = ", b"a = [" + b"[" * 5000):
        with pytest.raises(LessonError, match="not TOML in UTF-8"):
            read_toml(data)


def _packed(data: bytes) -> str:
    return PACKED + base64.urlsafe_b64encode(zlib.compress(data, 9)).decode().rstrip("=")


@pytest.mark.parametrize(
    "value",
    [
        PACKED,
        PACKED + "!!!",
        PACKED + "AAAA",
        PACKED + "a",
        PACKED + "é",
        _packed(b"[" * 100_000)[: LESSON_LINK // 2],
        _packed(b" " * 100_000_000)[:LESSON_LINK],
        _packed(b" " * (LESSON_BYTES + 1)),
        _packed(b"[" * 100_000),
        _packed(b"\xff"),
        _packed(b"{}")[:-3],
    ],
)
def test_a_damaged_link_is_refused(value: str) -> None:
    with pytest.raises(LessonError, match="cut off or damaged"):
        unpack(value)


def test_a_lesson_too_long_for_a_link_is_refused() -> None:
    # The text consists of digests, because they cannot be compressed well.
    words = "".join(hashlib.sha256(bytes([place])).hexdigest() for place in range(250))
    long = read_lesson(lesson(stops=[STOP | {"say": words[place : place + 4000]} for place in range(0, len(words), 4000)]))
    with pytest.raises(LessonError, match="characters in a link; up to 6,000 are allowed"):
        pack(long)
    with pytest.raises(LessonError, match="up to 6,000 are allowed"):
        unpack(PACKED + "A" * LESSON_LINK)


def test_a_question_about_every_truth_can_be_read() -> None:
    for name, form in TRUTHS.items():
        settings = dict.fromkeys(form.needs, "source")
        kind = {"number": "number", "row": "tokens", "yes or no": "choose", "option": "choose"}[form.gives]
        question = {"kind": kind, "ask": "?", "truth": {"name": name, **settings}}
        read = read_lesson(lesson({"question": question | ({"options": ["no", "yes"]} if kind == "choose" else {})}))
        assert read.stops[0].question
        assert read.stops[0].question.truth


# --- words -------------------------------------------------------------------------------------------------------------

HOSTILE = "<img src=x onerror=alert(1)> [a](http://evil.example) ![b](http://evil.example/x.png) <script>1</script> :smile: $x$"


def test_words_have_paragraphs_lists_and_three_styles() -> None:
    blocks = prose("One **two** *three* `<sos>`.\nsame\n\n- a\n- b\n  more\n\nlast")
    assert blocks == [
        ["p", {}, "One ", ["strong", {}, "two"], " ", ["em", {}, "three"], " ", ["code", {}, "<sos>"], ". same"],
        ["ul", {}, ["li", {}, "a"], ["li", {}, "b", " more"]],
        ["p", {}, "last"],
    ]


def test_everything_else_is_plain_text() -> None:
    assert prose(HOSTILE) == [["p", {}, HOSTILE]]
    html = str(as_html(f"{HOSTILE}\n\n- **{HOSTILE}**\n- b"))
    assert html.startswith("<p>&lt;img")
    for tag in ("<p>", "</p>", "<ul>", "</ul>", "<li>", "</li>", "<strong>", "</strong>"):
        assert html.count(tag) == (2 if "li" in tag else 1)
        html = html.replace(tag, "")
    assert "<" not in html


def test_a_shipped_lesson_beyond_the_limits_of_a_server_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    short = read_lesson(lesson())
    (tmp_path / "en").mkdir()
    for name, count in (("long", LESSON_STOPS), ("longer", LESSON_STOPS + 1)):
        (tmp_path / "en" / f"{name}.toml").write_text(as_toml(replace(short, stops=short.stops * count)), encoding="utf-8")
    assert [*lessons_in(tmp_path, "en")] == ["long"]
    assert f"longer.toml is left out: The lesson has {LESSON_STOPS + 1} stops; allowed are 1 to {LESSON_STOPS}." in caplog.text


def test_a_lesson_that_a_language_does_not_have_is_in_english(tmp_path: Path) -> None:
    first, second = sorted(FOLDER.glob("en/*.toml"))[:2]
    for name, title in (("en", "First"), ("fr", "La première")):
        (tmp_path / name).mkdir()
        written = re.sub(r"^title = .*$", f'title = "{title}"', first.read_text(), count=1, flags=re.MULTILINE)
        (tmp_path / name / first.name).write_text(written)
    (tmp_path / "en" / second.name).write_text(second.read_text())
    french, english = (lessons_in(tmp_path, name) for name in ("fr", "en"))
    assert (french[first.stem].title, english[first.stem].title) == ("La première", "First")
    assert french[second.stem] == english[second.stem]
