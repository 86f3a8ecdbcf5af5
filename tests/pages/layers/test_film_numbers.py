"""The numbers of the filmstrip, and the CSV file saved from it."""

from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pages.layers.tensor_views import tensor_of
from pages.layers.tensors import all_numbers, numbers
from pages.shell.view.runs import Runs
from tests.pages.visitor import Visitor
from transformer.analysis.walk import walk

TEXTS = ("abcd", "zyxw")


@pytest.mark.slow
@pytest.mark.parametrize("model", ["reverse", "reverse-shared"])
@pytest.mark.parametrize("item", [0, 1])
def test_the_numbers_contain_every_tensor_of_every_part_as_computed(model: str, item: int) -> None:
    runs = Runs()
    pipeline, trace = runs.pipeline(model), runs.trace(model, TEXTS, (None, None), ())
    for _, members in groupby(walk(trace), lambda stop: stop.group):
        stops = list(members)
        frames = [tensor_of(pipeline, trace, stop, item, None) for stop in stops]
        table = all_numbers(frames)
        assert list(dict.fromkeys(table.index.get_level_values("tensor"))) == [stop.path for stop in stops]
        for stop, frame in zip(stops, frames, strict=True):
            part = table.loc[stop.path].dropna(axis="columns", how="all")
            pd.testing.assert_frame_equal(part, numbers(frame), check_names=False)
            step = trace[stop.path]
            values = step.numpy()[item] if "batch" in step.axes else step.numpy()
            if "head" in step.axes:
                values = np.moveaxis(values, [axis for axis in step.axes if axis != "batch"].index("head"), 0)
            np.testing.assert_array_equal(part.to_numpy().reshape(-1), values.astype(np.float32).reshape(-1))


@pytest.mark.slow
@pytest.mark.browser
def test_the_csv_file_contains_the_tensors_of_the_chosen_text(visitor: Visitor, tmp_path: Path) -> None:
    path = "encoder.layers.1.self_attention.weights"
    query = f"part=filmstrip&group=encoder-2&item=2&model=reverse&source={TEXTS[0]}&batch={TEXTS[1]}"
    page = visitor.open(f"layers?{query}")
    page.get_by_role("button", name="Save").click()
    with page.expect_download() as coming:
        page.get_by_role("button", name="Numbers as CSV").click()
    assert coming.value.suggested_filename == "reverse-encoder 2.csv"
    coming.value.save_as(tmp_path / "film.csv")
    table = pd.read_csv(tmp_path / "film.csv", index_col=["tensor", "row"], dtype={str(at): np.float32 for at in range(512)})
    trace = Runs().trace("reverse", TEXTS, (None, None), ())
    weights = trace[path].numpy()[1]
    part = table.loc[path].dropna(axis="columns")
    np.testing.assert_array_equal(part.to_numpy(), weights.reshape(-1, weights.shape[-1]))
    assert part.index[0] == f"head 1, 0 · {trace.source_tokens[1][0]}"
    assert {where.rpartition(".layers.1")[0] for where in table.index.get_level_values("tensor")} == {"encoder"}
