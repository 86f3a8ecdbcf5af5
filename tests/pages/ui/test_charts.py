"""A chart draws words of the session's language, and its alternative text describes what it shows."""

from collections.abc import Mapping

import plotly.graph_objects as go

from pages.ui.charts import chart, described, passing_chart
from pages.ui.text import figure_labels
from transformer.figures.highlights import highlights


def test_a_sentence_describes_what_stands_out() -> None:
    figure = go.Figure(go.Heatmap(z=[[0.96, 0.03], [0.2, 0.8]], x=["animal", "street"], y=["it", "was"]))
    assert described(highlights(figure)) == "Largest: row “it” has 0.96 at “animal”; row “was” has 0.8 at “street”."
    lines = [go.Scatter(y=[3.0, 1.0], mode="lines", name=name) for name in ("loss", "held out")]
    course = "from 3 to 1, farthest from zero 3"
    assert described(highlights(go.Figure(lines))) == f"Lines: held out: {course}; loss: {course}."
    assert described(()) == ""
    signed = go.Figure(go.Heatmap(z=[[-3.0, 1.0, 1.0], [2.0, 2.0, 0.0]]))
    assert described(highlights(signed)) == "Farthest from zero: row “0” has −3 at “0”; row “1” has 2 at “0” (and in 1 more)."


def worded(labels: Mapping[str, str], more: str = "") -> go.Figure:
    return go.Figure(layout={"title": {"text": labels["weight"] + more}})


def wordless(title: str) -> go.Figure:
    return go.Figure(layout={"title": {"text": title}})


def test_a_figure_gets_the_words_that_it_draws_unless_it_is_given_some() -> None:
    own = {"weight": "Gewicht"}
    built = [chart(worded, more="!"), passing_chart(worded, labels=own)]
    assert [each.build().layout.title.text for each in built] == [f"{figure_labels()['weight']}!", "Gewicht"]
    assert chart(worded, labels=own).key != chart(worded).key
    assert chart(wordless, "a").build().layout.title.text == "a"
