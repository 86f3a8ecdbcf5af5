"""The Masks page shows the numbers that the model computes with masks and without."""

import re
from urllib.parse import quote

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.masks.batch import batch_table
from pages.ui.text import text
from tests.pages.apps import charts, on_page, shown
from tests.pages.visitor import Visitor
from transformer import Pipeline
from transformer.analysis.leaks import change_later
from transformer.figures.mask_conventions_figures import written_number
from transformer.text.pieces import BYTE
from transformer.tracing.phrases import interventions

PAGE = "pages/masks/page.py"
BATCH = "she left\ni see it ."


def masks_page(part: str = "", **values: object) -> AppTest:
    """Open the page at `part` with these values in the session; returns the app."""
    app = on_page(PAGE)
    for name, value in values.items():
        app.session_state[name] = value
    app.run()
    if part:
        app.session_state["part"] = part
        app.run()
    assert not app.exception
    assert not app.error
    return app


def metrics(app: AppTest, label: str) -> list[str]:
    return [metric.value for metric in app.metric if metric.label == label]


def page_text(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.caption, *app.info])


def pictures(app: AppTest) -> list[str]:
    """The description of each chart for screen readers."""
    return [chart.alt for chart in charts(app)]


@pytest.mark.slow
def test_a_single_text_is_read_together_with_an_example_that_makes_padding() -> None:
    app = masks_page(source="the cat sleeps .")
    assert "Text 2 is an example" in page_text(app)
    # The pictures show the typed text. A mask that hides nothing is a line of text instead of a picture.
    assert app.session_state["item"] == 1
    assert "all 36 looks are allowed" in page_text(app)
    drawn = [alt.partition(":")[0] for alt in pictures(app) if alt.startswith("Mask")]
    assert drawn == ["Mask Causal", "Mask Target, combined"]
    app.session_state["item"] = 2
    app.run()
    assert "Mask Source padding: 6 queries from top to bottom, 6 keys from left to right; 12 cells are hidden." in pictures(app)
    app.session_state["batch"] = "a dog sleeps ."  # texts of equal length
    app.run()
    assert "No padding here" in page_text(app)
    assert "is an example" not in page_text(app)


@pytest.mark.slow
@pytest.mark.parametrize("source", ["a", "1 5 6 2"])
def test_the_button_add_other_texts_makes_padding_for_any_source(source: str) -> None:
    app = masks_page(model="shared_heads", source=source)
    next(button for button in app.button if button.label == "Add other texts").click().run()
    assert not app.exception
    assert not app.error
    assert "No padding here" not in page_text(app)
    assert not any(button.label == "Add other texts" for button in app.button)


@pytest.mark.slow
def test_text_with_most_padding_is_picked_first_and_others_can_be_picked() -> None:
    app = masks_page(source="the cat sleeps .", batch=BATCH)
    # A row has six tokens with `<sos>` and `<eos>`. In “she left” two of them are padding, so two columns are hidden.
    assert "Mask Source padding: 6 queries from top to bottom, 6 keys from left to right; 12 cells are hidden." in pictures(app)
    app.session_state["item"] = 1
    app.run()
    assert "all 36 looks are allowed" in page_text(app)
    assert not [alt for alt in pictures(app) if alt.startswith("Mask Source padding")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "padding", "combined"),
    # The decoder reads 4 tokens and 2 padding tokens. Depending on the variant, padding rows, padding columns or only the
    # future is hidden.
    [("vanilla", 12, 15 + 11), ("pytorch", 12, 15 + 3), ("shared_heads", None, 15)],
)
def test_target_masks_hide_the_cells_of_each_variant(model: str, padding: int | None, combined: int) -> None:
    app = masks_page(model=model, source="1 5 6 2", target="1 5 6 7 8 2", batch="1 5 6 2", batch_targets="1 5 6 2")
    counts = {alt.split(":")[0]: int(re.search(r"(\d+) cells", alt)[1]) for alt in pictures(app) if alt.startswith("Mask")}
    assert counts.get("Mask Target padding") == padding
    assert counts["Mask Causal"] == 15
    assert counts["Mask Target, combined"] == combined


def test_broadcast_drawing_has_the_shapes_of_the_traced_tensors() -> None:
    app = masks_page("broadcasting", source="the cat sleeps .", batch=BATCH)
    pipeline = Pipeline.load("english-french")
    trace = pipeline.trace(["the cat sleeps .", *BATCH.splitlines()])
    drawn = " ".join(html.proto.body for html in app.get("html"))
    for path in ("encoder.layers.0.self_attention", "decoder.layers.0.self_attention", "decoder.layers.0.cross_attention"):
        assert str(list(trace[f"{path}.scores"].shape)) in drawn
    assert str(list(trace["source_mask"].shape)) in drawn
    assert str(list(trace["target_mask"].shape)) in drawn
    assert f"1, the same for all heads ({pipeline.config.heads})" in drawn
    assert "1, the same for all queries" in drawn
    heads = 3 * (pipeline.config.heads - 1)
    queries = sum(trace[f"{path}.self_attention.scores"].shape[2] - 1 for path in ("encoder.layers.0",))
    queries += trace["decoder.layers.0.cross_attention.scores"].shape[2] - 1
    assert drawn.count("class=copy") == heads + queries


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("model", "own"), [("english-french", "pytorch"), ("vanilla", "vanilla"), ("shared_heads", "shared_heads")]
)
def test_convention_of_the_model_reproduces_its_weights(model: str, own: str) -> None:
    app = masks_page("three conventions", model=model, source="the cat sleeps .", batch="she left")
    table = app.dataframe[-1].value.set_index("convention")
    differences = table["largest difference"]
    assert list(table.index) == ["vanilla", "pytorch", "shared_heads"]
    assert differences[own] == "0"
    assert (differences.drop(own) != "0").all()
    assert f"own way is `{own}`" in page_text(app)
    # The target of “she left” has padding. Only `vanilla` masks the rows of padding completely.
    assert table["empty rows"]["vanilla"] > 0
    assert (table["empty rows"].drop("vanilla") == 0).all()


@pytest.mark.slow
def test_each_convention_has_a_figure_for_every_kind_of_attention() -> None:
    app = masks_page("three conventions", source="the cat sleeps .", batch=BATCH)
    for kind in ("decoder", "cross", "encoder"):
        app.session_state["kind"], app.session_state["layer"], app.session_state["head"] = kind, 2, 4
        app.run()
        assert not app.error
        assert sum(alt.startswith("Four heatmaps") for alt in pictures(app)) == 3


@pytest.mark.slow
def test_fully_masked_row_is_uniform_nan_or_zero() -> None:
    app = masks_page("empty row", source="the cat sleeps .")
    assert metrics(app, "−∞, softmax of torch alone") == ["NaN"]
    assert metrics(app, "−∞, as this project does") == ["0"]
    trace = Pipeline.load("english-french").trace("the cat sleeps .")
    values = trace["decoder.layers.0.self_attention.value.heads"].values[0, 0]
    assert float(metrics(app, "−10 000")[0]) == pytest.approx(float(values.mean(0).norm()), rel=1e-3)
    assert "no query of the decoder is padding" in page_text(
        masks_page("empty row", source="the cat sleeps .", batch="a dog sleeps .")
    )


def test_the_leak_of_the_future_is_zero_with_the_causal_mask_and_without_it_equals_two_runs() -> None:
    app = masks_page()  # the page opens on the part about the causal mask
    moved, masked = metrics(app, text("masks")["largest"])
    assert masked == "0"
    assert "the same bit for bit" in page_text(app)
    pipeline = Pipeline.load("english-french")
    source = pipeline.encode(app.session_state["source"]).ids
    answer = pipeline.answers([app.session_state["source"]])[0].tokens
    target = [pipeline.target_vocabulary.sos, *pipeline.target_vocabulary.ids(answer)]
    position = app.session_state["position"]
    (word,) = pipeline.target_vocabulary.ids([app.session_state["word"]])
    edits = interventions("no causal mask", pipeline.config)
    leak = change_later(pipeline, source, target, position, word, edits)
    # The number is that of a bar of the picture; the sentence names the token that moved more.
    bar = float(abs(leak.after - leak.before).max())
    assert float(moved) == pytest.approx(bar, rel=1e-2)
    # The example shown first should be easy to see.
    assert leak.largest > bar > 0.5
    moved_more = text("masks")["moved_more"].format(
        token=leak.largest_token, row=leak.largest_row, most=written_number(leak.largest, 3)
    )
    assert moved_more in shown(page_text(app))
    # The description names the bar with the largest change, and its numbers.
    without, with_it = pictures(app)[:2]
    worst = int(abs(leak.after - leak.before).argmax())
    assert f"“{leak.tokens[worst]}” in row {worst}, from {leak.before[worst]:.3f} to {leak.after[worst]:.3f}." in without
    assert "the same bit for bit" in with_it


@pytest.mark.slow
def test_the_bars_are_words_where_tokens_are_pieces() -> None:
    app = masks_page(model="everyday", source="The skyscraper disappeared.")
    (bars, _), (masked, _) = (chart.spec["data"] for chart in charts(app)[:2])
    assert not any("▁" in name for name in bars["x"])
    pipeline = Pipeline.load("everyday")
    answer = pipeline.answers(["The skyscraper disappeared."])[0]
    target = [pipeline.target_vocabulary.sos, *pipeline.target_vocabulary.ids(answer.tokens)]
    leak = change_later(pipeline, pipeline.encode("The skyscraper disappeared.").ids, target, len(target) - 1, 9)
    assert list(masked["y"]) == pytest.approx(leak.between_words().before.tolist(), abs=1e-5)
    # The row that is named is that of the first piece of the word, as the batch below counts.
    named = re.search(r"most: “([^”]+)” in rows? (\d+)", pictures(app)[0])
    assert named
    assert leak.tokens[int(named[2])].startswith(("▁" + named[1][:1], named[1][:1]))


@pytest.mark.slow
@pytest.mark.parametrize("model", ["dates", "shared_heads"])
def test_future_leaks_in_each_model_only_without_causal_mask(model: str) -> None:
    app = masks_page("no causal mask", model=model)
    moved, masked = metrics(app, text("masks")["largest"])
    assert masked == "0"
    assert moved != "0"


@pytest.mark.parametrize(
    ("model", "says"), [("reverse", "has not learnt to use it"), ("reverse-unmasked", "**looks** at that word")]
)
def test_the_page_says_what_the_model_has_learnt_of_the_future(model: str, says: str) -> None:
    app = on_page(PAGE, model=model, source="abc", target="cba", part="no-causal-mask")
    assert not app.exception
    assert says in page_text(app)
    assert ("In its training, this model had no causal mask" in page_text(app)) == (model == "reverse-unmasked")


def test_padding_changes_answer_only_without_padding_mask() -> None:
    app = masks_page("no padding mask", source="she left")
    moved, masked = metrics(app, text("masks")["largest"])
    assert masked == "0" or "10⁻" in masked
    assert float(moved) > 0.5
    says = page_text(app)
    assert "Answer with 8 × padding, masked: **elle est partie**" in says
    assert "Answer with 8 × padding, no mask: **elle est partie**" not in says
    assert "the answer itself has changed" in says
    assert "the largest change of a probability is **0**" in says


@pytest.mark.slow
@pytest.mark.parametrize("source", ["0 0 0", "7", "1 5 6 4 3 9 5 2 0"])
def test_page_opens_every_part_for_raw_ids(source: str) -> None:
    app = masks_page(model="shared_heads", source=source)
    for part in ("three conventions", "empty row", "no causal mask", "no padding mask"):
        app.session_state["part"] = part
        app.run()
        assert not app.exception
        assert not app.error


def test_batch_table_escapes_tokens_and_marks_padding() -> None:
    real = np.array([[True, True], [True, False]])
    table = batch_table([["<b>", "x"], ["y", "<pad>"]], real, ["text 1", "text 2"], "position", "#123456", picked=1)
    assert '<td class="real">&lt;b&gt;</td>' in table
    assert '<td class="hidden">&lt;pad&gt;</td>' in table
    assert table.count('class="hidden"') == 1
    assert "<b>text 2</b>" in table


@pytest.mark.slow
@pytest.mark.browser
def test_link_restores_the_changed_word_for_another_person(visitor: Visitor) -> None:
    page = visitor.open(f"masks?model=english-french&source={quote('the cat sleeps .')}&part=no-causal-mask", whole=True)
    visitor.choose("Word to change", "2 · chat")
    page.get_by_role("combobox", name=re.compile("Put in its place")).click()
    page.get_by_role("combobox", name=re.compile("Put in its place")).fill("chien")
    page.get_by_role("option", name="chien", exact=True).click()
    visitor.settle()
    shown = page.get_by_test_id("stMetricValue").all_text_contents()
    assert shown[1].strip() == "0"
    assert "word=chien" in page.url

    fresh = visitor.open(visitor.become_stranger(), whole=True)
    assert fresh.get_by_test_id("stMetricValue").all_text_contents() == shown
    assert fresh.get_by_text("changed word: chien").first.is_visible()


@pytest.mark.slow
@pytest.mark.browser
def test_added_batch_is_in_the_link_and_on_the_axes(visitor: Visitor) -> None:
    page = visitor.open("masks?model=shared_heads&source=a+b+c", whole=True)
    page.get_by_role("button", name="Add other texts").click()
    visitor.settle()
    assert "batch=" in page.url
    visitor.see_all()
    assert "<pad>" in page.locator(".st-key-mask-source .xtick text").all_text_contents()
    assert page.locator(".batch-rows td.hidden").first.is_visible()
    visitor.choose("Look at", "three conventions")
    assert page.locator(".chart").count() == 3  # each begins with the mask of its convention; the masks below are left out
    visitor.choose("Look at", "empty row")
    visitor.see_all()
    # One picture of the part, and three of masks: no target has padding, and a mask that hides nothing is a line of text.
    assert page.locator(".chart").count() == 4


@pytest.mark.slow
@pytest.mark.browser
def test_page_fits_a_phone_without_sideways_scrolling(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 390, "height": 844})
    page = visitor.open("masks?model=reverse&batch=abc", whole=True)
    for part in ("broadcasting", "three conventions", "empty row", "no causal mask", "no padding mask"):
        visitor.choose("Look at", part)
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1"), part


def test_the_number_of_allowed_looks_is_that_of_the_shape_below_also_if_pieces_are_joined() -> None:
    page = on_page("pages/masks/page.py", model="everyday", source="Supercalifragilistic!", join="true")
    said = [int(found[1]) for each in page.main.markdown if (found := re.search(r"all (\d+) looks", each.value))]
    keys = [int(found[1]) for each in page.main.caption if (found := re.search(r"(?:source|target) key (\d+)\]", each.value))]
    assert said
    assert {*said} <= {count**2 for count in keys}


@pytest.mark.slow
@pytest.mark.parametrize("model", ["vanilla", "pytorch", "shared_heads"])
def test_padding_typed_before_the_changed_word_leaks_only_in_the_variant_that_says_so(model: str) -> None:
    query = {"model": model, "source": "5 6 7", "target": "1 5 0 7 6", "part": "no-causal-mask"}
    app = on_page(PAGE, **query, position="4")
    assert not app.exception
    _, masked = metrics(app, text("masks")["largest"])
    says = "In row 2 the decoder reads 0, the id of padding"
    assert (masked != "0") == (says in "".join(each.value for each in app.warning)) == (model == "vanilla")
    # A row of padding has the name of what it reads and predicts, as any other row.
    assert any("0 → 7" in chart.text for chart in charts(app) if chart.key == "mask-combined")
    before = on_page(PAGE, **query, position="2")  # the rows before the padding cannot read it
    assert metrics(before, text("masks")["largest"])[1] == "0"
    assert not before.warning


@pytest.mark.slow
@pytest.mark.parametrize(("source", "hides"), [("5 6", True), ("0", False)])
def test_a_text_of_padding_alone_reads_what_is_hidden(source: str, hides: bool) -> None:
    app = on_page(PAGE, model="vanilla", source=source, part="no-padding-mask")
    assert not app.exception
    assert ("Nothing reads the hidden positions" in page_text(app)) == hides
    assert ("The hidden positions are read here" in page_text(app)) != hides


@pytest.mark.slow
@pytest.mark.parametrize(("target", "read"), [("1 5 0 7", True), ("1 5 7", False)])
def test_the_page_says_whether_a_row_of_padding_is_read(target: str, read: bool) -> None:
    batch = {"batch": "5 6 7", "batch_targets": "1 5 6 7"}
    app = on_page(PAGE, model="vanilla", source="5 6 7", target=target, part="empty-row", item="1", **batch)
    assert not app.exception
    assert ("stands **before** other tokens" in page_text(app)) == read
    assert ("Nobody reads what such a row predicts" in page_text(app)) != read


@pytest.mark.slow
@pytest.mark.browser
def test_a_presented_lesson_shows_the_whole_causal_mask(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 1024, "height": 768})
    page = visitor.open("?lesson=one-lesson&lesson_stop=6&present=1")
    drawn = page.locator(".st-key-mask-causal .chart[data-state='drawn']")
    drawn.wait_for()
    assert drawn.evaluate("chart => chart.scrollWidth - chart.clientWidth") <= 0


def test_the_token_that_is_changed_first_is_not_a_byte_of_a_character() -> None:
    app = on_page(PAGE, model="everyday", source="a cat", target="un chat 🐱")
    (position,) = [group for group in app.get("button_group") if group.key == "position"]
    assert [BYTE.search(option) is None for option in position.options] == [True] * position.value + [False] * 4
