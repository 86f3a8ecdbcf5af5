"""The calls view of the Layers page, its tree and its configuration table."""

import dataclasses
import json
from urllib.parse import parse_qs, urlparse

import pytest
from markupsafe import escape
from playwright.sync_api import Locator, expect
from streamlit.testing.v1 import AppTest

from pages.layers.calls import named
from pages.ui.text import text
from tests.pages.apps import on_page
from tests.pages.visitor import Visitor
from transformer import Pipeline, TransformerConfig
from transformer.analysis.call_tree import constructor_calls
from transformer.network.cost import parameters

WORDS, PARAMETERS = text("calls"), text("parameters")
FIELDS = [field.name for field in dataclasses.fields(TransformerConfig)]
LINK = "layers?part=calls&model=reverse&source=abc"


def opened(**query: str) -> AppTest:
    app = on_page("pages/layers/page.py", **({"part": "calls"} | query))
    assert not app.exception
    assert not app.error
    return app


def drawn(app: AppTest) -> dict[str, list]:
    """Id → the line of the tree as [level, name, kind, detail, note]."""
    components = [json.loads(part.proto.json) for part in app.get("bidi_component") if part.proto.json]
    (lines,) = (part["lines"] for part in components if "lines" in part)
    return {line[0]: line[1:] for line in lines}


def sources(app: AppTest) -> str:
    return "\n".join(code.value for code in app.code)


def test_every_field_of_the_configuration_is_explained() -> None:
    assert set(PARAMETERS) == set(FIELDS)
    for name, explained in PARAMETERS.items():
        assert {"meaning", "grows"} <= set(explained) <= {"meaning", "grows", "usual", "paper"}, name
        assert all(explained[part].endswith(".") for part in ("meaning", "grows")), name


@pytest.mark.slow
@pytest.mark.parametrize("model", ["shared_heads", "english-french"])
def test_the_configuration_shows_the_models_value_and_the_usual_value(model: str) -> None:
    assert not any("class='fields'" in part.proto.body for part in opened(model=model).get("html"))
    app = opened(model=model, configuration="true")
    config = Pipeline.load(model).config if model == "english-french" else TransformerConfig.preset(model)
    (table,) = (part.proto.body for part in app.get("html") if "class='fields'" in part.proto.body)
    for name in FIELDS:
        assert f"<code>{name}</code>" in table
        assert escape(PARAMETERS[name]["meaning"]) in table
    assert f"<code>d_model</code></th><td data-name='here'><b>{config.d_model}" in table
    assert ">512; shared_heads: 256<" in table
    assert ">−10,000; pytorch: −∞; shared_heads: −∞; the paper: −∞<" in table
    assert ">as the texts need; the paper: about 37,000<" in table
    marked = ("●" in table.split("<code>d_model</code>")[1].split("</td>")[0], config.d_model != 512)
    assert marked[0] == marked[1]


def test_the_toggle_shows_only_fields_that_differ() -> None:
    app = opened(model="reverse", configuration="true", differing="true")
    (table,) = (part.proto.body for part in app.get("html") if "class='fields'" in part.proto.body)
    assert "<code>position</code>" in table
    assert "<code>norm_first</code>" not in table


def test_the_tree_of_a_forward_pass_shows_the_shapes_of_the_text() -> None:
    lines = drawn(opened(model="reverse", source="abc"))
    config = Pipeline.load("reverse").config
    level, name, kind, detail, note = lines["encoder.layers.0.self_attention"]
    width = config.d_model
    assert (name, kind) == ("self_attention", "MultiHeadAttention")
    assert detail == f"(x [1, 5, {width}], memory [1, 5, {width}], mask Mask [1, 1, 1, 5] bool) → [1, 5, {width}]"
    assert lines["encoder.layers.0"][4] == f"×{config.encoder_layers}"
    assert "encoder.layers.1" not in lines
    assert level == lines["encoder.layers.0"][0] + 2
    assert note == ""


def test_the_tree_of_constructor_calls_shows_arguments_and_numbers_of_parameters() -> None:
    sizes = {"variant": "shared_heads", "n_layers": "2", "n_heads": "4", "d_model": "128", "d_ff": "64"}
    app = opened(model="own-sizes", source="1 5 6", tree="constructing", **sizes)
    lines = drawn(app)
    layers = {"encoder_layers": 2, "decoder_layers": 2}
    config = TransformerConfig.preset("shared_heads", heads=4, d_model=128, d_ff=64, **layers)
    assert lines["Transformer"][4] == f"{parameters(config):,}"
    assert lines["encoder.layers.0.self_attention.query.projection"][2:4] == [
        "Linear",
        "(in_features=32, out_features=32, bias=False)",
    ]
    assert lines["encoder.layers.0"][4].startswith("×2 · ")
    assert "taps" in "\n".join(caption.value for caption in app.caption)


@pytest.mark.slow
@pytest.mark.parametrize("tree", WORDS["trees"])
def test_a_line_of_the_tree_opens_its_source(tree: str) -> None:
    app = opened(model="reverse", source="abc", tree=tree)
    for name in list(drawn(app))[::9]:
        app.query_params["call"] = name
        app = app.run()
        assert not app.exception, name
        assert not app.error, name
        assert "def " in sources(app)


def test_a_link_opens_its_call_and_an_invalid_one_the_first_call() -> None:
    app = opened(model="reverse", source="abc", call="encoder.layers.0.self_attention:hide")
    assert "def hide(self, scores" in sources(app)
    assert "in place of every score that the mask hides" in sources(app)
    for nonsense in ("nowhere", "os:system", "<script>", "encoder.layers.0.self_attention:hide:9"):
        assert "def forward(" in sources(opened(model="reverse", source="abc", call=nonsense))


def test_a_link_with_the_former_name_of_a_layer_opens_its_call() -> None:
    former, present = (
        sources(opened(model="reverse", source="abc", tree="constructing", call=f"encoder.layers.0.feed_forward.{name}"))
        for name in ("expand", "up_projection")
    )
    first = sources(opened(model="reverse", source="abc", tree="constructing"))
    assert former == present != first


def test_names_of_calls_in_links_are_unique() -> None:
    root = constructor_calls(Pipeline.load("reverse").model)
    assert len(named(root)) == len(list(root))


# --- in the browser ----------------------------------------------------------------------------------------------------


def row(visitor: Visitor, level: int, name: str) -> Locator:
    rows = visitor.page.locator(f'.tree [role="treeitem"][aria-level="{level}"]')
    return rows.filter(has_text=name).first


@pytest.mark.slow
@pytest.mark.browser
def test_a_click_opens_a_line_and_its_link_opens_it_again(visitor: Visitor) -> None:
    page = visitor.open(LINK)
    expect(row(visitor, 4, "layers 0")).to_be_visible()
    row(visitor, 4, "layers 0").click()
    visitor.settle()
    assert parse_qs(urlparse(page.url).query)["call"] == ["encoder.layers.0"]
    expect(row(visitor, 4, "layers 0")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("Self-attention over the source, then the feed-forward network")).to_be_visible()
    again = visitor.open(visitor.become_stranger())
    expect(again.get_by_text("Self-attention over the source, then the feed-forward network")).to_be_visible()
    expect(again.locator('.tree [aria-selected="true"]')).to_contain_text("EncoderLayer")


@pytest.mark.slow
@pytest.mark.browser
def test_the_tree_folds_with_keys_and_with_its_triangles(visitor: Visitor) -> None:
    page = visitor.open(LINK)
    rows = page.locator('.tree [role="treeitem"]:visible')
    count = rows.count()
    first = rows.first
    first.focus()
    page.keyboard.press("ArrowLeft")
    expect(rows).to_have_count(1)
    expect(first).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("ArrowRight")
    expect(rows).to_have_count(count)
    page.keyboard.press("ArrowDown")
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    visitor.settle()
    assert parse_qs(urlparse(page.url).query)["call"] == ["encode"]
    expect(rows).to_have_count(count)  # picking a line does not fold it
    row(visitor, 3, "encoder").locator(".twist").click()
    assert rows.count() < count
    assert parse_qs(urlparse(page.url).query)["call"] == ["encode"]  # folding a line does not pick it
    assert page.locator('.tree [role="treeitem"][tabindex="0"]').count() == 1


@pytest.mark.slow
@pytest.mark.browser
def test_typed_text_and_links_are_never_markup(visitor: Visitor) -> None:
    visitor.open(f"{LINK}&call=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    assert visitor.page.locator(".tree img").count() == 0
    visitor.type("Source text", "<b>abc</b>")
    assert visitor.page.locator(".tree b:has-text('abc')").count() == 0
