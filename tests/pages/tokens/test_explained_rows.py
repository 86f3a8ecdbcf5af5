"""A click on a cell of a chart of Tokens opens how its number is computed. The result is the number in the cell."""

from collections.abc import Callable

import numpy as np
import pytest

from pages.ui.format import latex
from pages.ui.text import text
from tests.pages.apps import on_page
from tests.pages.explained import explained
from transformer import Pipeline
from transformer.analysis.token_geometry import token_table

PAGE = "pages/tokens/page.py"
WORDS = text("tokens")["explained"]
SOURCE = "the cat sleeps ."
VIEW = {"model": "english-french", "source": SOURCE}


def test_a_number_of_a_token_is_one_of_its_row() -> None:
    (cat,) = Pipeline.load("english-french").source_vocabulary.ids(["cat"])
    cell = explained(PAGE, "tokens-rows.0.2.5", **VIEW)
    assert WORDS["row"].format(token="cat", ids=cat, column=5) in cell.says
    assert cell.formula.startswith(rf"E_{{{cat},\,5}} =")
    assert cell.result == pytest.approx(cell.drawn, rel=1e-4)


def test_a_number_of_a_word_is_the_mean_over_its_pieces() -> None:
    cell = explained(PAGE, "tokens-rows.0.1.2", model="everyday", source="Zorglub sleeps.")
    trace = Pipeline.load("everyday").trace("Zorglub sleeps.")
    ids = [index for index, word in zip(trace.source_ids[0], trace.words_of("source")[0], strict=True) if word == 0]
    assert len(ids) > 2
    assert WORDS["pieces"].format(token="Zorglub", count=len(ids), ids=", ".join(map(str, ids)), column=2) in cell.says
    assert cell.result == pytest.approx(cell.drawn, rel=1e-4)


@pytest.mark.parametrize("panel", [0, 1])
def test_a_scaled_number_is_that_of_the_table_times_the_root(panel: int) -> None:
    cell = explained(PAGE, f"tokens-scaled.{panel}.1.2", part="scaling", **VIEW)
    assert ("sqrt" in cell.formula) == (panel == 1)
    assert cell.result == pytest.approx(cell.drawn, rel=1e-4)


def test_a_network_that_scales_where_nothing_is_recorded_is_not_said_to_leave_its_rows(
    name_folders: Callable[..., None],
) -> None:
    pytest.importorskip("transformers")
    from tests.transformer.huggingface.tiny import folder_of

    name_folders(folder_of("marian"))
    app = on_page(PAGE, model="marian", source=SOURCE, part="scaling")
    says = [each.value for each in app.markdown]
    assert text("tokens")["unscaled"] not in says
    assert text("tokens")["unscaled_recorded"] in says


def test_a_number_of_padding_is_one_of_its_row() -> None:
    cell = explained(PAGE, "tokens-padding.0.0.3", part="padding", **VIEW)
    pad = Pipeline.load("english-french").source_vocabulary.pad
    assert WORDS["row"].format(token="<pad>", ids=pad, column=3) in cell.says
    assert cell.result == pytest.approx(cell.drawn, rel=1e-4)


def test_a_cosine_is_a_product_divided_by_two_lengths() -> None:
    pipeline = Pipeline.load("english-french")
    the, cat = token_table(pipeline.model, "source")[pipeline.source_vocabulary.ids(["the", "cat"])].astype(float)
    cell = explained(PAGE, "tokens-similarity.0.1.2", part="alike", **VIEW)
    assert WORDS["cosine"].format(first="the", second="cat") in cell.says
    for value in (the @ cat, np.linalg.norm(the), np.linalg.norm(cat)):
        assert latex(float(value)) in cell.formula
    assert cell.result == pytest.approx(cell.drawn, rel=1e-4)


@pytest.mark.slow
def test_a_row_of_zeros_has_no_cosine() -> None:
    query = {"model": "vanilla", "source": "1 5 6 2", "batch": "1 5 6 7 8 2", "item": "1", "part": "alike"}
    cell = explained(PAGE, "tokens-similarity.0.4.1", **query)
    assert "there is no cosine" in cell.says
    assert cell.formula == ""
