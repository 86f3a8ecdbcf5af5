"""The induction recipe: the scores and the ablations of heads find the head that it trains. About 10 seconds."""

from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")

from pages.shell.models import folders
from pages.ui.text import text
from tests.pages.apps import on_page, shown_errors
from tests.recipes import induction
from tests.recipes.induction import INDUCTION, texts, train, words
from transformer import open_model, silence
from transformer.analysis.ablation import ablation_scores
from transformer.analysis.head_measures import strongest
from transformer.analysis.head_scores import mean_head_scores
from transformer.network.tap import Edit
from transformer.pipeline.protocol import TextPipeline

pytestmark = pytest.mark.slow
HEADS = [(layer, head) for layer in range(2) for head in range(2)]
IDS, REPEATS = texts(20, torch.Generator().manual_seed(99))  # the recipe trains on texts of another seed
TEXTS = words(IDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the trained model."""
    folder = tmp_path_factory.mktemp("models") / "induction"
    train(folder)
    return folder


@pytest.fixture(scope="module")
def pipeline(folder: Path) -> TextPipeline:
    return open_model(folder)


def continued(pipeline: TextPipeline, *edits: Edit) -> float:
    """The share of the repeated tokens that the model predicts."""
    right = []
    for source, ids, repeats in zip(TEXTS, IDS, REPEATS, strict=True):
        best = pipeline.trace(source, "", edits).logits[0, :-1].argmax(-1)
        right += (best == ids[1:])[repeats[1:]].tolist()
    return sum(right) / len(right)


def test_the_folder_opens_and_the_model_continues_a_repeated_row(pipeline: TextPipeline) -> None:
    assert pipeline.stacks == ("decoder",)
    row = words(IDS[:1, :6])[0].split()
    answer = pipeline.answer(" ".join([*row, *row[:2]])).split()
    assert answer[:4] == row[2:]


def test_the_scores_find_the_induction_head(pipeline: TextPipeline) -> None:
    scores = mean_head_scores(pipeline, TEXTS, "decoder", ["induction", "previous"])["induction"]
    assert strongest(scores) == INDUCTION
    others = [scores[place] for place in HEADS if place != INDUCTION]
    assert scores[INDUCTION] > 0.7
    assert max(others) < 0.3


def test_heads_of_the_first_layer_attend_to_the_previous_token(pipeline: TextPipeline) -> None:
    previous = mean_head_scores(pipeline, TEXTS, "decoder", ["previous"])["previous"]
    assert strongest(previous)[0] == 0


def test_only_silencing_the_induction_head_breaks_the_continuation(pipeline: TextPipeline) -> None:
    assert continued(pipeline) > 0.95
    for layer, head in HEADS:
        share = continued(pipeline, silence("decoder", layer, (head,)))
        assert share < 0.3 if (layer, head) == INDUCTION else share > 0.85, (layer, head, share)


@pytest.mark.parametrize("by", ["zero", "mean", "resampled"])
def test_every_ablation_finds_the_induction_head(pipeline: TextPipeline, by: str) -> None:
    *_, last = ablation_scores(pipeline, TEXTS, by)
    drops = last.drops["decoder"]
    assert strongest(drops) == INDUCTION
    assert drops[INDUCTION] > 3 * np.sort(drops, axis=None)[-2]


def test_the_page_attention_opens_on_the_induction_head_and_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(folders.VARIABLE, str(folder))
    app = on_page("pages/attention/page.py", model="induction", source=TEXTS[0])
    assert shown_errors(app) == ""
    assert (app.session_state["layer"], app.session_state["head"]) == (INDUCTION[0] + 1, INDUCTION[1] + 1)
    said = text("attention")["induction_says"].partition("{share}")[0]
    assert any(line.value.startswith(said) for line in app.markdown)
    other = on_page("pages/attention/page.py", model="induction", source=TEXTS[0], layer="1", head="1")
    assert not any(line.value.startswith(said) for line in other.markdown)
    other.button(key="induction").click().run()
    assert any(line.value.startswith(said) for line in other.markdown)


def test_an_untrained_model_has_no_induction_head(tmp_path: Path) -> None:
    induction.build(0).save_pretrained(tmp_path)
    induction.save_tokenizer(tmp_path, size=induction.VOCAB, ends=False)
    untrained = open_model(tmp_path)
    assert mean_head_scores(untrained, TEXTS, "decoder", ["induction"])["induction"].max() < 0.3
    assert continued(untrained) < 0.2
