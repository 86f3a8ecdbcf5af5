"""Tests of the figures of positions, read back from the figure's JSON."""

import numpy as np
import pytest

from tests.transformer.figures.sent_figures import array, sent
from transformer.figures.attention_figures import BLACK
from transformer.figures.position_geometry_figures import (
    MOST_MARKED,
    change_bars,
    distance_lines,
    position_map,
    product_map,
    rotation_map,
    turning_circle,
    waves,
)


def drawn(rows: int, columns: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(rows, columns))


def test_a_position_map_is_exact_with_its_cell_framed_and_position_0_on_top() -> None:
    table = drawn(20, 9).astype(np.float32)
    picture = sent(position_map(table, (4, 7)))
    (heatmap,) = picture["data"]
    assert heatmap["z"]["dtype"] == "f4"
    assert (array(heatmap["z"]) == table).all()
    assert heatmap["zmax"] == -heatmap["zmin"] == pytest.approx(abs(table).max())
    assert picture["layout"]["yaxis"]["range"] == [19.5, -0.5]  # position 0 on top
    assert picture["layout"]["xaxis"]["title"]["text"] == "dimension"
    assert picture["layout"]["yaxis"]["title"]["text"] == "position"
    places = {(shape["x0"], shape["x1"], shape["y0"], shape["y1"]) for shape in picture["layout"]["shapes"]}
    assert places == {(6.5, 7.5, 3.5, 4.5)}


def test_the_largest_position_map_is_sent_in_4_megabytes() -> None:
    assert len(position_map(drawn(512, 1024)).to_json()) < 4_000_000


def test_each_wave_has_its_dots_and_its_curve() -> None:
    values, curves = drawn(5, 2), drawn(33, 2)
    picture = sent(waves([4, 9], values, curves, ["four <b>", "nine"]))["data"]
    lines, dots = [trace for trace in picture if trace["mode"] == "lines"], [t for t in picture if t["mode"] == "markers"]
    assert [trace["name"] for trace in dots] == ["four &lt;b&gt;", "nine"]
    for index in range(2):
        assert (array(dots[index]["y"]) == values[:, index].astype(np.float32)).all()
        assert (array(lines[index]["y"]) == curves[:, index].astype(np.float32)).all()
        assert array(lines[index]["x"])[[0, -1]].tolist() == [0, 4]
        assert lines[index]["line"]["color"] == dots[index]["marker"]["color"]
    assert dots[0]["marker"]["color"] != dots[1]["marker"]["color"]
    assert {trace["mode"] for trace in sent(waves([0], drawn(9, 1), None, ["free"]))["data"]} == {"lines"}
    assert {t["mode"] for t in sent(waves([0], drawn(MOST_MARKED + 1, 1), drawn(99, 1), ["long"]))["data"]} == {"lines"}


def test_dot_products_are_exact_and_centred_on_zero() -> None:
    products = drawn(6, 6)
    (heatmap,) = sent(product_map(products))["data"]
    assert (array(heatmap["z"]) == products.astype(np.float32)).all()
    assert heatmap["zmax"] == -heatmap["zmin"] == abs(products).max()


def test_a_band_runs_from_the_least_to_the_largest_product() -> None:
    products = np.array([[1.0, 2.0, 4.0], [0.0, 0.5, 1.0]])
    least, most, mean = sent(distance_lines(products, ("mean", "band")))["data"]
    assert array(least["y"]).tolist() == [1, 0]
    assert array(most["y"]).tolist() == [4, 1]
    assert array(mean["y"]).tolist() == [2, 0.5]
    assert [array(line["x"]).tolist() for line in (least, most, mean)] == [[0, 1]] * 3
    assert (most["fill"], most["name"], mean["name"]) == ("tonexty", "band", "mean")


def test_a_rotation_map_writes_its_numbers_and_frames_its_pairs() -> None:
    matrix = np.zeros((5, 5))
    matrix[:2, :2], matrix[2:4, 2:4], matrix[4, 4] = 0.25, -0.5, 0.75
    picture = sent(rotation_map(matrix))
    (heatmap,) = picture["data"]
    low, middle = map(BLACK.format, ("0.25", "−0.50"))  # on pale colours
    assert heatmap["text"][0] == [low, low, "", "", ""]
    assert heatmap["text"][2] == ["", "", middle, middle, ""]
    assert heatmap["text"][4] == ["", "", "", "", "0.75"]
    frames = [(shape["x0"], shape["x1"]) for shape in picture["layout"]["shapes"]]
    assert frames == [(-0.5, 1.5), (1.5, 3.5)]  # the last dimension has no partner


def test_arrows_point_at_their_positions() -> None:
    angles = np.linspace(0, 2, 9)
    points = np.stack([np.sin(angles), np.cos(angles)], axis=1)
    _, dots, *hands = sent(turning_circle(points, {2: "two", 5: "five"}, ("sine", "cosine")))["data"]
    np.testing.assert_allclose(array(dots["x"]), np.cos(angles), atol=1e-6)
    np.testing.assert_allclose(array(dots["y"]), np.sin(angles), atol=1e-6)
    for hand, position in zip(hands, (2, 5), strict=True):
        np.testing.assert_allclose((hand["x"][1], hand["y"][1]), (np.cos(angles[position]), np.sin(angles[position])))
    assert [hand["line"]["dash"] for hand in hands] == ["solid", "dot"]


def test_every_token_has_a_bar_for_each_run() -> None:
    tokens = ["<sos>", "a", "a"]
    picture = sent(change_bars(tokens, {"with": np.array([0.0, 1, 2]), "without": np.zeros(3)}, "change"))
    one, other = picture["data"]
    assert array(one["y"]).tolist() == [0, 1, 2]
    assert array(other["y"]).tolist() == [0, 0, 0]
    assert one["x"] == ["0: &lt;sos&gt;", "1: a", "2: a"]
    assert picture["layout"]["xaxis"]["ticktext"] == ["&lt;sos&gt;", "a", "a"]
    assert one["marker"]["color"] != other["marker"]["color"]
