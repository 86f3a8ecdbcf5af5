"""The chart component: every chart can be described, saved and zoomed; and what the bytes that it sends contain."""

import json
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest
from playwright.sync_api import BrowserContext, expect

from pages.shell.frame.navigation import page_files
from pages.ui.chart import message, packed
from pages.ui.presenting import LEAST, enlarged
from pages.ui.text import text
from tests.pages.apps import charts, on_page
from tests.pages.visitor import Visitor, serving

# Where an element is on the page, wherever the page is scrolled to.
PLACE = """element => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x, y + document.querySelector(".stMain").scrollTop, width, height];
}"""
# How many points the first row of the first part of a chart has.
ROW = "chart => (({ x, y, z }) => (z ? z[0] : (x ?? y)).length)(chart.firstChild.data[0])"
# The words of a legend that reach over the edge of their chart.
CUT = """chart => {
    const { left, right, top, bottom } = chart.firstChild.getBoundingClientRect();
    const words = [...chart.querySelectorAll(".legendtext, .annotation-text, .xtitle, .ytitle")];
    return words.filter((text) => {
        const box = text.getBoundingClientRect();
        return box.left < left - 1 || box.right > right + 1 || box.top < top - 1 || box.bottom > bottom + 1;
    }).map((text) => text.textContent);
}"""
# Every page with each of its parts: (page, part).
PARTS = [
    (file.parent.name, part)
    for file in page_files()
    for part in text(file.parent.name).get("looks", text(file.parent.name).get("parts", {"": ""}))
]

# An app whose chart asks for all that a pointer does.
POINTED = """
import json

import plotly.graph_objects as go
import streamlit as st

from pages.ui.charts import passing_chart, show
from pages.ui.compat import no_callback

st.title("Dots")
axes = {"x": "step", "y": "loss"}


def dots():
    points = go.Scatter(x=[1, 2, 3], y=[4.0, 2.0, 1.0], mode="markers", marker={"size": 30})
    return go.Figure(points, {"dragmode": "select", "meta": {"axes": axes}, "height": 300})


show(passing_chart(dots), "dots", "three dots", asks=dict.fromkeys(("hover", "selection"), no_callback))
st.text(json.dumps({name: st.session_state["dots"].get(name) for name in ("hover", "selection")}))
"""


def test_a_figure_is_sent_as_json_and_bytes() -> None:
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    figure = go.Figure([go.Heatmap(z=values, x=["a", "b", "é"]), go.Scatter(y=np.array([1.5, np.nan]))])
    sent = message(packed(json.loads(str(plotly.io.to_json(figure)))), {"alt": "a map"})
    start = 4 + int.from_bytes(sent[:4], "little")
    header = json.loads(sent[4:start])
    assert header["alt"] == "a map"
    assert header["data"][0]["x"] == ["a", "b", "é"]
    place = header["data"][0]["z"]
    first, end = place["packed"]
    assert (place["dtype"], place["shape"]) == ("f4", [2, 3])
    np.testing.assert_array_equal(np.frombuffer(sent[start + first : start + end], "<f4").reshape(2, 3), values)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(("page", "part"), PARTS)
def test_every_chart_has_a_description_a_menu_that_saves_it_and_large_letters_while_presenting(page: str, part: str) -> None:
    app = on_page(f"pages/{page}/page.py", 120, **({"part": part} if part else {}))
    menus = {str(each.proto.popover.id) for each in app.get("popover")}
    for chart in charts(app):
        assert len(chart.alt) > 10
        assert any(f"save {chart.key}" in menu for menu in menus), chart.key
        assert enlarged(chart.spec)["layout"]["font"]["size"] == LEAST


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(("page", "part"), PARTS)
def test_the_keys_go_through_every_chart_and_no_legend_is_cut(visitor: Visitor, page: str, part: str) -> None:
    tab = visitor.open(("" if page == "home" else page) + (f"?part={part}" if part else ""), whole=True)
    # By name, because a computation in the background can add charts above others.
    for name in tab.locator(".chart").evaluate_all("charts => charts.map(chart => chart.dataset.name)"):
        chart = tab.locator(f'.chart[data-name="{name}"]')
        chart.scroll_into_view_if_needed()
        expect(chart).to_have_attribute("data-state", "drawn")
        chart.focus()
        said = chart.locator("[aria-live]")
        chart.press("ArrowRight")
        expect(said, name).not_to_be_empty()
        if chart.evaluate(ROW) > 1:
            first = said.inner_text()
            chart.press("End")
            expect(said, name).not_to_have_text(first)
        chart.press("Escape")
        assert chart.evaluate(CUT) == [], name
    assert visitor.complaints == []


@pytest.mark.slow
@pytest.mark.browser
def test_the_menu_that_saves_a_chart_stays_open_for_the_next_file(visitor: Visitor) -> None:
    page = visitor.open("attention?model=reverse&source=abc")
    page.get_by_role("button", name="Save reverse-", exact=False).first.click()
    for ending in ("PNG", "SVG", "PNG"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Picture as {ending}").click()
        assert download.value.suggested_filename.endswith(ending.lower())
    visitor.settle()
    expect(page.get_by_role("button", name="Picture as PNG")).to_be_visible()


@pytest.mark.slow
@pytest.mark.browser
def test_a_chart_keeps_its_zoom_and_its_place_while_another_widget_changes(visitor: Visitor) -> None:
    page = visitor.open("attention?model=reverse&source=abc&part=map", whole=True)
    chart = page.locator(".st-key-head-map .chart")
    drawing = chart.locator(".main-svg").first
    drawing.evaluate("svg => { svg.dataset.same = 'yes'; }")
    zoom = "document.querySelector('.st-key-head-map .chart > div').layout.xaxis.range"
    whole = page.evaluate(zoom)
    chart.scroll_into_view_if_needed()
    area = chart.locator(".nsewdrag").bounding_box()
    assert area
    page.mouse.move(area["x"] + 0.2 * area["width"], area["y"] + 0.2 * area["height"])
    page.mouse.down()
    page.mouse.move(area["x"] + 0.8 * area["width"], area["y"] + 0.8 * area["height"], steps=4)
    page.mouse.up()
    page.wait_for_function(f"whole => JSON.stringify({zoom}) !== JSON.stringify(whole)", arg=whole)
    zoomed, before = page.evaluate(zoom), chart.evaluate(PLACE)
    values = "Array.from(document.querySelector('.st-key-head-map .chart > div').data.at(-1).z[0])"
    shown = page.evaluate(values)
    page.locator(".st-key-head [aria-checked=false]").first.click()
    visitor.settle()
    expect(chart).to_have_attribute("data-state", "drawn")
    assert page.evaluate(values) != shown
    assert page.evaluate(zoom) == zoomed
    assert chart.evaluate(PLACE) == before
    expect(drawing).to_have_attribute("data-same", "yes")  # it was updated, not mounted again
    # Another text has other tokens, so all of them are shown.
    visitor.type("Source text", "abcdef")
    assert page.evaluate(zoom) == [-0.5, 7.5]


@pytest.mark.slow
@pytest.mark.browser
def test_python_gets_the_point_under_the_pointer_and_the_selected_points(known: BrowserContext, tmp_path: Path) -> None:
    script = tmp_path / "pointed.py"
    script.write_text(POINTED)
    with serving(script) as address:
        visitor = Visitor(known, address)
        page = visitor.open()
        told = page.get_by_test_id("stText")
        dots = page.locator(".chart .points .point")
        dots.nth(1).hover(force=True)  # an element of Plotly that takes the pointer lies above all points
        expect(told).to_contain_text('"index": 1, "step": 2, "loss": 2')
        page.mouse.move(5, 5)
        expect(told).to_contain_text('"hover": null')
        boxes = [dots.nth(index).bounding_box() for index in (1, 2)]
        assert boxes[0]
        assert boxes[1]
        page.mouse.move(boxes[0]["x"] - 15, boxes[0]["y"] - 15)
        page.mouse.down()
        page.mouse.move(boxes[1]["x"] + 45, boxes[1]["y"] + 45, steps=5)
        page.mouse.up()
        expect(told).to_contain_text('"selection": [{')
        assert [point["step"] for point in json.loads(told.inner_text())["selection"]] == [2, 3]
        visitor.close()
        assert visitor.complaints == []
