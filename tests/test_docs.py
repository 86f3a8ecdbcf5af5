"""Tests of the documents: the files, modules and functions that they name exist."""

import ast
import importlib
import re
from pathlib import Path

import pytest

from benchmarks.model_cards import table
from docs.api import write
from transformer import __version__
from transformer.network.config import PRESETS, TransformerConfig

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#:]+)\)")
PACKAGES = ("transformer.", "pages.", "benchmarks.", "tests.")


def resolve(dotted: str) -> object:
    """The module, or the attribute of a module, of that name.

    Raises:
        ImportError, AttributeError: no module or attribute has that name.
    """
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value: object = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for name in parts[count:]:
            value = getattr(value, name)
        return value
    raise ImportError(dotted)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_named_path_exists(document: Path) -> None:
    # A name with a place to fill in, such as `pages/<page>/page.py`, is a pattern and not a path.
    names = [name for name in CODE.findall(document.read_text()) if re.fullmatch(r"[\w.-]+(/[\w.-]*)+", name)]
    names += LINK.findall(document.read_text())
    missing = [name for name in names if not (ROOT / name).exists() and not (document.parent / name).exists()]
    assert not missing


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_named_module_and_function_exists(document: Path) -> None:
    for name in CODE.findall(document.read_text()):
        if re.fullmatch(r"[\w.]+", name) and name.startswith(PACKAGES) and not (ROOT / name).exists():
            resolve(name)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_import_in_an_example_works(document: Path) -> None:
    for module, names in re.findall(r"^ *from (\S+) import (.+)$", document.read_text(), re.MULTILINE):
        if f"{module}.".startswith(PACKAGES):
            for name in names.split(", "):
                resolve(f"{module}.{name}")


def test_the_table_of_variants_matches_the_presets() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\S+) \| (\S+) \| (\S+) \| ", (ROOT / "docs" / "VARIANTS.md").read_text(), re.MULTILINE)
    configs = [TransformerConfig.preset(name) for name in ("vanilla", "pytorch", "shared_heads")]
    for field, *values in rows:
        assert [str(getattr(config, field)) for config in configs] == values, field
    differing = {field for values in PRESETS.values() for field in values}
    assert {field for field, *_ in rows} == differing


def test_the_readme_shows_the_table_of_the_cards() -> None:
    assert table() in (ROOT / "README.md").read_text()


def test_no_telemetry_is_promised_only_for_your_own_server() -> None:
    # Community Cloud turns usage statistics on, whatever the settings say.
    for document in DOCUMENTS:
        for sentence in re.split(r"(?<=[.:])\s+", document.read_text()):
            if "o telemetry" in sentence:
                assert re.search(r"where\s+you\s+host\s+(it|Headlight)\s+yourself", sentence, re.IGNORECASE), sentence


def test_every_picture_of_the_readme_exists_is_small_and_has_a_description() -> None:
    pictures = re.findall(r"!\[(.*?)\]\((\S+?)\)", (ROOT / "README.md").read_text())
    assert len(pictures) == 7
    assert all(len(described) > 40 for described, _ in pictures)
    files = [ROOT / path for _, path in pictures]
    assert set(files) == set((ROOT / "docs" / "pictures").iterdir())
    assert sum(file.stat().st_size for file in files) < 1_200_000


def test_the_architecture_names_the_scripts_of_the_shell_that_know_the_lessons() -> None:
    files = (ROOT / "pages" / "shell").rglob("*.js")
    knowing = {file.name for file in files if re.search(r"[\"']lesson", file.read_text(encoding="utf-8"))}
    assert knowing == {"arrival.js", "present.js"}
    document = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in document for name in knowing)


def test_the_version_has_one_place() -> None:
    files = [ROOT / "pyproject.toml", *DOCUMENTS, *(file for file in (ROOT / "deploy").rglob("*") if file.suffix != ".pyc")]
    texts = {file.name: file.read_text(encoding="utf-8") for file in files if file.is_file()}
    assert [name for name, text in texts.items() if re.search(rf"\b{re.escape(__version__)}\b", text)] == []


def test_the_document_about_streamlit_names_the_file_with_a_toast() -> None:
    files = [file for file in (ROOT / "pages").rglob("*.py") if "st.toast(" in file.read_text(encoding="utf-8")]
    document = (ROOT / "docs" / "STREAMLIT.md").read_text(encoding="utf-8")
    assert [file for file in files if str(file.relative_to(ROOT)) not in document] == []


def test_names_follow_the_table_of_words() -> None:
    sources = [file.read_text() for folder in ("pages", "transformer") for file in (ROOT / folder).rglob("*.py")]
    nodes = [node for source in sources if re.search("draws|reading", source, re.I) for node in ast.walk(ast.parse(source))]
    names = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    names |= {node.id for node in nodes if isinstance(node, ast.Name)}
    # A token is sampled, and a text is encoded; *draw* and *read* mean something else.
    assert not [name for name in names if {"draws", "reading", "readings"} & set(name.lower().split("_"))]


@pytest.mark.slow
def test_every_page_of_the_api_can_be_reached_by_links_and_lists_arguments(tmp_path: Path) -> None:
    write(tmp_path)
    reached, open_pages = set[Path](), [tmp_path / "index.html"]
    while open_pages:
        page = open_pages.pop().resolve()
        if page not in reached and page.is_relative_to(tmp_path):
            reached.add(page)
            targets = re.findall(r"""(?:href="|url=)([^":#]+\.html)""", page.read_text())
            open_pages += [page.parent / target for target in targets]
    assert reached == {*tmp_path.rglob("*.html")}
    assert {tmp_path / f"transformer/{name}.html" for name in ("draw", "figures", "huggingface/film_trainer")} <= reached
    for page in reached:
        assert not re.search("<p>(Args|Attributes|Raises|Returns|Yields):", page.read_text()), page
    assert "<li><strong>every:</strong>" in (tmp_path / "transformer/training/own_film.html").read_text()
