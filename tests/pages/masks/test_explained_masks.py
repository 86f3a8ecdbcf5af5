"""A click on a cell of a mask says why it is allowed or hidden; on a number of a convention, how it is computed."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pages.ui.text import text
from tests.pages.explained import explained
from transformer import Pipeline

PAGE = "pages/masks/page.py"
RULES = text("masks")["rules"]
# The first target has two positions of padding: 4 and 5.
PADDED = {"source": "1 5 6 2", "target": "1 5 6 2", "batch": "1 5 6 7 8 2", "batch_targets": "1 5 6 7 8 2", "item": "1"}


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("cell", "formula", "rules"),
    [
        ("mask-source.0.1.4", r"[\,0 \neq 0\,] = \text{False}", ("padding",)),
        ("mask-source.1.1.2", r"[\,6 \neq 0\,] = \text{True}", ("real",)),
        ("mask-causal.0.1.3", r"[\,3 \leq 1\,] = \text{False}", ("later",)),
        ("mask-causal.1.3.3", r"[\,3 \leq 3\,] = \text{True}", ("earlier",)),
        (
            "mask-combined.0.1.4",
            r"[\,0 \neq 0\,] \wedge [\,4 \leq 1\,] = \text{False} \wedge \text{False} = \text{False}",
            ("padding", "later"),
        ),
        (
            "mask-combined.1.2.1",
            r"[\,5 \neq 0\,] \wedge [\,1 \leq 2\,] = \text{True} \wedge \text{True} = \text{True}",
            ("real", "earlier"),
        ),
    ],
)
def test_a_cell_of_a_mask_says_which_rule_hides_it(cell: str, formula: str, rules: tuple[str, ...]) -> None:
    opened = explained(PAGE, cell, model="pytorch", **PADDED)
    assert opened.formula == formula
    for name in rules:
        assert RULES[name].rpartition("**")[2].partition("{")[0] in opened.says
    assert not math.isnan(opened.drawn)  # the cell is of the clicked trace: hidden or allowed


@pytest.mark.slow
def test_a_variant_hides_the_rows_of_padded_queries() -> None:
    opened = explained(PAGE, "mask-padding.0.4.1", model="vanilla", **PADDED)
    assert opened.formula == r"[\,0 \neq 0\,] = \text{False}"
    opened = explained(PAGE, "mask-combined.0.4.1", model="vanilla", **PADDED)
    assert opened.formula.endswith(r"\text{False} \wedge \text{True} = \text{False}")


@pytest.mark.slow
def test_a_cell_between_words_counts_the_pairs_of_their_pieces() -> None:
    view = {"model": "everyday", "source": "Zorglub sleeps.", "target": "Zorglub dort.", "item": "1"}
    opened = explained(PAGE, "mask-causal.0.0.1", **view)
    pieces = Pipeline.load("everyday").target_vocabulary.split("Zorglub")
    assert f"may look: 0 of {len(pieces)}." in opened.says
    assert opened.formula == r"[\,0 > 0\,] = \text{False}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "convention"),
    [("vanilla", "pytorch"), ("pytorch", "pytorch"), ("pytorch", "shared_heads"), ("shared_heads", "vanilla")],
)
def test_a_number_of_a_convention_is_computed_from_its_score(model: str, convention: str) -> None:
    view = {"model": model, "part": "three-conventions", **PADDED}
    for stage in (3, 5, 7):  # the traces of the scores before and after the mask, and of the weights
        opened = explained(PAGE, f"convention-{convention}.{stage}.3.1", **view)
        formula = opened.formula if "=" in opened.formula else f"= {opened.formula}"
        assert opened._replace(formula=formula).result == pytest.approx(opened.drawn, rel=1e-3)
    opened = explained(PAGE, f"convention-{convention}.0.1.3", **view)
    assert opened.formula.endswith(r"\text{False}")
    assert ("ignore" in opened.says) == (convention == "pytorch")
    opened = explained(PAGE, f"convention-{convention}.4.1.3", **view)  # the score that replaces a hidden one
    assert (r"-\infty" in opened.formula) == (convention != "vanilla")


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(("row", "result"), [(0, r"\frac{1}{6} = 0.16667"), (1, r"\text{NaN}"), (2, r"\longrightarrow 0")])
def test_the_weights_of_a_query_that_may_look_nowhere(row: int, result: str) -> None:
    opened = explained(PAGE, f"empty-rows.{int(row != 1)}.{row}.2", model="pytorch", part="empty-row", **PADDED)
    assert opened.formula.endswith(result)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("cell", "formula", "says"),
    [
        ("0.5.0", r"[\,5 \leq 3\,]", "sliding window"),
        ("1.5.3", r"[\,2 \leq 3\,]", "up to 3 away"),
        ("0.1.2", r"[\,2 \leq 1\,]", "comes"),
    ],
)
def test_a_recorded_mask_with_a_window_says_the_distance(
    cell: str, formula: str, says: str, name_folders: Callable[..., None]
) -> None:
    pytest.importorskip("transformers")
    from tests.transformer.huggingface.tiny import folder_of

    name_folders(folder_of("mistral"))
    opened = explained(PAGE, f"mask-decoder-0.{cell}", model="mistral", source="the cat sleeps . the cat sleeps .")
    assert formula in opened.formula
    assert says in opened.says
    assert not math.isnan(opened.drawn)


@pytest.mark.slow
def test_a_tokenizer_without_padding_is_not_compared_with_its_id(tmp_path: Path, name_folders: Callable[..., None]) -> None:
    name_folders(folder_without_end(tmp_path / "gpt2", pad_token=None))
    opened = explained(PAGE, "mask-decoder-0.1.2.1", model="gpt2", source="the cat sleeps .")
    assert opened.formula == r"[\,1 \leq 2\,] = \text{True}"
    assert "padding" not in opened.says


def test_an_encoder_of_a_single_token_does_not_hide_what_comes_later(tmp_path: Path, name_folders: Callable[..., None]) -> None:
    name_folders(folder_without_end(tmp_path / "bert"))
    opened = explained(PAGE, "mask-encoder-0.0.0.2", model="bert", source="cat", batch="the cat sleeps .", item="1")
    assert opened.formula == r"[\,0 \neq 0\,] = \text{False}"


def folder_without_end(folder: Path, **changes: Any) -> Path:
    """The folder of a tiny model whose tokenizer puts no token after a text, with changes of the tokenizer's settings."""
    pytest.importorskip("transformers")
    from tests.transformer.huggingface.tiny import save_model, save_tokenizer

    save_model(folder.name, folder)
    save_tokenizer(folder, ends=False)
    settings = folder / "tokenizer_config.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | changes))
    return folder
