"""The Home page: the map, the cards, and the addresses of their links."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect
from streamlit.testing.v1 import AppTest

from pages.home.map_elements import MapElements
from pages.home.overview import counted
from pages.home.part_links import Link, packed
from pages.lessons.content.lesson_answers import Answer
from pages.lessons.content.library import shipped
from pages.lessons.playing.open_lesson import FIRST_LESSON, LEFT, OPEN, OpenLesson
from pages.shell.frame.navigation import page_files, tour
from pages.shell.models.model_examples import TEXTS
from pages.shell.view.runs import runs
from pages.ui.format import share
from pages.ui.text import text
from tests.pages.apps import HOME, charts, is_chart, notes, on_page, shown, unfold
from tests.pages.visitor import Visitor
from transformer.figures.attention_figures import LEVELS, MASKED_LEVEL
from transformer.figures.decoding_figures import percent
from transformer.tracing.paths import Kind

ROOT = Path(__file__).parents[3]
WORDS = text("home")
SHIPPED = {"model": "reverse", "source": "torch"}
OWN = {"model": "own-sizes", "variant": "shared_heads", "n_layers": "3", "n_heads": "5", "d_model": "20", "d_ff": "7"}
PAGES = {file.parent.name for file in page_files()}
# A link may set boxes of the sidebar, and widgets of the page that it opens.
BOXES = {"model", *TEXTS}
CHOICES = {"kind", "layer", "head", "part", "edits", "stop", "side", "step"}


def opened(**query: str) -> AppTest:
    app = on_page(HOME, **query)
    assert not app.exception
    assert not app.error
    return app


def test_a_translator_shows_its_scores_and_how_often_its_doubt_is_right() -> None:
    app, card = opened(model="everyday"), runs().pipeline("everyday").card
    shown_numbers = {metric.label: metric.value for metric in app.main.metric}
    beam, doubt = card.measures["translation"]["beam"], card.measures["doubt"]
    assert (shown_numbers["BLEU"], shown_numbers["chrF"]) == (f"{beam['bleu']:.1f}", f"{beam['chrf']:.1f}")
    (says,) = (caption.value for caption in app.main.caption if f"{doubt['poor_of_marked']:.0%}" in caption.value)
    assert f"{doubt['found']:.0%} of the poor answers" in says
    helps = {metric.label: metric.help for metric in app.main.metric}
    assert f"{card.measures['translation']['greedy']['bleu']:.1f} with greedy decoding" in helps["BLEU"]
    assert any(
        "5,000 pieces of words. Its shipped weights have 8 bits each, those of its snapshots 4." in caption.value
        for caption in app.main.caption
    )
    by_length = card.measures["translation"]["by_length"]
    (table,) = unfold(app, "by_length").table
    assert list(table.value.index) == list(by_length)
    assert table.value[["BLEU", "chrF"]].to_numpy().tolist() == [
        [f"{scores[name]:.1f}" for name in ("bleu", "chrf")] for scores in by_length.values()
    ]


def everything_sent(app: AppTest) -> list[dict[str, Any]]:
    """The data of each component. They are sent as JSON, or as a parcel: four bytes with the length of the JSON, then the
    JSON."""
    protos = [each.proto for each in app.main.get("bidi_component") if not is_chart(each)]
    return [json.loads(proto.json or proto.bytes[4:]) for proto in protos]


def sent(app: AppTest, name: str) -> dict[str, Any]:
    """The data of the first component whose data contain a name."""
    return next(data for data in everything_sent(app) if name in data)


def elements(data: Any, name: str) -> list[list[Any]]:
    """The elements of the map that have a class, in the order of the page: each a tag, its attributes and its children."""
    if not isinstance(data, list):
        return []
    inner = [element for child in data for element in elements(child, name)]
    is_one = len(data) > 1 and isinstance(data[1], dict) and name in str(data[1].get("class", "")).split()
    return [data, *inner] if is_one else inner


def words_of(element: Any) -> str:
    """The text of an element."""
    return element if isinstance(element, str) else "".join(words_of(child) for child in element[2:])


def told(data: Any, name: str) -> list[str]:
    """The texts of the elements that have a class."""
    return [words_of(element) for element in elements(data, name)]


def columns_of(data: dict[str, Any]) -> list[list[Any]]:
    return elements(data["elements"], "column")


def every_link(data: Any) -> list[dict[str, Any]]:
    """All links in a component's data, at any depth."""
    if isinstance(data, dict):
        inner = [link for value in data.values() for link in every_link(value)]
        return [data, *inner] if {"page", "query", "base"} <= data.keys() else inner
    return [link for value in data for link in every_link(value)] if isinstance(data, list) else []


# --- the map -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["marian", "mbart", "bart"])
def test_the_map_says_of_an_imported_model_whether_rows_of_its_token_table_are_scaled(
    name: str, name_folders: Callable[..., None]
) -> None:
    tiny = pytest.importorskip("tests.transformer.huggingface.tiny", reason="transformers is not installed")
    name_folders(tiny.folder_of(name))
    encoder, decoder = columns_of(sent(opened(model=name, source="the cat sleeps ."), "elements"))
    note = WORDS["map"]["table" if name == "bart" else "scaled"].format(vocabulary=tiny.VOCAB, width=16)
    assert (told(encoder, "note")[0], told(decoder, "note")[0]) == (note, note)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("query", [SHIPPED, OWN, {"model": "pytorch"}])
def test_the_map_shows_the_models_own_configuration(query: dict[str, str]) -> None:
    data = sent(opened(**query), "elements")
    key = "reverse" if query["model"] == "reverse" else None
    encoder, decoder = columns_of(data)
    titles = [told(column, "title") for column in (encoder, decoder)]
    words = WORDS["map"]
    sub = [words["attention"]["encoder"], words["add_norm"], words["feed_forward"], words["add_norm"]]
    final = [words["norm"]] if query["model"] != "own-sizes" else []  # `shared_heads` has no norm after its stacks
    assert titles[0] == [words["embedding"], words["position"], *sub, *final, words["memory"]]
    assert titles[1][2:8] == [words["attention"]["decoder"], words["add_norm"], words["attention"]["cross"], *sub[1:]]
    assert titles[1][8:] == [*final, words["linear"], words["softmax"]]
    if query is OWN:
        assert data["layers"] == {"encoder": 3, "decoder": 3}
        notes = told(encoder, "note")
        assert "5 heads of 4" in notes
        assert "20 → 7 → 20" in notes
        assert words["learned"] in notes
        assert data["heads"]["cross"]["shape"][:2] == [3, 5]
    if key:
        config = runs().pipeline(key).config
        assert data["layers"] == {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
        assert f"{config.heads} heads of {config.d_head}" in told(decoder, "note")
    if query["model"] == "pytorch":
        assert any("× √512" in note for note in told(encoder, "note"))


def test_the_map_shows_the_input_tokens_and_the_answer_with_its_probabilities() -> None:
    data = sent(opened(**SHIPPED), "elements")
    encoder, decoder = (elements(column, "tokens") for column in columns_of(data))
    assert told(encoder[0], "chip") == ["<sos>", *"torch", "<eos>"]
    assert told(decoder[0], "chip") == ["<sos>", *"hcrot"]
    out = elements(decoder[-1], "chip")
    assert [chip[2] for chip in out] == [*"hcrot", "<eos>"]
    rows = runs().trace("reverse", ("torch",), (None,), ()).probabilities[0]
    assert [words_of(chip[3]) for chip in out] == [f"{row.max().item():.0%}" for row in rows]
    for place, (_, attributes, *_) in enumerate(out, 1):
        link = data["links"][attributes["data-link"]]
        assert (link["page"], link["query"], attributes["data-step"]) == ("decoding", {"step": "{step}"}, place)
    for row, tip in zip(rows, [chip[1]["data-tip"] for chip in out], strict=True):
        top = row.topk(5)
        tokens = runs().pipeline("reverse").target_vocabulary.tokens_of(top.indices.tolist())
        expected = [f"{token}  {percent(value)}" for token, value in zip(tokens, top.values.tolist(), strict=True)]
        assert tip.splitlines() == [WORDS["map"]["tip"], *expected]


def test_the_answer_in_pieces_is_shown_as_words_with_the_product_of_the_probabilities() -> None:
    source = "The skyscraper disappeared."
    drawn = sent(opened(model="everyday", source=source), "elements")
    out = elements(elements(columns_of(drawn)[1], "tokens")[-1], "chip")
    answer = runs().pipeline("everyday").answers([source])[0]
    pieces, rows = [*answer.tokens, "<eos>"], runs().trace("everyday", (source,), (None,), ()).probabilities[0]
    assert "".join(chip[2] for chip in out) == "".join(pieces).replace("▁", "")
    starts = [chip[1]["data-step"] - 1 for chip in out]
    assert len(out) < len(pieces)
    for chip, start, end in zip(out, starts, [*starts[1:], len(pieces)], strict=True):
        assert chip[2] == "".join(pieces[start:end]).replace("▁", "")
        assert words_of(chip[3]) == share(float(rows[start:end].max(-1).values.prod()))
    exact = sent(opened(model="everyday", source=source, join="false"), "elements")
    assert [chip[2] for chip in elements(elements(columns_of(exact)[1], "tokens")[-1], "chip")] == pieces


def test_with_a_typed_target_the_map_shows_it_as_input_and_the_most_probable_next_tokens_as_output() -> None:
    typed, *_, guessed = elements(columns_of(sent(opened(**SHIPPED, target="hxx"), "elements"))[1], "tokens")
    assert told(typed, "chip") == ["<sos>", *"hxx"]
    assert told(typed, "label") == [WORDS["map"]["target"]]
    trace = runs().trace("reverse", ("torch",), ("hxx",), ())
    tokens = runs().pipeline("reverse").target_vocabulary.tokens_of(trace.logits[0].argmax(-1).tolist())
    assert [chip[2] for chip in elements(guessed, "chip")] == list(tokens)
    assert [chip[2] for chip in elements(guessed, "chip")][:2] == ["h", "c"]


def test_the_map_and_the_page_show_the_same_answer_of_an_untrained_model() -> None:
    app = opened(**OWN, source="big cat")
    answer = elements(columns_of(sent(app, "elements"))[1], "tokens")[-1]
    out = [chip[2] for chip in elements(answer, "chip")]
    assert f"**{' '.join(out)}**" in shown(" ".join(markdown.value for markdown in app.main.markdown))


def test_the_small_pictures_show_the_weights_of_every_head() -> None:
    from base64 import b64decode

    data = sent(opened(**SHIPPED), "elements")
    trace = runs().trace("reverse", ("torch",), (None,), ())
    for kind in Kind:
        picture = data["heads"][kind]
        levels = np.frombuffer(b64decode(picture["levels"]), np.uint8).reshape(picture["shape"])
        weights, allowed = trace.attention(kind)[:, 0].numpy(), trace.allowed(kind)[:, 0].numpy()
        assert abs(levels[allowed] / LEVELS - weights[allowed]).max() < 0.003
        assert (levels[~allowed] == MASKED_LEVEL).all()


def test_for_a_long_text_no_small_pictures_are_sent_because_they_are_too_large() -> None:
    data = sent(opened(model="own-sizes", n_layers="12", n_heads="16", source="a " * 60), "elements")
    assert data["heads"] is None
    assert len(json.dumps(data)) < 60_000


@pytest.mark.parametrize("query", [SHIPPED, OWN])
def test_every_block_links_to_a_page_and_a_place_that_exist(query: dict[str, str]) -> None:
    app = opened(**query)
    data = sent(app, "elements")
    key = app.session_state["model"] if query is SHIPPED else None
    assert all("data-link" in name[1] for name in elements(data["elements"], "name"))
    assert all(elements(tokens, "chips")[0][0] == "a" for tokens in elements(data["elements"], "tokens")[:-1])
    every = every_link(data)
    assert {link["page"] for link in every} <= PAGES
    assert {"tokens", "positions", "masks", "attention", "layers"} & PAGES <= {link["page"] for link in every}
    stops = {link["query"]["stop"] for link in every if "stop" in link["query"]}
    if key:
        trace = runs().trace("reverse", ("torch",), (None,), ())
        assert all(stop.format(index=trace.config.encoder_layers - 1) in trace for stop in stops)
    for link in every:
        assert set(link["query"]) <= BOXES | CHOICES
        assert all(isinstance(value, str) for value in link["query"].values())
        for name, value in query.items():
            assert str(link["base"][name]) == value


def test_a_block_of_a_missing_page_is_not_linked() -> None:
    made = MapElements({"encoder": 1}, None, {}, numbered=False)
    blocks = [made.block(page, "", Link(page, {}), []) for page in ("nowhere", "attention")]
    (missing, linked) = elements(blocks, "name")
    assert (missing[0], "data-link" in missing[1]) == ("span", False)
    assert (linked[0], linked[1]["data-link"]) == ("a", 0)
    assert [link["page"] for link in made.links] == ["attention"]


def two_cards() -> None:
    from pages.home.part_links import Card, Link, show_cards

    show_cards([Card(page, page, "", Link(page, {})) for page in ("nowhere", "attention")], "cards", "two", {})


def test_a_card_of_a_missing_page_is_left_out() -> None:
    data = sent(AppTest.from_function(two_cards).run(), "list")
    assert told(data["list"], "title") == ["attention"]
    assert [link["page"] for link in data["links"]] == ["attention"]


@pytest.mark.slow
@pytest.mark.parametrize("query", [SHIPPED, OWN, {"model": "pytorch"}])
def test_every_block_is_explained_by_the_glossary(query: dict[str, str]) -> None:
    data = sent(opened(**query), "elements")
    terms = text("glossary")["terms"]
    assert data["terms"].items() <= terms.items()
    assert "<sos>" in data["terms"] or query is not SHIPPED
    drawn = data["elements"]
    strips = elements(drawn, "heads")
    assert strips
    explained = [
        *(element for name in ("name", "mask", "layers") for element in elements(drawn, name)),
        *(cell for strip in strips for cell in strip[2:]),
        *(row if "data-terms" in row[1] else row[2] for row in elements(drawn, "chips")),
    ]
    assert len(explained) > 20
    for _, attributes, *_ in explained:
        assert set(json.loads(attributes["data-terms"])) <= data["terms"].keys()
    assert not elements(drawn, "callouts")


def test_a_typed_word_that_is_a_term_of_the_glossary_is_not_explained() -> None:
    chips = elements(sent(opened(**OWN, source="head layer"), "elements")["elements"], "chip")
    (word,) = [chip for chip in chips if words_of(chip) == "head"][:1]
    assert "data-terms" not in word[1]


def test_the_numbers_follow_the_data_flow_and_each_has_a_line() -> None:
    drawn = sent(opened(**SHIPPED, numbered="true"), "elements")["elements"]
    names = ["tokens", "vectors", "encoder", "memory", "written", "cross", "scores", "answer"]
    assert told(drawn, "number") == [str(place) for place in range(1, len(names) + 1)]
    lines = [words_of(line) for line in elements(drawn, "callouts")[0][2:]]
    assert lines == [WORDS["map"]["callouts"][name] for name in names]
    forced = sent(opened(**SHIPPED, numbered="true", target="hxx"), "elements")["elements"]
    assert [line for line in map(words_of, elements(forced, "callouts")[0][2:]) if line not in lines] == [
        WORDS["map"]["callouts"][name] for name in ("forced", "guesses")
    ]


# --- cards -------------------------------------------------------------------------------------------------------------


def test_the_cards_of_the_tour_are_its_stops() -> None:
    app = opened(**SHIPPED, part="tour")
    (stops,) = (data for data in everything_sent(app) if data.get("list", [""])[0] == "ol")
    assert [link["page"] for link in stops["links"]] == [stop.parent.name for stop in tour()[1:]]
    assert [words_of(number) for number in elements(stops["list"], "number")] == [
        str(place + 2) for place in range(len(tour()) - 1)
    ]
    assert all(map(words_of, elements(stops["list"], "says")))
    assert WORDS["counts"][len(tour())] in " ".join(header.value for header in app.header)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("start", WORDS["starts"], ids=lambda start: start["title"])
def test_every_example_opens_its_page_without_a_warning(start: dict[str, Any]) -> None:
    """Each example opens with one click and shows no error and no warning."""
    if start["page"] not in PAGES:
        pytest.skip("its page is not there yet")
    file = next(file for file in page_files() if file.parent.name == start["page"])
    app = on_page(str(file.relative_to(ROOT)), **start["query"])
    assert not app.exception
    assert not app.error
    assert not app.warning
    assert {name: app.session_state[name] for name in start["query"] if name in BOXES} == {
        name: value for name, value in start["query"].items() if name in BOXES
    }


def test_the_example_about_the_pronoun_opens_the_head_that_turns() -> None:
    measures = runs().pipeline("english-french").card.measures["pronouns"]
    (starts,) = (
        data
        for data in everything_sent(opened(**SHIPPED, part="examples"))
        if "Who is “it”?" in told(data.get("list"), "title")
    )
    query = starts["links"][told(starts["list"], "title").index("Who is “it”?")]["query"]
    assert (query["kind"], query["layer"], query["head"]) == ("cross", str(measures["layer"]), str(measures["head"]))


def test_a_block_of_the_decoder_opens_the_side_of_the_decoder() -> None:
    data = sent(opened(**SHIPPED), "elements")
    for column, side in zip(columns_of(data), ("source", "target"), strict=True):
        linked = [element[1].get("data-link") for name in ("name", "chips") for element in elements(column, name)]
        queries = [data["links"][link]["query"] for link in linked if link is not None]
        assert {query["side"] for query in queries if "side" in query} == {side}


@pytest.mark.parametrize("source", ["", " "])
def test_without_a_text_the_examples_are_still_drawn(source: str) -> None:
    app = on_page(HOME, model="reverse", source=source)
    (note,) = notes(app)
    assert "There is nothing to read" in note
    headings = [header.value for header in app.header]
    assert WORDS["starts_heading"] in headings
    assert WORDS["map_heading"] not in headings
    lists = [data["links"] for data in everything_sent(app) if "list" in data]
    assert sum(map(len, lists)) == len(WORDS["starts"])


def test_a_link_exists_if_its_page_does() -> None:
    assert packed(Link("nowhere", {}), {}) is None
    assert packed(Link("home", {}), {"source": "a b&c"}) == {
        "page": "home",
        "query": {},
        "part": "",
        "base": {"source": "a b&c"},
    }


# --- in a browser ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.browser
def test_a_finger_on_a_block_delays_the_new_map_only_until_it_is_released(visitor: Visitor) -> None:
    page = visitor.open("?model=reverse&source=torch")
    chips = page.locator(".map .left .chips").first
    block = page.locator(".map nav a.name").filter(has_text="Cross-attention")
    block.dispatch_event("pointerdown", {"button": 0})
    visitor.type("Source text", "abc")
    assert "torch" in "".join(chips.locator(".chip").all_text_contents())
    block.dispatch_event("pointercancel")
    page.wait_for_function(
        """() => [...document.querySelectorAll("*")].some((at) =>
        at.shadowRoot?.querySelector(".map .left .chips")?.textContent.includes("abc"))"""
    )
    # The first tap explains a block. The second tap follows its link.
    explanation, terms, home = page.locator(".map .explanation"), text("glossary")["terms"], page.url
    memory = page.locator(".map nav a.name").filter(has_text=WORDS["map"]["memory"])
    tap = "block => block.dispatchEvent(new PointerEvent('click', TOUCH))".replace(
        "TOUCH", "{ pointerType: 'touch', bubbles: true, composed: true, cancelable: true }"
    )
    memory.evaluate(tap)
    assert explanation.inner_text().split() == f"Memory {terms['memory']} {WORDS['map']['tap']}".split()
    assert page.url == home
    memory.evaluate(tap)
    page.get_by_role("heading", name="Layers", level=1).wait_for()


@pytest.mark.browser
def test_the_map_can_be_used_with_the_keyboard_alone(visitor: Visitor) -> None:
    page = visitor.open("?model=reverse&source=torch")
    focusable = page.locator(".map nav").locator("a, button")
    focusable.first.focus()
    for index in range(focusable.count()):
        place = page.evaluate(
            """() => { let at = document.activeElement; while (at.shadowRoot) at = at.shadowRoot.activeElement;
            const described = at.getRootNode().getElementById(at.getAttribute("aria-describedby"));
            const name = at.textContent || at.getAttribute("aria-label");
            return [name, getComputedStyle(at).outlineStyle, described?.textContent] }"""
        )
        assert place[0]
        if index:
            assert place[1] != "none"
        if "Cross-attention" in place[0]:
            meaning = text("glossary")["terms"]["cross-attention"]
            assert meaning in page.locator(".map .explanation").inner_text()
            assert place[2] == meaning
            break
        page.keyboard.press("Tab")
    else:
        pytest.fail("Tab does not reach the cross-attention")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Cross-attention, layer 1, head 2").wait_for()


@pytest.mark.slow
@pytest.mark.browser
def test_a_block_that_moves_below_a_pointer_at_rest_is_not_explained(visitor: Visitor) -> None:
    page = visitor.open("?model=reverse&source=torch")
    block, explanation = page.locator(".map #memory"), page.locator(".map .explanation")
    block.scroll_into_view_if_needed()
    # The browser sends this event, too, when a block is scrolled below a pointer at rest.
    block.dispatch_event("pointerover", {"pointerType": "mouse", "bubbles": True})
    assert explanation.inner_text() == ""
    block.hover()
    expect(explanation).to_contain_text("Memory", use_inner_text=True)
    page.mouse.move(1, 1)
    expect(explanation).to_have_text("")


@pytest.mark.slow
@pytest.mark.browser
def test_no_part_of_the_map_is_outside_it_or_overlaps_another_part(visitor: Visitor) -> None:
    visitor.page.emulate_media(color_scheme="dark")
    for width, height, query in (
        (390, 844, "?source=the+animal+did+not+cross+the+street+because+it+was+too+tired"),
        (1280, 720, "?model=own-sizes&n_layers=12&n_heads=16&source=supercalifragilisticexpialidocious+is+a+word"),
    ):
        visitor.page.set_viewport_size({"width": width, "height": height})
        page = visitor.open(query)
        counts = page.evaluate(
            """() => {
            const host = [...document.querySelectorAll("*")].find((at) => at.shadowRoot?.querySelector(".map"));
            const map = host.shadowRoot.querySelector(".map"), around = map.getBoundingClientRect();
            const boxes = [...map.querySelectorAll(".block, .tokens, .layers")].map((at) => at.getBoundingClientRect());
            const out = [...map.querySelectorAll("a, button, .note, .title")].map((at) => at.getBoundingClientRect())
                .filter((box) => box.left < around.left - 1 || box.right > around.right + 1).length;
            const over = boxes.filter((a, i) => boxes.some((b, j) => i < j && a.left < b.right - 1 && b.left < a.right - 1
                && a.top < b.bottom - 1 && b.top < a.bottom - 1)).length;
            return [boxes.length, out, over, document.documentElement.scrollWidth > innerWidth];
        }"""
        )
        assert counts[0] > 15
        assert counts[1:] == [0, 0, False]


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(("width", "height"), [(1024, 768), (1280, 720)])
def test_on_a_projector_the_numbered_lines_leave_room_for_the_map(visitor: Visitor, width: int, height: int) -> None:
    visitor.page.set_viewport_size({"width": width, "height": height})
    page = visitor.open("?source=the+cat+sleeps+.&numbered=true&present=1")
    lines, sheet = page.locator(".callouts").bounding_box(), page.locator(".sheet").bounding_box()
    assert lines
    assert sheet
    assert sheet["y"] - lines["y"] < height / 4
    assert page.locator(".callouts li").first.evaluate("line => parseFloat(getComputedStyle(line).fontSize)") >= 18


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(("width", "height"), [(1024, 768), (1280, 720)])
def test_beside_a_presented_lesson_the_names_of_masks_stay_in_their_blocks(visitor: Visitor, width: int, height: int) -> None:
    visitor.page.set_viewport_size({"width": width, "height": height})
    page = visitor.open("?lesson=first-look&lesson_stop=1&present=1")
    expect(page.locator(".sheet .mask").first).to_be_visible()
    outside = page.locator(".sheet .mask").evaluate_all(
        """masks => masks.filter((mask) => {
            const [own, block] = [mask, mask.closest('.block')].map((element) => element.getBoundingClientRect());
            return mask.scrollWidth > mask.clientWidth || own.left < block.left || own.right > block.right;
        }).map((mask) => mask.textContent)"""
    )
    assert outside == []


def test_a_button_opens_the_first_lesson_or_continues_the_one_that_was_left() -> None:
    app, lesson = opened(**SHIPPED), shipped()[FIRST_LESSON]
    button = app.button(key="open_first_lesson")
    assert button.label == f"First visit? First look: seven stops, {round(lesson.minutes)} minutes"
    button.click().run()
    assert not app.exception
    assert app.session_state[OPEN] == OpenLesson(FIRST_LESSON, started=True)
    app = opened(**SHIPPED)
    left = OpenLesson(FIRST_LESSON, 2, {0: Answer("1", "2")})
    app.session_state[LEFT] = left
    app.run()
    button = app.button(key="open_first_lesson")
    assert button.label == "Continue First look at stop 3"
    button.click().run()
    assert app.session_state[OPEN] == replace(left, started=True)


@pytest.mark.parametrize("count", [2, 11, 12])
def test_a_tour_of_any_length_can_be_counted(count: int) -> None:
    """The heading of the tour has the number (`test_the_cards_of_the_tour_are_its_stops`)."""
    assert counted(count) == ("Two" if count == 2 else str(count))


@pytest.mark.parametrize(
    ("adjective", "pronoun", "noun", "row"),
    [("tired", "il", "animal", 0), ("wide", "elle", "street", 1), ("zorglub", "il", "animal", 0)],
)
def test_one_adjective_turns_the_head(adjective: str, pronoun: str, noun: str, row: int) -> None:
    app = opened(**SHIPPED, adjective=adjective)
    (chart,) = [each for each in charts(app.main) if each.key == "home-turning"]
    figure = chart.spec["data"][0]
    assert [figure["x"][place] for place in np.asarray(figure["z"]).argmax(-1)] == ["2: animal", "7: street"]
    assert {(shape["y0"] + shape["y1"]) / 2 for shape in chart.spec["layout"]["shapes"]} == {row}
    (answer,) = [each.value for each in app.main.markdown if each.value.startswith("“")]
    assert f"*{pronoun}*, because" in answer
    assert f"*{noun}*" in answer


def test_the_links_below_the_rows_ask_about_the_head_and_patch_it() -> None:
    app = opened(**SHIPPED, adjective="wide")
    measures = runs().pipeline("english-french").card.measures["pronouns"]
    (links,) = (
        data["links"]
        for data in everything_sent(app)
        if "list" in data and data["list"][1]["aria-label"] == WORDS["turning"]["heading"]
    )
    assert [link["page"] for link in links] == ["attention", "patching"]
    asked, patched = (dict(link["query"]) for link in links)
    assert (asked.pop("part"), asked.pop("predict"), patched.pop("part")) == ("map", "silence:", "need")
    assert asked == patched
    assert [asked[name].split()[-1] for name in ("source", "b")] == ["wide", "tired"]
    assert (asked["layer"], asked["head"]) == (str(measures["layer"]), str(measures["head"]))


@pytest.mark.slow
@pytest.mark.browser
def test_one_click_asks_what_silencing_the_head_does(visitor: Visitor) -> None:
    page = visitor.open("?model=reverse&source=torch&adjective=wide", whole=True)
    page.get_by_role("link").filter(has_text=WORDS["turning"]["silence"]["title"]).click()
    page.get_by_role("heading", name="Attention", level=1).wait_for()
    expect(page.get_by_label("Source text", exact=True)).to_have_value(re.compile("wide$"))
    page.get_by_text("Will the answer change").wait_for()
    page.locator(".st-key-two-runs").wait_for()
    visitor.settle()
    page.get_by_role("button", name=text("prediction")["show_without"]).click()
    page.get_by_text("The answer becomes").wait_for()
