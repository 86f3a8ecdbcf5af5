"""The numbers that a browser draws are equal to those of a run of the pipeline.

The tests cover three models, five ways to choose tokens (greedy, three orders of logits processors, beam search),
and a forced branch. `test_page.py` compares the data that are sent for all their combinations.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from jaxtyping import Float
from playwright.sync_api import Browser, Page, expect

from pages.ui.format import fixed
from tests.pages.decoding.answers import CHOICES, example
from tests.pages.visitor import Visitor
from transformer import Pipeline
from transformer.analysis.forcing import forcing
from transformer.analysis.label_smoothing import smoothed_target
from transformer.analysis.logit_contributions import logit_contributions
from transformer.analysis.logit_lens import logit_lens
from transformer.figures.decoding_figures import percent
from transformer.pipeline.decoding.generation import Generation
from transformer.pipeline.decoding.methods import Hypothesis, Sample

# Returns the values of the traces of the chart with a key, as the browser has drawn them.
TRACES = """key => {
    const plain = (value) => ArrayBuffer.isView(value) || Array.isArray(value) ? Array.from(value, plain) : value;
    const { _fullData } = document.querySelector(`.st-key-${key} .js-plotly-plot`);
    return _fullData.map(({ x, y, z, customdata, hovertext }) =>
        Object.fromEntries(Object.entries({ x, y, z, customdata, hovertext }).map(([name, value]) => [name, plain(value)])));
}"""
# Returns the bars of the player: [token, share as text, share before the logits processors].
BARS = """root => Array.from(root.querySelectorAll(".bars li"), (bar) => [
    bar.querySelector(".name").textContent, bar.querySelector(".share").textContent,
    parseFloat(bar.querySelector(".own").style.width) / 100])"""


def traces(page: Page, key: str) -> list[dict[str, Any]]:
    return page.evaluate(TRACES, key)


class Answer:
    """An answer that the library computed, with the pipeline that wrote it.

    Attributes:
        made: the hypothesis of the checked step.
        stages: the probabilities of all tokens in this step: first the model's own, then those after each logits processor.
    """

    def __init__(self, pipeline: Pipeline, generation: Generation, step: int) -> None:
        self.pipeline, self.generation = pipeline, generation
        self.chain = generation.chain(generation.best)
        self.look_at(self.chain[step - 1])

    def look_at(self, made: Hypothesis) -> None:
        self.made, self.step = made, self.generation.steps[made.step]
        self.stages = np.stack([stage.logits[made.row].double().softmax(-1).numpy() for stage in self.step.stages])

    @property
    def top(self) -> list[int]:
        """The ten most probable tokens. If the written token is not among them, it replaces the last."""
        top = np.argsort(-self.stages[0], kind="stable")[:10].tolist()
        return top if self.made.token in top else [*top[:-1], self.made.token]

    def tokens(self, ids: Any) -> list[str]:
        return list(self.pipeline.target_vocabulary.tokens_of(list(ids)))

    def with_rest(self, values: Float[np.ndarray, " vocab"]) -> list[float]:
        others = np.setdiff1d(np.arange(len(values)), self.top)
        return [*values[self.top], values[others].sum()]


def close(values: Any, decimals: float = 1e-5) -> Any:
    return pytest.approx(np.asarray(values, dtype=float), abs=decimals)


def check_player(page: Page, answer: Answer) -> None:
    """Check the bars, their shares before and after the logits processors, and the attention to the tokens that were read."""
    root = page.locator(".player")
    expect(root.locator(".newest")).to_have_text(answer.tokens([answer.made.token])[0])
    names, shares, own = zip(*root.evaluate(BARS), strict=True)
    last = answer.stages[-1]
    assert list(names) == [*answer.tokens(answer.top), "all others"]
    assert list(shares) == ["cut off" if value == 0 else percent(value) for value in answer.with_rest(last)]
    assert own[:-1] == close(answer.stages[0][answer.top])
    read = answer.step.attention("decoder", answer.made.row)[-1].mean(0).tolist()
    assert root.locator(".read small").all_text_contents() == [percent(weight) for weight in read]


def check_stages(page: Page, answer: Answer) -> None:
    """Check the distribution before and after each logits processor. The bar of a token that was cut off keeps its length."""
    drawn = traces(page, "stages")
    assert len(drawn) == len(answer.stages)
    before = np.array(answer.with_rest(answer.stages[0]))
    for trace, stage in zip(drawn, answer.stages, strict=True):
        values = np.array(answer.with_rest(stage))
        before = np.where(values == 0, before, values)
        assert trace["x"] == close(before)
        assert trace["customdata"] == ["cut off" if value == 0 else percent(value) for value in values]


def check_insides(page: Page, answer: Answer) -> None:
    """Check the logit lens and the contributions to the logit."""
    made, network = answer.made, answer.pipeline.network
    ids = [each.token for each in answer.chain]
    points = [logit_lens(network, answer.generation.steps[each.step].values)[:, each.row, -1].numpy() for each in answer.chain]
    logits = np.stack(points, axis=1).astype(float)
    ranks = (logits > logits[:, range(len(ids)), ids][..., None]).sum(-1)
    colors = np.array(traces(page, "lens")[0]["z"])
    assert colors == close(np.log10(ranks + 1 if colors.shape == ranks.shape else ranks.T + 1))  # long answers go down
    parts = logit_contributions(network, answer.step.values, made.token, None, made.row)
    bars, _ = traces(page, "contributions")
    shown = sorted(parts.values, key=abs, reverse=True)[: len(bars["x"]) - 1]
    assert bars["x"] == close([*shown, parts.values.sum() - sum(shown)])
    page.get_by_text(
        f"add up to {fixed(float(parts.values.sum()), 4)}; the model's own number is {fixed(parts.logit, 4)}"
    ).wait_for()


def check_taught(page: Page, answer: Answer, target: str) -> None:
    """Check the losses under teacher forcing, and the target of label smoothing."""
    pipeline, made = answer.pipeline, answer.made
    losses = forcing(pipeline, pipeline.trace(answer_source(page), target)).losses
    assert traces(page, "losses")[0]["y"] == close(losses)
    page.get_by_text(f"The mean is {fixed(losses.mean(), 4)};").wait_for()
    asked = smoothed_target(len(answer.stages[0]), made.token, pipeline.card.recipe["label_smoothing"])
    for trace, values in zip(traces(page, "smoothing"), (asked, answer.stages[0]), strict=True):
        assert trace["y"] == close(answer.with_rest(values))


def answer_source(page: Page) -> str:
    return page.get_by_label("Source text", exact=True).input_value()


def opened(visitor: Visitor, model: str, choice: int, step: int, whole: bool, **query: str) -> tuple[Page, Answer]:
    asked, method, logits_processors = CHOICES[choice]
    source = example(model)
    link: Mapping[str, str] = {"model": model, "source": source, "step": str(step), **asked, **query}
    page = visitor.open(f"decoding?{urlencode(link)}", whole)
    pipeline = Pipeline.load(model)
    return page, Answer(pipeline, Generation.of(pipeline.generate(source, method, logits_processors)), step)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(("model", "choice", "step"), [("english-french", 1, 2), ("addition", 2, 1), ("reverse", 3, 3)])
def test_sampling_draws_the_distributions_of_the_library(visitor: Visitor, model: str, choice: int, step: int) -> None:
    page, answer = opened(visitor, model, choice, step, whole=False, draws="true")
    check_player(page, answer)
    page.locator("#stages").scroll_into_view_if_needed()  # it may be below the screen, where it is not drawn
    page.locator(".st-key-stages").scroll_into_view_if_needed()
    visitor.settle()
    check_stages(page, answer)
    method = CHOICES[choice][1]
    assert isinstance(method, Sample)
    drawn = method.samples(answer.step.stages[-1].logits[answer.made.row], answer.made.step, 100).tolist()
    shares = np.bincount(drawn, minlength=answer.stages.shape[1]) / 100
    for trace, values in zip(traces(page, "draw-bars"), (answer.stages[-1], shares), strict=True):
        assert trace["y"] == close(answer.with_rest(values))


@pytest.mark.slow
@pytest.mark.browser
def test_a_forced_branch_and_the_insides_of_its_step_have_the_numbers_of_the_library(visitor: Visitor) -> None:
    page, free = opened(visitor, "english-french", 0, 2, whole=True)
    source = answer_source(page)
    other = free.top[1]
    page.locator(".player .bars button").nth(1).click()
    visitor.settle()
    visitor.see_all()
    expect(page.locator(".st-key-force")).to_contain_text(f"2 {free.tokens([other])[0]}")
    forced = Answer(free.pipeline, Generation.of(free.pipeline.generate(source, forced={1: other})), 2)
    best = free.tokens([free.made.token])[0]
    own = free.stages[0]
    expect(page.locator(".player .why")).to_have_text(
        f"“{free.tokens([other])[0]}” was forced. The model gave it {percent(own[other])}, rank 2; "
        f"the most probable was “{best}” with {percent(own[free.made.token])}."
    )
    check_player(page, forced)
    for answer in (free, forced):
        total = fixed(answer.generation.best.total, 3)
        assert page.get_by_text(f"log-probability {total}; tokens with the end: {len(answer.chain)}").count()
    visitor.choose("Look at", "inside the model")
    visitor.see_all()
    check_insides(page, forced)
    visitor.choose("Look at", "how it was taught")
    visitor.see_all()
    check_taught(page, forced, free.pipeline.answer(source))


@pytest.mark.slow
@pytest.mark.browser
def test_a_node_of_the_tree_can_be_clicked_and_has_the_numbers_of_its_branch(visitor: Visitor) -> None:
    page, answer = opened(visitor, "reverse", 4, 1, whole=True)
    check_player(page, answer)
    tree = page.locator(".st-key-beam-tree")
    hovers = {
        number: hover.split("<br>")
        for trace in traces(page, "beam-tree")
        for number, hover in zip(trace["customdata"] or (), trace["hovertext"] or (), strict=True)
    }
    assert len(hovers) == len(answer.generation.hypotheses)
    for made in answer.generation.hypotheses:
        log_probability, total, score = (fixed(value, 3) for value in (made.log_probability, made.total, made.score))
        assert hovers[made.number][1:4] == [f"log-probability of the token {log_probability}", f"sum {total}", f"score {score}"]
    tree.scroll_into_view_if_needed()
    # The last point is the start, which cannot be picked. The point before it is a hypothesis that was pruned immediately.
    tree.locator(".scatterlayer .trace .points path").nth(-2).click(force=True)
    visitor.settle()
    node = int(page.url.partition("node=")[2].partition("&")[0])
    assert page.get_by_text("This hypothesis was pruned at step").is_visible()
    answer.look_at(answer.generation.hypotheses[node])
    assert traces(page, "node-bars")[0]["x"] == close(answer.stages[0][answer.top])
    crossed = answer.step.attention("cross", answer.made.row).mean(1)
    assert np.array(traces(page, "node-attention")[0]["z"]) == close(crossed, 0.003)  # drawn with 255 levels


@pytest.mark.slow
@pytest.mark.browser
def test_a_tap_picks_the_node_under_the_finger(browser: Browser, url: str) -> None:
    visitor = Visitor(browser, url, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = visitor.open("decoding?model=reverse&source=abc&method=beam&width=2&node=1")
    page.locator("#beam").scroll_into_view_if_needed()
    page.locator(".st-key-beam-tree").scroll_into_view_if_needed()
    visitor.settle()
    box = page.locator(".st-key-beam-tree .scatterlayer .trace .points path").first.bounding_box()
    assert box
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url("**node=0*")
    # On a phone, the picture of the player scrolls sideways. The keyboard can scroll it too.
    expect(page.locator(".player .aligned").first).to_have_attribute("tabindex", "0")
    visitor.close()
    assert visitor.complaints == []
