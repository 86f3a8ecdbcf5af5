"""Models of Hugging Face in folders of the server: their list, and every page with a model of each kind."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")

from safetensors.torch import load_file
from streamlit.testing.v1 import AppTest

from benchmarks.app_server import ROOT
from pages.shell.models import folders
from pages.shell.models.catalogue import trained_key
from pages.shell.view.runs import runs
from pages.ui.text import text
from tests.pages.apps import charts, is_chart, on_page, sent_chart, shown, shown_errors, unfold
from tests.pages.explained import explained
from tests.transformer.huggingface.tiny import (
    IN_PIECES,
    MODELS,
    folder_in_pieces,
    folder_of,
    save_model,
    save_model_of,
    save_tokenizer,
)
from transformer.errors import HeadlightError
from transformer.huggingface.files import MEGABYTE
from transformer.huggingface.hf_limits import MODEL_MEGABYTES
from transformer.text.pieces import CONTINUES

PAGES = ("home", "tokens", "positions", "masks", "attention", "layers", "decoding")
# A model of each kind: two stacks, a decoder alone, an encoder alone.
KINDS = {"marian": "the cat sleeps .", "gpt2": "the cat sleeps .", "bert": "the old dog <mask> ."}
# Components that every page has.
FRAME = ("history", "choice", "parts", "present", "tour")


@pytest.fixture
def named(tmp_path: Path, name_folders: Callable[..., None]) -> Path:
    """A folder with four folders that cannot be opened. The folders of the three kinds of models are listed, too. A test may
    add others before the first of its pages opens, because a server reads its folders once."""
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "config.json").write_text("{")
    for name in ("reverse", "bert@v2", "my-bert"):
        shutil.copytree(folder_of("bert"), tmp_path / name)
    name_folders(*map(folder_of, KINDS), tmp_path, tmp_path / "nowhere")
    return tmp_path


def sentences() -> dict[str, str]:
    """Name of a folder that cannot be opened → the sentence that says why."""
    return {name: str(folder.problem) for name, folder in folders.folders().items() if folder.problem}


@pytest.mark.usefixtures("named")
def test_folders_are_listed_with_their_sizes_and_problems() -> None:
    models = folders.folder_models()
    own = folders.own_network_name("marian")
    assert {name: model.about.family for name, model in models.items()} == {kind: kind for kind in KINDS} | {own: "marian"}
    assert [name for name, model in models.items() if model.own_network] == [own]
    for model in models.values():
        weights = load_file(f"{model.path}/model.safetensors")
        assert model.parameters == sum(tensor.numel() for tensor in weights.values())
        assert model.about.nbytes == 4 * model.parameters
    problems = sentences()
    assert problems["damaged"] == "'config.json' in the folder 'damaged' is not a JSON object."
    assert problems["reverse"].startswith("Another model has the name 'reverse'")
    for name in ("bert@v2", "my-bert"):
        assert problems[name].startswith(f"The folder '{name}' has the name of a model of another kind: those with '@' are")
    assert problems["nowhere"].startswith("There is no folder")


def test_a_model_that_is_too_large_is_refused_before_opening(named: Path) -> None:
    large = named / "large"
    shutil.copytree(folder_of("gpt2"), large)
    os.truncate(large / "model.safetensors", (MODEL_MEGABYTES + 1) * MEGABYTE)  # takes no room on the disk
    said = f"'model.safetensors' in the folder 'large' has {MODEL_MEGABYTES + 1} MB; allowed are {MODEL_MEGABYTES}."
    assert sentences()["large"] == said


# Prints why each folder cannot be opened, the models in the picker, and the errors of a page with the model of the folder.
LISTING = """
from pages.shell.models.folders import folder_models, folders
from tests.pages.apps import on_page, shown_errors

for folder in folders().values():
    print(folder.problem)
print([*folder_models()])
print(shown_errors(on_page("pages/tokens/page.py", model="gpt2")))
"""


@pytest.mark.slow
def test_without_the_packages_a_folder_says_how_to_install_them(tmp_path: Path) -> None:
    for installed in Path(sysconfig.get_path("purelib")).iterdir():  # all packages but one
        if installed.name != "transformers":
            (tmp_path / installed.name).symlink_to(installed)
    done = subprocess.run(
        [sys.executable, "-S", "-c", LISTING],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path), folders.VARIABLE: str(folder_of("gpt2"))},
    )
    problem, models, errors = done.stdout.splitlines()
    assert (
        problem == "A model of Hugging Face needs the package transformers; run `pip install -r requirements-huggingface.txt`."
    )
    assert models == "[]"
    assert "pip install -r requirements-huggingface.txt" in errors


@pytest.mark.slow
def test_a_folder_that_fails_when_it_is_opened_does_not_affect_other_models(named: Path) -> None:
    shutil.copytree(folder_of("bert"), named / "wordless")
    (named / "wordless" / "tokenizer.json").write_text("{}")
    with pytest.raises(HeadlightError, match="tokenizer in 'wordless' cannot be read"):
        folders.open_folder(folders.folder_models()["wordless"])
    app = on_page("pages/attention/page.py", model="wordless", source="abc")
    assert "The tokenizer in 'wordless' cannot be read" in shown_errors(app)
    app.sidebar.selectbox(key="model").set_value("gpt2").run()
    assert shown_errors(app) == ""
    assert all(kind in app.sidebar.selectbox(key="model").options for kind in KINDS)
    listed = " ".join(shown(line.value) for line in unfold(app, "folders").sidebar.markdown)
    assert "The tokenizer in 'wordless' cannot be read" in listed
    assert "marian, a model of Hugging Face" in listed


@pytest.mark.slow
def test_folders_whose_names_are_not_utf8_are_listed(named: Path) -> None:
    empty, model = (named / os.fsdecode(name) for name in (b"empty\xff", b"bert\xff"))
    empty.mkdir()
    shutil.copytree(folder_of("bert"), model)
    app = unfold(on_page("pages/tokens/page.py", model="gpt2"), "folders")
    assert shown_errors(app) == ""
    listed = " ".join(shown(line.value) for line in app.sidebar.markdown)
    assert "The folder 'emptyudcff' has no file 'config.json'." in listed  # `shown` drops backslashes
    assert "bert\\udcff" in app.sidebar.selectbox(key="model").options
    app.sidebar.selectbox(key="model").set_value("bert\\udcff").run()
    assert "Something went wrong" not in shown_errors(app)


@pytest.mark.slow
@pytest.mark.usefixtures("named")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_with_every_kind(page: str, kind: str) -> None:
    app = on_page(f"pages/{page}/page.py", model=kind, source=KINDS[kind])
    assert shown_errors(app) == ""
    assert text("common")["agrees"] in captions(app)
    pictures = [part for part in app.get("bidi_component") if part.key not in FRAME]
    if (page, kind) == ("decoding", "bert"):  # an encoder alone writes no text
        assert not charts(app)
        assert "encoder alone" in app.info[0].value
    elif (page, kind) != ("masks", "bert"):  # its attention hides nothing, so no mask is drawn
        assert pictures


# Name → a class without a language head, its family in `MODELS`, and a source.
OUTPUTS = {
    "vectors": ("BertModel", "bert", "the cat sleeps ."),
    "both-stacks": ("BartModel", "bart", "the cat sleeps ."),
    "label": ("GPT2ForSequenceClassification", "gpt2", "the cat sleeps ."),
    "labels": ("BertForTokenClassification", "bert", "the cat sleeps ."),
    "span": ("BertForQuestionAnswering", "bert", "it sleeps </s> the cat sleeps ."),
}


@pytest.fixture(scope="module")
def headless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model of each kind in `OUTPUTS`."""
    above = tmp_path_factory.mktemp("headless")
    for name, (class_name, family, _) in OUTPUTS.items():
        save_model_of(class_name, {**MODELS[family][1], "id2label": {0: "calm", 1: "<b>glad</b>"}}, above / name)
        save_tokenizer(above / name, ends=family != "gpt2")
        settings = above / name / "tokenizer_config.json"
        settings.write_text(json.dumps({**json.loads(settings.read_text()), "sep_token": "</s>"}))
    return above


@pytest.mark.slow
@pytest.mark.parametrize("name", OUTPUTS)
def test_every_page_says_what_a_model_without_a_language_head_gives(
    name: str, headless: Path, name_folders: Callable[..., None]
) -> None:
    name_folders(headless)
    source, vectors = OUTPUTS[name][2], name in ("vectors", "both-stacks")
    for page in PAGES:
        app = on_page(f"pages/{page}/page.py", model=name, source=source)
        assert shown_errors(app) == ""
        if page in ("home", "attention", "layers", "decoding"):
            assert text("common")["agrees_vectors" if vectors else "agrees"] in captions(app)
            assert ("no output layer" in " ".join(captions(app))) == vectors
    assert app.info[0].value == text("decoding")["writes_nothing"]["vectors" if vectors else name]
    assert app.sidebar.text_input(key="target").disabled == (name in ("vectors", "labels", "span"))  # encoders alone
    kind = "cross" if name == "both-stacks" else "decoder" if name == "label" else "encoder"
    edits = [f"silence {kind} layer 1"]
    app = on_page("pages/attention/page.py", model=name, source=source, part="what-if", kind=kind, edits=tuple(edits))
    assert shown_errors(app) == ""
    said = " ".join(shown(line.value) for line in app.markdown)
    assert ("turned most" if vectors else "The answer") in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "changes", "page", "part"),
    [
        ("llama", {"head_dim": 6}, "attention", "steps"),  # all heads together are wider than the residual stream
        ("t5", {"d_kv": 5}, "attention", "steps"),
        ("phi3", {}, "layers", "filmstrip"),  # two parts of a layer have no title
        ("modernbert", {}, "layers", "filmstrip"),  # an encoder alone whose modules have unusual names
        ("opt-post-norm", {}, "positions", "sum"),  # rows of the table are narrower than the residual stream
        ("electra", {}, "layers", "residual-stream"),  # the same in an encoder
    ],
)
def test_models_of_unusual_widths_are_drawn(
    name: str, changes: dict[str, int], page: str, part: str, tmp_path: Path, name_folders: Callable[..., None]
) -> None:
    save_model(name, tmp_path / "odd", **changes)
    save_tokenizer(tmp_path / "odd", ends=name in ("t5", "modernbert", "electra"))
    name_folders(tmp_path)
    app = on_page(f"pages/{page}/page.py", model="odd", source="the cat sleeps .", part=part)
    assert shown_errors(app) == ""
    assert [shown for shown in app.get("bidi_component") if shown.key not in FRAME]


@pytest.mark.slow
@pytest.mark.usefixtures("named")
def test_a_note_says_that_the_source_lines_of_our_network_did_not_compute_the_run_of_another() -> None:
    remark = text("common")["recorded_source"].format(model="gpt2")
    for page, remarked in (("masks", True), ("decoding", False)):  # the generator is the same for both
        app = unfold(on_page(f"pages/{page}/page.py", model="gpt2", source=KINDS["gpt2"]), "computed")
        assert (remark in [info.value for info in app.info]) is remarked
    ours = unfold(on_page("pages/masks/page.py", model="reverse", source="abc"), "computed")
    assert not [info for info in ours.info if "did not compute this run" in info.value]


@pytest.mark.slow
@pytest.mark.usefixtures("named")
def test_a_marian_can_run_in_our_own_network(named: Path) -> None:
    """In our own network, the parts that compute steps again are drawn. The page says which network runs."""
    save_model("marian", named / "opus", decoder_attention_heads=2, activation_function="swish")
    save_tokenizer(named / "opus")
    own, source = folders.own_network_name("opus"), KINDS["marian"]
    theirs, ours = (on_page("pages/layers/page.py", model=name, source=source, part="arithmetic") for name in ("opus", own))
    assert shown_errors(theirs) == shown_errors(ours) == ""
    assert any(f"Choose the model {own}" in shown(info.value) for info in theirs.info)
    assert not ours.info
    key = trained_key(own)
    (checked,) = [caption for caption in captions(ours) if "This model runs in this project's own network" in caption]
    assert runs().agreement(key, (source,), (None,)).rounding
    assert "up to rounding" in checked
    assert len(runs().trace(key, (source,), (None,), ())) == len(runs().own_network(key).taps)
    masks = on_page("pages/masks/page.py", model=own, source=source)  # runs of our own network measure its leaks
    assert shown_errors(masks) == ""
    assert text("common")["recorded"].format(model=own) not in [info.value for info in masks.info]
    # If our network cannot represent a Marian, the page says why.
    refused = on_page("pages/attention/page.py", model=folders.own_network_name("marian"), source=source)
    assert "both stacks have the same heads; in this model they are 2 and 4" in shown_errors(refused)


@pytest.mark.usefixtures("named")
def test_what_if_compares_the_guesses_of_an_encoder_alone() -> None:
    """The model writes no answer, so no answers are compared, and there is no link to the page on which a model writes."""
    words = text("whatif")
    edits = "silence encoder layer 1"
    app = on_page("pages/attention/page.py", model="bert", source=KINDS["bert"], part="what-if", edits=edits)
    assert shown_errors(app) == ""
    assert words["write"] not in [link.proto.label for link in app.get("link_button")]
    assert words["difference_caption_read"] in captions(app)
    assert words["difference_caption"] not in captions(app)
    bars = [spec["data"] for spec in (chart.spec for chart in charts(app)) if len(spec["data"]) == 2]
    (clean, edited), *_ = [pair for pair in bars if pair[0]["type"] == "bar"]
    assert len(clean["x"]) == 1  # only the position of the mask
    trace = runs().trace(trained_key("bert"), (KINDS["bert"],), (None,), ())
    place = trace.source_tokens[0].index("<mask>")
    np.testing.assert_allclose(np.asarray(clean["y"]), trace.probabilities[0, place].max(), atol=1e-4)
    assert np.asarray(clean["y"]) != np.asarray(edited["y"])


def captions(app: AppTest) -> list[str]:
    return [caption.value for caption in app.caption]


# Page and kind of model → the text file with the note that words are drawn, a word in the page's picture, and the page's
# settings.
JOINED = {
    ("home", "marian"): ("common", "sleeps.", {}),
    ("attention", "gpt2"): ("common", "sleeps.", {}),
    ("layers", "marian"): ("common", "sleeps.", {"stop": "decoder.layers.0.cross_attention.weights"}),
    ("decoding", "marian"): ("decoding", "sleeps.", {}),
    ("decoding", "gpt2"): ("decoding", "sleeps.", {}),
    ("tokens", "bert"): ("tokens", "thecat", {}),
    ("masks", "gpt2"): ("masks", "sleeps.", {}),
    ("positions", "gpt2"): ("common", "sleeps.", {"part": "sum"}),
}


@pytest.mark.slow
@pytest.mark.parametrize(("page", "kind"), JOINED)
def test_pieces_can_be_joined_to_words(page: str, kind: str, name_folders: Callable[..., None]) -> None:
    group, word, settings = JOINED[page, kind]
    name_folders(folder_in_pieces(kind))
    view = {"model": f"{kind}-in-pieces", "source": IN_PIECES}
    app = on_page(f"pages/{page}/page.py", join="true", **view, **settings)
    assert shown_errors(app) == ""
    assert app.toggle(key="join").value
    assert any(text(group)["joined"] in caption for caption in captions(app))
    joined = pictures(app)
    app.toggle(key="join").set_value(False).run()
    assert joined.count(word) > pictures(app).count(word)  # Home also shows the text as it is typed
    assert f"{CONTINUES}cat" in pictures(app)


@pytest.mark.slow
@pytest.mark.usefixtures("named")
def test_words_of_one_piece_each_cannot_be_joined() -> None:
    app = on_page("pages/attention/page.py", model="gpt2", source="the cat sleeps .")
    assert shown_errors(app) == ""
    assert not [toggle for toggle in app.toggle if toggle.key == "join"]


def test_looks_that_compute_with_pieces_say_so(name_folders: Callable[..., None]) -> None:
    name_folders(folder_in_pieces("gpt2"))
    for look in ("map", "steps"):
        app = on_page("pages/attention/page.py", model="gpt2-in-pieces", source=IN_PIECES, join="true", part=look)
        assert sum(text("common")["joined"] in caption for caption in captions(app)) == 1  # below the picture of all heads
        assert captions(app).count(text("common")["computed_in_pieces"]) == (look == "steps")


def test_a_bias_on_the_scores_is_hatched_in_the_cells_that_a_mask_hides(name_folders: Callable[..., None]) -> None:
    name_folders(folder_of("t5"))
    app = on_page("pages/positions/page.py", model="t5", source="the cat sleeps .", target="the cat")
    assert shown_errors(app) == ""
    encoder, decoder = (chart.spec["data"] for chart in charts(app))
    assert len(decoder) == len(encoder) + 1  # the hidden cells are drawn first
    hidden = np.isfinite(np.asarray(decoder[0]["z"]))
    np.testing.assert_array_equal(hidden, ~np.tri(len(hidden), dtype=bool))
    assert "side" not in [str(widget.key) for widget in app.get("button_group")]  # both sides are drawn
    note = text("positions")["sum_relative"]
    assert note in [line.value for line in app.markdown]
    assert any(caption.startswith("Positions are a bias on the scores (`position_bias`)") for caption in captions(app))


def test_the_bias_between_two_words_is_the_mean_over_their_pieces(name_folders: Callable[..., None]) -> None:
    name_folders(folder_in_pieces("t5"))
    app = on_page("pages/positions/page.py", model="t5-in-pieces", source=IN_PIECES, join="true")
    assert shown_errors(app) == ""
    trace = runs().trace(trained_key("t5-in-pieces"), (IN_PIECES,), (None,), ())
    bias = trace["encoder.layers.0.self_attention.position_bias"].numpy()
    pairs = bias[0].mean(0)[:4, :4].reshape(2, 2, 2, 2).mean((1, 3))
    drawn = np.asarray(charts(app)[0].spec["data"][-1]["z"])
    np.testing.assert_allclose(drawn[:2, :2], pairs, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "cell"),
    [("llama", "positions-turned.0.2.1"), ("llama", "positions-turned.1.3.0"), ("t5", "positions-bias-encoder.0.1.2")],
)
def test_a_number_of_positions_that_are_not_added_is_explained(name_folders: Callable[..., None], kind: str, cell: str) -> None:
    name_folders(folder_of(kind))
    found = explained("pages/positions/page.py", cell, model=kind, source="the cat sleeps .")
    assert found.result == pytest.approx(found.drawn, abs=1e-5)


def pictures(app: AppTest) -> str:
    """All pictures of a page as text."""
    parts = [part for part in app.get("bidi_component") if part.key not in FRAME]
    drawn = [sent_chart(part).text if is_chart(part) else str(part.proto) for part in parts]
    return " ".join([*drawn, *(html.proto.body for html in app.get("html"))])


@pytest.mark.usefixtures("named")
def test_a_decoder_alone_is_forced_to_read_the_target_and_not_the_text() -> None:
    """The model reads text and target in one row. Its own answer is compared only with the target."""
    source = KINDS["gpt2"]
    tokens = runs().answer(trained_key("gpt2"), source, ()).tokens
    app = on_page("pages/decoding/page.py", model="gpt2", source=source, target=" ".join(tokens[:3]), part="taught")
    assert " · ".join(tokens[:3]) in [shown(markdown.value) for markdown in app.markdown]
    assert any(each.startswith("They part at step 4. Bold:") for each in captions(app))
    (losses,) = [
        spec["data"][0] for spec in (chart.spec for chart in charts(app)) if "loss" in str(spec["layout"].get("yaxis"))
    ]
    assert len(np.asarray(losses["y"])) == 4


@pytest.mark.slow
def test_a_map_of_several_heads_shows_every_weight_of_a_model_whose_layers_have_different_windows(
    name_folders: Callable[..., None],
) -> None:
    """The first layer of this model attends to a few tokens before its own, the second to all."""
    name_folders(folder_of("gemma2"))
    source = " ".join(["the cat sleeps ."] * 3)
    weights = runs().trace(trained_key("gemma2"), (source,), (None,), ()).attention("decoder")[:, 0].numpy()
    maps = {"mean-over-heads": weights[0].mean(0), "mean-over-all": weights.mean((0, 1))}
    for way, shown_weights in maps.items():
        page = on_page("pages/attention/page.py", model="gemma2", source=source, part="combined", layer="1", combine=way)
        (chart,) = [each for each in charts(page) if each.key == "combined-map"]
        cells = np.asarray(chart.spec["data"][-1]["z"], float)
        np.testing.assert_allclose(np.nan_to_num(cells), shown_weights, atol=1e-3)
