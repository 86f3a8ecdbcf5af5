"""The Tokens page shows the tokens, ids and embeddings of the model."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.tokens.sentence import chips, classes
from pages.tokens.vocabulary_part import found_ids
from tests.pages.apps import charts, notes, on_page, unfold
from tests.pages.visitor import Visitor
from transformer import Pipeline
from transformer.analysis.token_geometry import token_table
from transformer.analysis.word_trace import word_groups
from transformer.pipeline.untrained import Untrained

PAGE = "pages/tokens/page.py"
CHIP = re.compile(r'<li class="(\w+)"><b>(.*?)</b>(?:<small>(read as .*?)</small>)?<small>id (\d+) → row (\d+)</small></li>')


def opened(model: str, source: str, part: str = "sentence", **more: str) -> AppTest:
    app = on_page(PAGE, part=part)
    app.sidebar.selectbox(key="model").set_value(model).run()
    app.text_area(key="source").set_value(source)
    app.sidebar.text_input(key="target").set_value(more.get("target", ""))
    for name in ("batch", "batch_targets"):
        app.sidebar.text_area(key=name).set_value(more.get(name, ""))
    app.run()
    assert not app.exception
    assert not app.error
    return app


def shown(app: AppTest) -> list[list[tuple[str, str, str, str, str]]]:
    """The chips of every text: (kind, typed token, token that the model reads instead, id, row)."""
    return [CHIP.findall(element.proto.body) for element in app.get("html") if "tokens" in element.proto.body]


def drawn(app: AppTest, index: int) -> list[np.ndarray]:
    """The numbers of each heatmap in a chart."""
    traces = charts(app)[index].spec["data"]
    return [np.asarray(trace["z"]) for trace in traces]


def part(app: AppTest, name: str) -> AppTest:
    """Open another part of the page; returns the app."""
    return app.segmented_control(key="part").set_value(name).run()


def page_text(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.caption])


@pytest.mark.slow
def test_chips_show_ids_and_the_token_that_is_read_for_an_unknown_word() -> None:
    app = opened("english-french", "the catt <b>sleeps")
    vocabulary = Pipeline.load("english-french").source_vocabulary
    the, sleeps = map(str, vocabulary.ids(["the", "sleeps"]))
    (chips,) = shown(app)
    unknown = [("unknown", typed, "read as &lt;unk&gt;", "3", "3") for typed in ("catt", "&lt;", "b", "&gt;")]
    assert chips == [
        ("known", "&lt;sos&gt;", "", "1", "1"),
        ("known", "the", "", the, the),
        *unknown,
        ("known", "sleeps", "", sleeps, sleeps),
        ("known", "&lt;eos&gt;", "", "2", "2"),
    ]
    assert any("catt" in note and "with a similar spelling: cat" in note for note in notes(app))


@pytest.mark.slow
def test_figures_show_the_numbers_of_the_trace() -> None:
    app = opened("reverse", "cab", batch="abcde")
    app.segmented_control(key="item").set_value(1).run()
    unfold(app, "numbers")
    trace = Pipeline.load("reverse").trace(["cab", "abcde"])
    rows, scaled = (trace[f"source_embedding.{name}"].numpy()[0] for name in ("token", "scaled"))
    (first,) = drawn(app, 0)
    assert (first == rows).all()
    assert (app.dataframe[0].value.to_numpy() == rows).all()
    before, after = drawn(part(app, "scaling"), 0)
    assert (before == rows).all()
    assert (after == scaled).all()
    (similar,) = drawn(part(app, "alike"), 0)
    lengths = np.linalg.norm(rows, axis=1)
    np.testing.assert_allclose(similar, rows @ rows.T / lengths[:, None] / lengths, atol=1e-6)
    padding, word = drawn(part(app, "padding"), 0)[0]
    table = token_table(Pipeline.load("reverse").model, "source")
    assert (padding == table[0]).all()
    assert (word == rows[1]).all()


def test_each_side_shows_its_own_text_and_vocabulary() -> None:
    app, pipeline = opened("english-french", "the cat sleeps ."), Pipeline.load("english-french")
    assert f"[**vocabulary**](#word-vocabulary) of {len(pipeline.source_vocabulary)}" in page_text(app)
    app.segmented_control(key="side").set_value("target").run()
    assert f"[**vocabulary**](#word-vocabulary) of {len(pipeline.target_vocabulary)}" in page_text(app)
    (own,) = shown(app)
    assert [chip[1] for chip in own] == ["&lt;sos&gt;", "le", "chat", "dort", "."]
    app.sidebar.text_input(key="target").set_value("le chien").run()
    (typed,) = shown(app)
    assert [chip[1] for chip in typed] == ["&lt;sos&gt;", "le", "chien"]


def test_batch_is_padded_and_padding_is_counted() -> None:
    app = opened("reverse", "abcdef", batch="xy\nz")
    texts = shown(app)
    assert [len(text) for text in texts] == [8, 8, 8]
    assert [[chip[0] for chip in text].count("padding") for text in texts] == [0, 4, 5]
    assert "3 × 8 positions, and `<pad>` stands in **9**" in page_text(part(app, "padding"))
    part(app, "sentence").segmented_control(key="item").set_value(3).run()
    unfold(app, "numbers")
    assert list(app.dataframe[0].value.index) == [
        "0 · <sos>",
        "1 · z",
        "2 · <eos>",
        *(f"{place} · <pad>" for place in range(3, 8)),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "zero", "scales"),
    [("vanilla", True, False), ("pytorch", False, True), ("shared_heads", False, False), ("reverse", False, True)],
)
def test_the_texts_about_padding_and_scaling_match_each_model(model: str, zero: bool, scales: bool) -> None:
    app = opened(model, "a b c", "padding")
    words = page_text(app)
    assert ("is **zero**" in words) == zero
    assert ("is an **ordinary** row" in words) == (not zero)
    lengths = part(app, "vocabulary").dataframe[-1].value["length of its row"]
    assert (lengths.iloc[0] == 0) == zero
    assert (lengths.iloc[1:] > 0).all()

    words = page_text(part(app, "scaling"))
    assert "√d_head" in words  # the text explains that this is a different scaling
    numbers = {metric.label: float(metric.value) for metric in app.metric}
    assert ("does **not** multiply" in words) == (not scales)
    if scales:
        d_model = 64 if model == "reverse" else 512
        before, after = numbers["Mean length of a row, before"], numbers["Mean length of a row, after"]
        assert after == pytest.approx(before * d_model**0.5, abs=0.02)
    else:
        assert set(numbers) == {"Mean length of a row", "Mean length of a position vector"}


@pytest.mark.slow
def test_nearest_words_match_the_table_and_follow_the_text_until_a_pick() -> None:
    pipeline = Pipeline.load("english-french")
    table, vocabulary = token_table(pipeline.model, "source"), pipeline.source_vocabulary
    app = opened("english-french", "tired cat", "alike")

    def nearest(word: str) -> list[str]:
        row = table[vocabulary.ids([word])[0]]
        cosines = table @ row / np.linalg.norm(table, axis=1)
        return [vocabulary.tokens[other] for other in np.argsort(-cosines)[1:11]]

    assert app.dataframe[0].value["token"].tolist() == nearest("tired")
    app.text_area(key="source").set_value("cat").run()
    assert app.dataframe[0].value["token"].tolist() == nearest("cat")
    app.selectbox(key="word").set_value(f"{vocabulary.ids(['it'])[0]} · it").run()
    assert app.dataframe[0].value["token"].tolist() == nearest("it")
    app.sidebar.selectbox(key="model").set_value("reverse").run()
    assert not app.exception
    assert app.selectbox(key="word").value is None


def test_vocabulary_is_searched_by_token_class_and_id() -> None:
    app = opened("english-french", "the cat sleeps", "vocabulary")
    vocabulary = Pipeline.load("english-french").source_vocabulary
    joining = ["and", "as", "because", "but", "or", "than", "that"]
    for asked, expected in (("conjunction", joining), ("<PAD", ["<pad>"]), ("322", [vocabulary.tokens[322]]), ("zzz", [])):
        app.text_input(key="search").set_value(asked).run()
        assert app.dataframe[-1].value["token"].tolist() == expected
        assert f"{len(expected)} of {len(vocabulary)} tokens" in page_text(app)


def test_empty_search_matches_every_token() -> None:
    pipeline = Pipeline.load("dates")
    names = classes(pipeline, "source")
    assert found_ids(pipeline.source_vocabulary, names, "  ") == list(range(61))
    assert {names[token] for token in found_ids(pipeline.source_vocabulary, names, "month")} == {"month"}
    assert names[:4] == ("special",) * 4


def test_raw_ids_are_shown_as_typed_and_0_as_padding() -> None:
    vocabulary = Untrained.of("shared_heads", ["1 05 6 0"], []).build().source_vocabulary
    numbers = CHIP.findall(chips(vocabulary, (1, 5, 6, 0), tuple(vocabulary.split("1 05 6 0"))))
    assert [(kind, typed, token) for kind, typed, _, token, _ in numbers] == [
        ("known", "1", "1"),
        ("known", "5", "5"),
        ("known", "6", "6"),
        ("padding", "0", "0"),
    ]


@pytest.mark.slow
def test_answer_in_raw_ids_is_shown_from_its_start_id() -> None:
    """The answer starts with id 1, although typed ids get no start token."""
    app = opened("shared_heads", "1 5 6 4")
    app.segmented_control(key="side").set_value("target").run()
    trace = Untrained.of("shared_heads", ["1 5 6 4"], []).build().trace("1 5 6 4")
    assert shown(app) == [[("known", token, "", token, token) for token in trace.target_tokens[0]]]


@pytest.mark.slow
@pytest.mark.browser
def test_tokens_are_on_the_axes_and_a_link_restores_the_view(visitor: Visitor) -> None:
    page = visitor.open("tokens?model=reverse&source=cab", whole=True)
    tokens = ["<sos>", "c", "a", "b", "<eos>"]
    assert visitor.ticks(0, "y") == tokens
    visitor.choose("Look at", "which are alike")
    assert visitor.ticks(0, "x") == visitor.ticks(0, "y") == tokens
    visitor.choose("Side", "target")
    assert visitor.ticks(0, "y") == ["<sos>", "b", "a", "c"]
    visitor.choose("Look at", "vocabulary")
    visitor.type("Search the vocabulary", "letter")
    assert "side=target" in page.url
    assert "search=letter" in page.url

    fresh = visitor.open(visitor.become_stranger(), whole=True)
    assert fresh.get_by_text("26 of 30 tokens").is_visible()


@pytest.mark.slow
@pytest.mark.browser
def test_chips_fit_a_phone_without_sideways_scrolling(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 390, "height": 844})
    page = visitor.open("tokens?model=english-french")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth + 2")
    chip = page.locator(".tokens li")
    assert chip.count() == 14
    for box in (chip.nth(index).bounding_box() for index in range(14)):
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    # A word of 500 letters breaks into lines.
    visitor.type("Source text", "x" * 500)
    main = page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollWidth <= main.clientWidth + 2")
    assert page.locator(".tokens .unknown").count() == 1


@pytest.mark.slow
def test_the_nearest_words_of_a_text_do_not_begin_with_those_of_a_mark() -> None:
    app = opened("everyday", "…cat", "alike")
    tokens = Pipeline.load("everyday").trace("…cat").source_tokens[0]
    assert tokens[1] == "▁"  # otherwise, this test needs another text
    assert app.selectbox(key="word").placeholder.startswith(f"{tokens[2]} (")


def test_a_word_of_one_piece_has_one_id_and_a_word_of_several_has_all() -> None:
    source = "Zorglub sleeps."
    app = on_page(PAGE, model="everyday", source=source)
    pipeline = Pipeline.load("everyday")
    trace = pipeline.trace(source)
    (html,) = (element.proto.body for element in app.get("html") if "tokens" in element.proto.body)
    for group in word_groups(trace, "source"):
        ids = [trace.source_ids[0][place] for place in group]
        assert (f"ids {' '.join(map(str, ids))}<" if len(ids) > 1 else f">id {ids[0]} → row {ids[0]}<") in html
