"""A second language: a folder with a few sentences changes texts but not links. Other sentences stay English."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from pages.shell.error_boundary import sentence
from pages.shell.frame.navigation import page_files
from pages.shell.models.model_texts import accepts, description
from pages.ui import text as texts
from pages.ui.term_links import linked, names_of
from pages.ui.text import default_language, figure_labels, languages, merged, text
from tests.pages.apps import HOME, charts, notes, on_page
from transformer import InputError, Pipeline
from transformer.figures.labels import LABELS
from transformer.pipeline.untrained import ACCEPTS
from transformer.tasks import find_task
from transformer.training.recipe import RECIPES

ROOT = Path(__file__).parents[3]
ENGLISH = ROOT / "assets" / "text" / "en"
ATTENTION = "pages/attention/page.py"
TRANSLATION = {
    "common": 'language = "Deutsch"\n[tour]\nnext = "Weiter: {title}"',
    "home": 'sentence = "Ein ganzes Modell."\ncounts = ["null"]',
    "sidebar": 'source = "Eingabe"\n[[untrained_examples]]\nlook_for = "zu wenige"',
    "choices": '[kind]\nencoder = "Kodierer"\n[part]\nlines = "Linien"',
    "models": '[copy]\ndescription = "Buchstaben hinein, dieselben heraus"\naccepts = "1 bis 12 Buchstaben"',
    "examples": '[copy]\n"q" = "Ein Buchstabe."',
    "figures": 'query_axis = "Anfrage"',
    "errors": """
"There is nothing to read in your text; type {accepts}." = "Ihr Text ist leer; schreiben Sie {accepts}."
"Your text has {count} words; this model reads up to {most}." = "{nonsense}"
""",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the English texts and an unfinished translation."""
    (tmp_path / "en").symlink_to(ENGLISH)
    (tmp_path / "de").mkdir()
    for page, content in TRANSLATION.items():
        (tmp_path / "de" / f"{page}.toml").write_text(content, encoding="utf-8")
    monkeypatch.setattr(texts, "FOLDER", tmp_path)
    return tmp_path


@pytest.fixture
def german(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the server's language to German."""
    monkeypatch.setenv(texts.VARIABLE, "de")


# --- a text ------------------------------------------------------------------------------------------------------------


def test_merged_replaces_english_texts_by_their_translations() -> None:
    english = {
        "a": "one",
        "b": "two",
        "table": {"c": "three", "d": "four"},
        "pair": ["x", "y"],
        "rows": [{"e": "five", "f": "six"}],
    }
    translation = {
        "a": "eins",
        "table": {"d": "vier"},
        "pair": ["z"],
        "rows": [{"f": "sechs"}],
        "more": "mehr",
        "b": ["no text"],
    }
    assert merged(english, translation) == {
        "a": "eins",
        "b": "two",
        "table": {"c": "three", "d": "vier"},
        "pair": ["x", "y"],
        "rows": [{"e": "five", "f": "sechs"}],
        "more": "mehr",
    }
    assert merged(["x", "y"], ["v", "w"]) == ["v", "w"]


@pytest.mark.usefixtures("german")
def test_missing_translations_are_english() -> None:
    english = tomllib.loads((ENGLISH / "home.toml").read_text(encoding="utf-8"))
    names = names_of(*(term.lower() for term in text("glossary")["terms"]))
    assert text("home") == linked({**english, "sentence": "Ein ganzes Modell."}, names)
    assert text("masks") == linked(tomllib.loads((ENGLISH / "masks.toml").read_text(encoding="utf-8")), names)
    assert figure_labels() == {**LABELS, "query_axis": "Anfrage"}
    with pytest.raises(FileNotFoundError):
        text("no such page")


@pytest.mark.usefixtures("german")
def test_texts_are_read_once_and_shared() -> None:
    assert text("home") is text("home")
    assert figure_labels() is figure_labels()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["fr", "", "../en", "/", "."])
def test_server_language_without_a_folder_is_english(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(texts.VARIABLE, name)
    assert default_language() == "en"


@pytest.mark.usefixtures("german")
def test_languages_have_their_own_names() -> None:
    assert languages() == {"de": "Deutsch", "en": "English"}


def test_english_texts_of_models_are_the_texts_of_their_recipes() -> None:
    """Descriptions do not come from the files of the models: the file of a model trained earlier can have a shorter text. Three
    recipes tell what a visitor is to find out, so these have another text, and a shorter one on what they read."""
    told = {name for name, recipe in RECIPES.items() if recipe.turning or recipe.stillness}
    assert text("models").keys() == {"untrained", "everyday", *told}
    assert text("models")["everyday"].keys() == {"limits"}
    assert all(text("models")[model].keys() == {"description", "accepts"} for model in told)
    for name, recipe in RECIPES.items():
        assert (description(name) == recipe.description) == (name not in told)
        assert (accepts(name) == Pipeline.load(name).card.accepts) == (name not in told)
    assert accepts("vanilla") == ACCEPTS


def test_model_without_a_text_uses_the_text_of_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "en").mkdir()
    monkeypatch.setattr(texts, "FOLDER", tmp_path)
    card = Pipeline.load("sort").card
    assert (description("sort"), accepts("sort"), accepts("own-sizes")) == (card.description, card.accepts, ACCEPTS)


# --- in the app --------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("folder")
def test_language_of_a_link_is_kept_across_pages() -> None:
    app = on_page(HOME, language="de", model="copy", source="q")
    assert "Ein ganzes Modell." in [markdown.value for markdown in app.main.markdown]
    assert app.text_area(key="source").label == "Eingabe"
    assert app.sidebar.text_input(key="target").label == text("sidebar")["target"]  # missing in the translation
    assert "Buchstaben hinein, dieselben heraus" in app.sidebar.caption[0].value
    assert "1 bis 12 Buchstaben" in app.text_area(key="source").help
    app.switch_page(ATTENTION).run()
    assert [info.value for info in app.sidebar.info] == ["Ein Buchstabe."]
    assert app.query_params["language"] == "de"
    assert app.sidebar.selectbox(key="language").value == "de"
    assert not app.exception


@pytest.mark.usefixtures("folder")
def test_language_picker_changes_labels_but_not_the_link() -> None:
    app = on_page(ATTENTION, model="copy", source="abc", target="ab", kind="encoder", head="2", part="lines")
    before = dict(app.query_params)
    choices = {group.key: list(group.options) for group in app.main.button_group}
    app.sidebar.selectbox(key="language").set_value("de").run()
    assert not app.exception
    assert dict(app.query_params) == {**before, "language": "de"}
    translated = {group.key: list(group.options) for group in app.main.button_group}
    assert choices["kind"][0] == "encoder"
    assert translated["kind"] == ["Kodierer", *choices["kind"][1:]]
    assert {name: app.session_state[name] for name in ("kind", "head", "source", "target", "model")} == {
        "kind": "encoder",
        "head": 2,
        "source": "abc",
        "target": "ab",
        "model": "copy",
    }
    app.sidebar.selectbox(key="language").set_value("en").run()
    assert dict(app.query_params) == before
    assert {group.key: list(group.options) for group in app.main.button_group} == choices


@pytest.mark.usefixtures("german")
def test_server_language_is_not_in_links() -> None:
    app = on_page(HOME, model="copy")
    assert app.text_area(key="source").label == "Eingabe"
    assert "language" not in app.query_params
    app = on_page(HOME, model="copy", language="en")
    assert app.text_area(key="source").label == "Source text"
    assert app.query_params["language"] == "en"
    links = [each.proto.json for each in app.main.get("bidi_component") if '"links"' in each.proto.json]
    assert links
    assert all('"language": "en"' in link or '"language":"en"' in link for link in links)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["fr", "..", "", "../de"])
def test_unknown_languages_are_ignored(name: str) -> None:
    app = on_page(HOME, language=name)
    assert app.text_area(key="source").label == "Source text"
    assert not app.exception
    assert "language" not in app.query_params


def test_single_language_has_no_picker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "en").symlink_to(ENGLISH)
    monkeypatch.setattr(texts, "FOLDER", tmp_path)
    app = on_page(HOME, language="en")
    assert "language" not in [picker.key for picker in app.sidebar.selectbox]
    assert not app.exception


@pytest.mark.usefixtures("folder")
def test_library_errors_are_translated() -> None:
    assert notes(on_page(HOME, language="de", model="copy", source=" ")) == [
        "Ihr Text ist leer; schreiben Sie 1 bis 12 Buchstaben."
    ]
    (english,) = notes(on_page(HOME, model="copy", source=" "))
    assert english.startswith("There is nothing to read in your text; type 1 to 12")


@pytest.mark.usefixtures("german")
def test_translation_with_an_unknown_placeholder_is_ignored() -> None:
    error = InputError("Your text has {count} words; this model reads up to {most}.", count=70, most=62)
    assert sentence(error) == "Your text has 70 words; this model reads up to 62."
    inner = InputError("There is nothing to read in your text; type {accepts}.", accepts="a date")
    outer = InputError("Text {number} cannot be read. {problem}", number=2, problem=inner)
    assert sentence(outer) == "Text 2 cannot be read. Ihr Text ist leer; schreiben Sie a date."


@pytest.mark.usefixtures("folder")
def test_figure_labels_are_translated() -> None:
    app = on_page(ATTENTION, language="de", model="copy", source="abc", kind="cross")
    specs = [chart.text for chart in charts(app)]
    assert any("Anfrage" in spec for spec in specs)
    assert not any(LABELS["query_axis"] in spec for spec in specs)


# --- in the code -------------------------------------------------------------------------------------------------------


def at_import(tree: ast.AST) -> Iterator[ast.Call]:
    """The calls made while a module is imported: all calls except those in bodies of functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call):
            yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
                yield from at_import(ast.Expr(part))
        elif not isinstance(node, ast.Lambda):
            yield from at_import(node)


def test_the_rule_of_softmax_is_written_once_for_all_pages() -> None:
    written = {
        file.stem: file.read_text(encoding="utf-8").count("divided by the sum over all tokens") for file in ENGLISH.iterdir()
    }
    assert {name: count for name, count in written.items() if count} == {"common": 1}


def test_no_module_reads_a_text_on_import() -> None:
    """A text read on import would stay in the server's language. Page scripts are exempt, because they run again each time."""
    readers = {"text", "figure_labels", "choice_label", "language", "default_language", "description", "accepts"}
    modules = set((ROOT / "pages").rglob("*.py")) - set(page_files())
    for module in sorted(modules):
        calls = at_import(ast.parse(module.read_text(encoding="utf-8")))
        names = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
        assert not names & readers, module


def test_a_model_that_does_not_do_its_task_has_its_own_sentence_on_each_example() -> None:
    for model, sentences in text("examples").items():
        assert [*sentences] == [example.source for example in find_task(RECIPES[model].task).examples]
