"""The arithmetic view of the Layers page."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pages.shell.models.folders import own_network_name
from tests.pages.apps import charts, unfold
from tests.pages.layers.opened import opened
from transformer import Pipeline


@pytest.mark.parametrize("position", [0, 3])
def test_recomputed_numbers_agree_with_the_run(position: int) -> None:
    app = opened(model="reverse", source="abcd", part="arithmetic", sublayer="feed_forward")
    box = app.selectbox(key="position")
    box.set_value(box.options[position]).run()
    captions = [caption.value for caption in app.caption if "Worked out again" in caption.value]
    assert len(captions) == 3
    assert all("had the same numbers" in caption for caption in captions)


def test_tables_contain_the_vectors_and_name_the_meaning_of_a_row() -> None:
    app = opened(model="reverse", source="abcd", part="arithmetic", sublayer="feed_forward")
    assert not app.dataframe
    unfold(app, *(f"numbers_{part}" for part in ("feed_forward", "residual", "norm")))
    fired, added, scaled = (each.value for each in app.dataframe)
    assert [each.index.name for each in (fired, added, scaled)] == ["hidden unit", "dimension", "dimension"]
    config = Pipeline.load("reverse").config
    assert [len(each) for each in (fired, added, scaled)] == [config.d_ff, config.d_model, config.d_model]
    assert (fired["after ReLU"] == fired["before ReLU"].clip(lower=0)).all()
    assert added["traced"].to_numpy() == pytest.approx((added["x"] + added["sublayer(x)"]).to_numpy(), abs=1e-5)
    standard = scaled["(x − μ) / √(σ² + ε)"]
    assert scaled["y"].to_numpy() == pytest.approx((standard * scaled["γ"] + scaled["β"]).to_numpy(), abs=1e-5)


@pytest.mark.slow
def test_the_page_names_an_activation_other_than_relu(tmp_path: Path, name_folders: Callable[..., None]) -> None:
    tiny = pytest.importorskip("tests.transformer.huggingface.tiny", reason="transformers is not installed")
    tiny.save_model("marian", tmp_path / "gelu", decoder_attention_heads=2, activation_function="gelu")
    tiny.save_tokenizer(tmp_path / "gelu")
    name_folders(tmp_path / "gelu")
    app = opened(model=own_network_name("gelu"), source="the cat sleeps .", part="arithmetic", sublayer="feed_forward")
    assert not app.exception
    assert any(r"\operatorname{gelu}(H)" in formula.value for formula in app.latex)
    assert not [markdown for markdown in app.main.markdown if "ReLU sets" in markdown.value]
    assert len([caption for caption in app.caption if "had the same numbers" in caption.value]) == 3


KEYS = ("work_ff", "work_residual", "work_norm")


def test_vectors_of_one_position_are_drawn_with_one_cell_for_each_number() -> None:
    app = opened(model="reverse", part="arithmetic", sublayer="feed_forward")
    config = Pipeline.load("reverse").config
    drawn = {chart.key: [trace["z"].shape for trace in chart.spec["data"]] for chart in charts(app) if chart.key in KEYS}
    assert drawn["work_ff"] == [(1, config.d_ff)] * 2
    assert drawn["work_residual"] == [(1, config.d_model)] * 3
    assert drawn["work_norm"] == [(1, config.d_model)] * 2


@pytest.mark.parametrize(("group", "token"), [("encoder-1", "animal"), ("decoder-1", "qu'")])
def test_arithmetic_opens_on_the_token_that_decides_the_pronoun(group: str, token: str) -> None:
    app = opened(model="english-french", part="arithmetic", group=group)
    assert app.selectbox(key="position").options[app.session_state["position"]].endswith(token)
    sublayers = next(buttons for buttons in app.button_group if buttons.key == "sublayer")
    assert not [name for name in sublayers.options if "_" in name]
