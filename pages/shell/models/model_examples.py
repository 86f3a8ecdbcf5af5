"""The examples offered for each model in the sidebar."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import streamlit as st

from pages.shell.models.catalogue import snapshot_of, trained, trained_key
from pages.shell.view.runs import runs
from pages.ui.caches import cached
from pages.ui.limits import SENTENCES
from pages.ui.text import has_text, text
from transformer.tasks import TASKS, Example, find_task

# The boxes of the sidebar that hold a text.
TEXTS = ("source", "target", "batch", "batch_targets")


class Start(NamedTuple):
    """An example for the sidebar: texts to fill in, and one sentence on what to look for.

    Attributes:
        source, target: texts for the sidebar's boxes of these names. An empty target means the model's own answer.
        batch, batch_targets: further sentences and their targets, one on each line.
        pages: names of the pages that show what `look_for` is about. Only there the sidebar shows that sentence.
    """

    source: str
    look_for: str
    target: str = ""
    batch: str = ""
    batch_targets: str = ""
    pages: Sequence[str] = ("attention",)

    @property
    def label(self) -> str:
        """The label of the example's button."""
        more = len(self.batch.splitlines())
        return text("sidebar")["with_more"].format(source=self.source, more=more) if more else self.source

    @property
    def now(self) -> bool:
        """Whether the sidebar has exactly the texts of this example."""
        return all(getattr(self, name) == st.session_state[name] for name in TEXTS)


def starts(model: str) -> tuple[Start, ...]:
    """The examples for a model, by its name in the picker: those of its task, of its kind of output, or of untrained models. A
    model that Headlight trained also has a batch that is made of its examples."""
    words = text("sidebar")
    if not trained(model):
        return tuple(Start(**example) for example in words["untrained_examples"])
    pipeline = runs().pipeline(trained_key(model))
    name = pipeline.card.task
    if name in TASKS:
        translated = _look_for(name) | _look_for((snapshot_of(model) or (model, 0))[0])
        examples = _fitting(name, pipeline.card.longest)
        alone = [Start(example.source, translated.get(example.source, example.look_for)) for example in examples]
    else:
        kind, given = pipeline.output_kind, words["text_examples"]
        offered = (
            given.get(name) or given["-".join(pipeline.stacks) if kind == "tokens" else "span" if kind == "span" else "read"]
        )
        tokens = {"MASK": pipeline.mask_token, "SEP": pipeline.separator}
        alone = [Start(_with_tokens(one["source"], tokens), one["look_for"]) for one in offered]
    if not name:  # the examples of a model that Headlight did not train
        return tuple(alone)
    batch = "\n".join(example.source for example in alone[1:SENTENCES])
    return (*alone, Start(alone[0].source, words["batch_look_for"], batch=batch, pages=words["batch_pages"]))


def take(start: Start) -> None:
    """Put the texts of an example into the sidebar. Call it from a callback only."""
    for name in TEXTS:
        st.session_state[name] = getattr(start, name)


def _with_tokens(source: str, tokens: Mapping[str, str]) -> str:
    """An example with the special tokens of a model in the place of their names."""
    for name, token in tokens.items():
        source = source.replace(name, token)
    return source


@cached
def _fitting(task_name: str, longest: int) -> tuple[Example, ...]:
    """The examples of a task that are not longer than the texts a model was trained on. If all are longer, all examples."""
    examples, split = find_task(task_name).examples, find_task(task_name).source_vocabulary.split
    return tuple(example for example in examples if len(split(example.source)) <= longest) or examples


def _look_for(name: str) -> dict[str, str]:
    """Sentences on what to look for, by source text, for the examples of a model or a task, in the language of the session.
    Examples missing in `examples.toml` keep the English sentence of the task's module."""
    return text("examples").get(name, {}) if has_text("examples") else {}
