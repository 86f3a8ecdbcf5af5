"""How the answer is written: the method and its logits processors, set on the page and kept in the URL."""

from dataclasses import dataclass, replace

import streamlit as st

from pages.shell.view.runs import Edits, Key, runs
from pages.shell.view.view import View
from pages.ui.caches import cached
from pages.ui.pickers import pick, pick_number, pick_several, slide
from pages.ui.text import text
from transformer.pipeline.decoding.generation import Generation
from transformer.pipeline.decoding.logits_processors import LogitsProcessor, MinP, Temperature, TopK, TopP
from transformer.pipeline.decoding.methods import LARGEST_PENALTY, LARGEST_SEED, WIDEST, Beam, Greedy, Method, Sample

# For each logits processor: its class, then its slider's least value, greatest value, first value and step.
LOGITS_PROCESSORS: dict[str, tuple[type, float, float, float, float]] = {
    "temperature": (Temperature, 0.0, 3.0, 1.0, 0.05),
    "top-k": (TopK, 1, 20, 5, 1),
    "top-p": (TopP, 0.05, 1.0, 0.9, 0.05),
    "min-p": (MinP, 0.0, 0.5, 0.05, 0.01),
}
FIRST_PROCESSORS = ("temperature",)  # no filter: with a filter, a higher temperature can make the first token more probable
FIRST_SEED = 1
METHODS = ("greedy", "sampling", "beam")


@dataclass(frozen=True)
class Settings:
    """Everything that decides what the model writes for a text.

    Attributes:
        method: the method that chooses the tokens.
        logits_processors: the logits processors that change the distribution before a token is drawn, in this order.
        forced: (step, id) pairs of forced tokens, steps counted from 0.
        edits: the edits of the model, active in every step.
    """

    method: Method
    logits_processors: tuple[LogitsProcessor, ...] = ()
    forced: tuple[tuple[int, int], ...] = ()
    edits: Edits = ()

    def with_forced(self, forced: tuple[tuple[int, int], ...]) -> "Settings":
        """The same settings with these forced tokens."""
        return replace(self, forced=forced)


# The settings with which all other pages write an answer.
PLAIN = Settings(Greedy())


def pick_settings() -> Settings:
    """Draw pickers of the decoding method and its logits processors in one row; returns the picked settings."""
    words = text("decoding")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        method = pick(words["method"], METHODS, "method", help=words["method_help"])
        if method == "greedy":
            return PLAIN
        if method == "beam":
            with st.container(width=160):
                width = slide(words["width"], 1, WIDEST, 4, 1, "width", words["width_help"])
            with st.container(width=160):
                penalty = slide(words["penalty"], 0.0, min(2.0, LARGEST_PENALTY), 0.0, 0.1, "penalty", words["penalty_help"])
            return Settings(Beam(int(width), penalty))
        seed = pick_number(words["seed"], "seed", 0, LARGEST_SEED, FIRST_SEED, help=words["seed_help"], width=110)
        with st.container(width=270):
            names = pick_several(
                words["controls"], list(LOGITS_PROCESSORS), "controls", FIRST_PROCESSORS, words["controls_help"]
            )
        logits_processors = []
        for name in names:
            make, least, most, first, step = LOGITS_PROCESSORS[name]
            with st.container(width=150):
                value = slide(
                    words["control"][name], least, most, first, step, name.replace("-", "_"), words["control_help"][name]
                )
            logits_processors.append(make(value))
    return Settings(Sample(FIRST_SEED if seed is None else seed), tuple(logits_processors))


def generate(view: View, settings: Settings) -> Generation:
    """The decoding steps of the answer of a view's model to the view's first text, from the shared cache."""
    return view.run(generated, view.key, view.source, settings)


@cached
def generated(key: Key, source: str, settings: Settings) -> Generation:
    """The decoding steps of the answer of a model to a text.

    Raises:
        HeadlightError: the model cannot read the text.
    """
    encoding = runs().encoding(key, "source", source)
    steps = (
        runs()
        .pipeline(key)
        .generate(encoding, settings.method, settings.logits_processors, dict(settings.forced), settings.edits)
    )
    return Generation.of(steps)
