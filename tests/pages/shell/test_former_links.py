"""Links of earlier versions open the same view today. Choices in a link are ids, independent of their labels."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from pages.shell.former_links import EVERYWHERE, FORMER, PARTS, translated, with_part
from tests.pages.apps import HOME, on_page
from tests.pages.visitor import Visitor

# Page → former name → (a value in a former link, its value today). Has every name of the table.
FORMERLY = {
    "attention": {
        "attention_computed": ("true", "true"),
        "look": ("combined", "combined"),
        "combine": ("mean over all", "mean-over-all"),
        "row": ("2 · b", "2"),
        "cell_row": ("1 · a", "1"),
        "cell_column": ("3", "3"),
        "matters": ("1: b", "1"),
    },
    "layers": {
        "layers_computed": ("true", "true"),
        "part": ("residual stream", "residual-stream"),
        "walk_item": ("2", "2"),
        "walk_head": ("2", "2"),
        "walk_speed": ("4", "4"),
        "film_layer": ("encoder 2", "encoder-2"),
        "work_layer": ("decoder 1", "decoder-1"),
        "ledger_layer": ("source", "source"),
        "ledger_work": ("scores and weights", "scores-and-weights"),
        "ledger_part": ("softmax", "softmax"),
        "ledger_count": ("parameters", "parameters"),
        "ledger_along": ("heads", "heads"),
        "ledger_log": ("false", "false"),
        "calls_tree": ("constructing", "constructing"),
        "calls_differing": ("true", "true"),
        "stream_stack": ("decoder", "decoder"),
        "stream_measure": ("cosine", "cosine"),
        "stream_follow": ("2 · b", "2"),
        "work_part": ("feed_forward", "feed_forward"),
        "work_position": ("1 · a", "1"),
    },
    "masks": {
        "masks_computed": ("true", "true"),
        "mask_part": ("three conventions", "three-conventions"),
        "mask_item": ("1", "1"),
        "mask_kind": ("cross", "cross"),
        "mask_layer": ("2", "2"),
        "mask_head": ("2", "2"),
        "leak_position": ("2: b", "2"),
        "leak_word": ("b", "b"),
        "leak_padding": ("4", "4"),
    },
    "positions": {
        "positions_computed": ("true", "true"),
        "positions_side": ("target", "target"),
        "positions_look": ("rotation", "rotation"),
        "positions_kind": ("learned, before training", "learned-before-training"),
        "positions_length": ("12", "12"),
        "positions_d_model": ("8", "8"),
        "positions_row": ("5", "5"),
        "positions_column": ("2", "2"),
        "positions_shift": ("3", "3"),
        "positions_waves": ("7", "7"),
        "positions_numbers": ("position", "position"),
        "positions_first": ("2 · b", "2"),
        "positions_second": ("3 · c", "3"),
        "positions_run": ("without positions", "without-positions"),
    },
    "tokens": {
        "tokens_computed": ("true", "true"),
        "tokens_side": ("target", "target"),
        "tokens_item": ("2", "2"),
        "tokens_word": ("5 · b", "b"),
        "tokens_search": ("letter", "letter"),
    },
    "home": {"home_computed": ("true", "true")},
    "turning": {"turning_computed": ("true", "true")},
}
ROWS = [(page, name, *values) for page, names in FORMERLY.items() for name, values in names.items()]


def test_every_former_name_has_an_example() -> None:
    assert {page: list(names) for page, names in FORMERLY.items()} == {page: list(rows) for page, rows in FORMER.items()}


@pytest.mark.parametrize(("page", "name", "former", "today"), ROWS)
def test_former_names_and_values_are_translated(page: str, name: str, former: str, today: str) -> None:
    assert translated(page, {name: [former]}) == {FORMER[page][name].name: [today]}
    assert re.fullmatch("[a-z0-9_-]+", today)


def test_value_of_todays_name_wins() -> None:
    assert translated("attention", {"look": ["map"], "part": ["lines"], "row": ["2"]}) == {"part": ["lines"], "row": ["2"]}
    assert translated("masks", {"model": ["own sizes"]}) == {EVERYWHERE["model"].name: ["own-sizes"]}


@pytest.mark.parametrize("page", [page for page in FORMERLY if page != "home"])
def test_former_link_opens_the_same_view(page: str) -> None:
    """One link has all former names of a page. After it is opened, the address has today's names of all drawn widgets."""
    former = {name: values[0] for name, values in FORMERLY[page].items()}
    app = on_page(f"pages/{page}/page.py", model="reverse", source="abcd", batch="ab", **former)
    assert not app.exception
    assert not set(app.query_params) & (set(former) - set(translated(page, {name: [""] for name in former})))
    for name, (_, today) in FORMERLY[page].items():
        row = FORMER[page][name]
        if name.endswith(("_computed", "look", "part", "side")) and row.name in app.query_params:
            assert app.query_params[row.name] in (today, [today])


@pytest.mark.parametrize(("page", "part"), [(page, part) for page, parts in PARTS.items() for part in parts])
def test_links_without_a_part_open_the_part_of_their_widgets(page: str, part: str) -> None:
    for name in PARTS[page][part]:
        assert with_part(page, {name: ["3"], "source": ["a"]})["part"] == [part]
        assert with_part(page, {name: ["3"], "part": ["other"]})["part"] == ["other"]
    assert "part" not in with_part(page, {"source": ["a"], "first": ["1"]})


def test_link_to_a_cell_of_the_table_opens_the_table() -> None:
    app = on_page("pages/positions/page.py", model="reverse", source="abc", position="7")
    assert app.number_input(key="position").value == 7
    assert app.query_params["part"] in ("table", ["table"])
    app.segmented_control(key="part").set_value("swap").run()
    assert "part" not in app.query_params  # the default part; `position` in the address does not open another one
    assert app.selectbox(key="first").value == 1


def test_former_link_to_own_sizes_opens_them() -> None:
    app = on_page(HOME, model="own sizes")
    assert app.session_state["model"] == "own-sizes"
    assert app.query_params["model"] in ("own-sizes", ["own-sizes"])


@pytest.mark.browser
def test_former_link_opens_first_in_a_browser(visitor: Visitor) -> None:
    page = visitor.open("masks?model=reverse&source=torch&mask_part=three+conventions&mask_kind=cross&mask_layer=2", whole=True)
    address = urlsplit(page.url)
    assert address.path == "/masks"
    today = {"model": "reverse", "source": "torch", "part": "three-conventions", "kind": "cross", "layer": "2"}
    assert {name: value for name, (value,) in parse_qs(address.query).items()} == today
    assert page.get_by_role("radio", name="three conventions").is_checked()
