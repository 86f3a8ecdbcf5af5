"""The ledger view of the Layers page."""

import csv
import io
import json
import re
from collections import Counter
from urllib.parse import parse_qs, urlparse

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from pages.layers.explained_costs import COUNTED
from pages.ui.text import text
from tests.pages.apps import EXAMPLE, charts, on_page
from tests.pages.visitor import Visitor
from transformer import PRESETS, Pipeline, TransformerConfig
from transformer.network.cost import ALONG, WORK, Lengths, cost, parameters, total

WORDS = text("ledger")
COLUMNS = WORDS["columns"]
OF_ALL_STEPS = re.compile(r"of \d+ steps")


def opened(**query: str) -> AppTest:
    return on_page("pages/layers/page.py", **({"part": "ledger"} | query))


def table(app: AppTest) -> pd.DataFrame:
    """The table of every step."""
    (frame,) = (frame.value for frame in app.dataframe if COLUMNS["path"] in frame.value)
    return frame


def page_text(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.caption, *app.markdown])


def alt(app: AppTest, place: int) -> str:
    return charts(app)[place].alt


@pytest.mark.slow
@pytest.mark.parametrize("model", PRESETS)
def test_the_worked_example_adds_up_on_the_page(model: str) -> None:
    app = opened(model=model, **EXAMPLE)
    assert not app.exception
    assert not app.error
    frame, config = table(app), TransformerConfig.preset(model)
    expected = total(cost(config, Lengths(2, 9, 7)).values())
    sums = [int(frame[COLUMNS[name]].sum()) for name in ("parameters", "flops", "bytes")]
    assert sums == [*expected]
    assert sums[0] == {"shared_heads": 7_616_010}.get(model, parameters(config))
    shapes = dict(zip(frame[COLUMNS["path"]], frame[COLUMNS["shape"]], strict=True))
    across = "decoder.layers.5.cross_attention"
    assert shapes[f"{across}.weights"] == "[2, 8, 7, 9]"
    assert shapes["encoder.layers.0.feed_forward.hidden"] == f"[2, 9, {config.d_ff}]"
    assert shapes["logits"] == "[2, 7, 10]"
    inputs = dict(zip(frame[COLUMNS["path"]], frame[COLUMNS["inputs"]], strict=True))
    d_head = config.d_head
    assert inputs[f"{across}.scores"] == f"query.heads [2, 8, 7, {d_head}] · key.heads [2, 8, 9, {d_head}]"
    assert f"**{expected.flops:,} FLOPs**, as the formulas say" in page_text(app)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["english-french", "shared_heads"])
def test_columns_are_wide_enough_for_every_heading_and_cell(model: str) -> None:
    (steps,) = (frame for frame in opened(model=model, **EXAMPLE).dataframe if COLUMNS["path"] in frame.value)
    frame, widths = (
        steps.value,
        {name: column["width"] for name, column in json.loads(steps.proto.columns).items() if "width" in column},
    )
    assert {COLUMNS[name] for name in ("operation", "inputs", "held", "shares")} <= set(widths)
    for name, width in widths.items():
        written = [name, *(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in frame[name].tolist())]
        for each in written:
            # In pixels, measured in a browser: 16 of padding, 6.1 for each letter, 7 for each digit, 3.5 for each other
            # character.
            needed = 16 + sum(6.1 if sign.isalpha() else 7 if sign.isdigit() else 3.5 for sign in each)
            assert needed <= width, f"{each!r} under {name}"
    # Columns of numbers come first, so that they are visible without scrolling. Long columns come last.
    order = [*frame]
    assert order.index(COLUMNS["bytes"]) < order.index(COLUMNS["inputs"]) < order.index(COLUMNS["shares"])


def test_totals_by_layer_and_by_work_are_sums_of_the_rows() -> None:
    app = opened(model="english-french")
    frame = table(app)
    for heading, column in ((WORDS["layer"], "layer"), (WORDS["work"], "work")):
        (totals,) = (frame.value for frame in app.dataframe if frame.value.columns[0] == heading)
        counts = Counter[str]()
        for name, flops in zip(frame[COLUMNS[column]], frame[COLUMNS["flops"]], strict=True):
            counts[name] += flops
        assert dict(zip(totals[heading], totals[WORDS["flops"]], strict=True)) == dict(counts)
    config = Pipeline.load("english-french").config
    assert f"{parameters(config):,}" in [metric.value for metric in app.metric]


@pytest.mark.slow
def test_rows_are_filtered_by_layer_and_work_of_the_link_and_by_search() -> None:
    app = opened(model="reverse", source="abc", group="decoder-2", work="scores-and-weights")
    frame = table(app)
    assert set(frame[COLUMNS["layer"]]) == {"decoder 2"}
    assert set(frame[COLUMNS["work"]]) == {"scores and weights"}
    assert len(frame) == 12  # two attentions of six steps
    app = app.text_input(key="search").set_value(" SoftMax ").run()
    assert set(table(app)[COLUMNS["operation"]]) == {"softmax"}
    assert len(table(app)) == 2
    app = app.text_input(key="search").set_value("<b>[x](y)").run()
    assert not app.exception
    assert WORDS["nothing"] in [info.value for info in app.info]


@pytest.mark.slow
def test_a_layer_filter_is_reset_if_the_next_model_does_not_have_the_layer() -> None:
    app = opened(model="vanilla", source="1 2 3", group="encoder-6")
    assert set(table(app)[COLUMNS["layer"]]) == {"encoder 6"}
    app = app.sidebar.selectbox(key="model").set_value("reverse").run()
    assert not app.exception
    assert app.selectbox(key="group").value == "all"
    assert len(table(app)) > 100


@pytest.mark.slow
@pytest.mark.parametrize("along", ALONG)
def test_growth_is_drawn_for_every_count_and_explained(along: str) -> None:
    app = opened(model="english-french", along=along)
    lessons = text("ledger")["lessons"]
    (lesson,) = (value for name, value in lessons.items() if name in (along, f"{along}_per_head"))
    assert lesson[: lesson.index("*", 2)] in page_text(app)
    for count in COUNTED:
        app.button_group(key="counted").set_value(count).run()
        assert not app.exception
        assert f"Lines of {count} against {along}" in alt(app, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("abc", "cb", "source: −2 tokens."),
        ("abc", "cba", "source: −1 token."),
        ("ab", "abcd", "source: +1 token."),
        ("a", "abcd", "source: +2 tokens."),
    ],
)
def test_one_token_is_written_in_the_singular(source: str, target: str, expected: str) -> None:
    assert expected in page_text(opened(model="reverse", source=source, target=target, along="length"))


def test_the_growth_figure_describes_the_share_of_every_kind_of_work() -> None:
    app = opened(model="english-french", counted="bytes")
    for work in WORK:
        assert f"{work} takes" in alt(app, 1)


@pytest.mark.slow
@pytest.mark.browser
def test_downloads_contain_the_filtered_table(visitor: Visitor) -> None:
    page = visitor.open("layers?part=ledger&model=reverse&source=abc&work=output", whole=True)
    expected = ["logits", "probabilities"]
    with page.expect_download() as download:
        page.get_by_role("button", name=WORDS["csv"]).click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8"))))
    assert download.value.suggested_filename == "reverse-ledger.csv"
    assert [row[COLUMNS["path"]] for row in rows] == expected
    config = Pipeline.load("reverse").config
    assert int(rows[0][COLUMNS["parameters"]]) == config.target_vocab * (config.d_model + 1)
    with page.expect_download() as download:
        page.get_by_role("button", name=WORDS["markdown"]).click()
    lines = download.value.path().read_text(encoding="utf-8").splitlines()
    assert [line.split(" | ")[1] for line in lines[2:]] == expected
    assert len({line.count("|") for line in lines}) == 1


@pytest.mark.slow
@pytest.mark.browser
def test_a_link_opens_the_same_ledger_for_another_person(visitor: Visitor) -> None:
    page = visitor.open("layers?part=ledger&model=reverse&source=abc", whole=True)
    visitor.type(WORDS["search"], "softmax")
    visitor.choose(WORDS["along"], "heads")
    visitor.choose(WORDS["counted"], "bytes")
    query = parse_qs(urlparse(page.url).query)
    assert (query["search"], query["along"], query["counted"]) == (["softmax"], ["heads"], ["bytes"])
    caption = page.get_by_text(OF_ALL_STEPS).inner_text()
    again = visitor.open(visitor.become_stranger(), whole=True)
    assert again.get_by_text(OF_ALL_STEPS).inner_text() == caption
    assert again.get_by_label(WORDS["search"], exact=True).input_value() == "softmax"
    assert again.get_by_text("Only the bytes grow").is_visible()
