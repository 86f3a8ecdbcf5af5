"""The film of somebody's own training on the page Watch it learn, tested without a browser."""

from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest
from torch import nn

from pages.training.own_run import FRAME, HEAD, LAYER
from pages.ui.text import text
from tests.pages.apps import charts, on_page, shown, shown_errors
from transformer import Film
from transformer.training.film_file import read_run, run_bytes

PAGE = "pages/training/page.py"


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a training of an `nn.Transformer` of one layer in each stack, with three frames and hostile tokens."""
    torch.manual_seed(0)
    model = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    path = tmp_path_factory.mktemp("film") / "run.safetensors"
    texts = torch.randn(2, 3, 8), torch.randn(2, 3, 8)
    film = Film(model, texts, every=5, path=path, tokens=[["<b>a</b>", "*b*", "c"], ["d", "e", "f"]], share=1.0)
    for step in range(10):
        film(1 / (step + 1))
    film.save()
    return path.read_bytes()


def opened(film: bytes) -> AppTest:
    """The part with the film opened."""
    app = on_page(PAGE, model="copy", part="own")
    assert text("own_run")["empty"] in [info.value for info in app.info]
    app.file_uploader[0].upload("run.safetensors", film).run()
    assert shown_errors(app) == ""
    return app


def test_a_film_is_opened_and_its_frames_and_heads_are_picked(film: bytes) -> None:
    app = opened(film)
    names = {each.key for each in charts(app)}
    assert names == {"own-map", "own-history", "own-loss", "own-norms"}
    captions = [shown(caption.value) for caption in app.caption]
    assert "Frame 3 of 3, after 10 steps. Mean loss since the frame before: 0.129." in captions
    app.session_state[FRAME], app.session_state[LAYER], app.session_state[HEAD] = 0, 1, 2
    app.run()
    assert shown_errors(app) == ""
    assert "Frame 1 of 3, after 0 steps." in [shown(caption.value) for caption in app.caption]
    assert any("head 2" in line.value and "after 0 steps" in line.value for line in app.markdown)


def test_a_film_of_weights_that_are_nan_or_of_no_parameters_is_drawn(film: bytes) -> None:
    run = read_run(film)
    for other in (
        run._replace(norms=np.full_like(run.norms, np.nan), losses=np.full_like(run.losses, np.nan)),
        run._replace(norms=run.norms[:, :0], parts=()),
    ):
        app = opened(run_bytes(other))
        assert text("own_run")["norms_none"] in [caption.value for caption in app.caption]


def test_a_file_that_is_no_film_is_refused_with_a_sentence_and_the_open_film_stays(film: bytes) -> None:
    app = opened(film)
    app.file_uploader[0].upload("no.safetensors", Path(__file__).read_bytes()).run()
    assert "Refused, and nothing has changed" in shown_errors(app)
    assert "own-loss" in {each.key for each in charts(app)}
    app.file_uploader[0].upload("run.safetensors", film).run()
    assert shown_errors(app) == ""
