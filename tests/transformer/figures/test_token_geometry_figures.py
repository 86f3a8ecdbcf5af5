"""Tests of the figures of token vectors, read back from the figure's JSON."""

import numpy as np

from tests.transformer.figures.sent_figures import array, sent
from transformer.figures.attention_figures import BLACK
from transformer.figures.numbers import numbers
from transformer.figures.token_geometry_figures import aligned_maps, beside, similarity_map, vocabulary_map

TOKENS = ["<sos>", "cat", "<b>sat</b>"]
ESCAPED = ["&lt;sos&gt;", "cat", "&lt;b&gt;sat&lt;/b&gt;"]


def drawn(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, columns))


def test_aligned_maps_share_one_scale_and_one_axis_and_are_exact() -> None:
    one, other = drawn(3, 40), 9 * drawn(3, 40, 1)
    picture = sent(aligned_maps({"before": one, "after <b>": other}, TOKENS, "token", "dimension", picked=(2, 7)))
    first, second = picture["data"]
    for heatmap, values in ((first, one), (second, other)):
        assert heatmap["z"]["dtype"] == "f4"
        assert (array(heatmap["z"]) == values.astype(np.float32)).all()
        assert heatmap["coloraxis"] == "coloraxis"
        assert heatmap.get("xaxis", "x") == "x"
        assert heatmap["y"][0] == "0: &lt;sos&gt;"
    assert {first["yaxis"], second["yaxis"]} == {"y", "y2"}
    layout = picture["layout"]
    assert layout["coloraxis"]["cmax"] == -layout["coloraxis"]["cmin"] == abs(other).max()
    assert layout["yaxis"]["ticktext"] == layout["yaxis2"]["ticktext"] == ESCAPED
    assert layout["yaxis"]["domain"][0] > layout["yaxis2"]["domain"][1]  # the first panel is on top
    assert layout["yaxis"]["range"] == [2.5, -0.5]  # and its first row on top
    assert [note["text"] for note in layout["annotations"]] == ["<b>before</b>", "<b>after &lt;b&gt;</b>"]
    frames = {(shape["yref"], shape["x0"], shape["x1"], shape["y0"], shape["y1"]) for shape in layout["shapes"]}
    assert frames == {("y", 6.5, 7.5, 1.5, 2.5), ("y2", 6.5, 7.5, 1.5, 2.5)}


def test_the_scale_of_maps_of_zeros_is_from_minus_1_to_1() -> None:
    layout = sent(aligned_maps({"row": np.zeros((1, 4))}, ["<pad>"], "token", "dimension"))["layout"]
    assert (layout["coloraxis"]["cmin"], layout["coloraxis"]["cmax"]) == (-1, 1)


def test_fewer_labels_are_written_for_many_tokens() -> None:
    for count in (5, 15, 40, 41, 64):
        picture = sent(aligned_maps({"rows": drawn(count, 8)}, ["word"] * count, "token", "dimension"))
        labels = len(picture["layout"]["yaxis"]["ticktext"])
        low, high = picture["layout"]["yaxis"]["domain"]
        assert (high - low) * picture["layout"]["height"] / labels >= 11
        assert len(picture["data"][0]["y"]) == count


def test_cosines_have_a_scale_from_minus_1_to_1_and_missing_cosines_are_masked() -> None:
    cosines = np.array([[1, -0.5, np.nan], [-0.5, 1, np.nan], [np.nan] * 3])
    masked, shown = sent(similarity_map(cosines, TOKENS))["data"]
    assert (np.isnan(array(shown["z"])) == np.isnan(cosines)).all()
    assert (np.isnan(array(masked["z"])) != np.isnan(cosines)).all()
    assert "all zeros" in masked["hovertemplate"]
    assert (shown["zmin"], shown["zmax"]) == (-1, 1)
    half = BLACK.format("−0.50")  # on a pale colour
    assert shown["text"] == [["1.00", half, ""], [half, "1.00", ""], ["", "", ""]]
    (only,) = sent(similarity_map(np.eye(2), ["a", "a"]))["data"]
    assert only["x"] == ["0: a", "1: a"]  # equal tokens have different names


def test_every_token_is_a_point_styled_by_its_class_and_the_texts_tokens_have_rings() -> None:
    points, tokens = drawn(40, 2), [f"<{index}>" for index in range(40)]
    classes = [f"class {index % 12}" for index in range(40)]
    figure = vocabulary_map(points, tokens, classes, [3, 7, 3], (0.25, 0.125))
    assert len(numbers(figure)) == 40  # rings are not numbers
    picture = sent(figure)
    *groups, named, rings = picture["data"]
    placed = {}
    for group in groups:
        for name, x, y in zip(group["text"], array(group["x"]), array(group["y"]), strict=True):
            placed[name] = (x, y, group["name"])
    expected = {
        f"&lt;{index}&gt; (id {index})": (np.float32(points[index, 0]), np.float32(points[index, 1]), classes[index])
        for index in range(40)
    }
    assert placed == expected
    styles = [(group["marker"]["color"], group["marker"]["symbol"]) for group in groups]
    assert len(set(styles)) == len(groups) == 12
    assert named["text"] == ["&lt;3&gt;", "&lt;7&gt;"]
    for ring in (named, rings):  # above all points
        assert (array(ring["x"]) == points[[3, 7], 0].astype(np.float32)).all()
    assert [ring["marker"]["color"] for ring in (named, rings)] == ["white", "black"]
    assert named["marker"]["line"]["width"] > rings["marker"]["line"]["width"]
    assert picture["layout"]["xaxis"]["title"]["text"] == "axis 1: 25.0% of the variance"
    assert picture["layout"]["yaxis"]["title"]["text"] == "axis 2: 12.5% of the variance"


def test_labels_of_near_points_are_on_different_sides() -> None:
    points = np.array([[0.0, 0.0], [0.001, 0.0], [0.0, 0.001], [1.0, 1.0]])
    sides = beside(points, [6] * 4, np.ones(2))
    assert len(set(sides[:3])) == 3
    assert sides[3] == "top center"
    assert beside(np.zeros((0, 2)), [], np.zeros(2)) == []
    assert len(beside(np.zeros((1, 2)), [3], np.zeros(2))) == 1
