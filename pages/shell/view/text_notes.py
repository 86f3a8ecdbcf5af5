"""Notes about the typed texts: a text cannot be read, has unknown tokens, or is unlike the training texts."""

import re
from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from pages.shell.error_boundary import sentence
from pages.shell.models.model_texts import accepts
from pages.shell.view.run_banner import LAST, read_text
from pages.shell.view.runs import runs
from pages.shell.view.view import View
from pages.ui.caches import cached
from pages.ui.escaping import filled, literal, quoted_token
from pages.ui.text import text
from transformer import InputError
from transformer.errors import Remark
from transformer.pipeline.pipeline import Encoding, Side
from transformer.pipeline.protocol import TextPipeline
from transformer.tasks import TASKS, find_task
from transformer.text.vocabulary import Unknown

# The shipped model, and its snapshots, that learned from English sentences, hardly any of them in capitals.
FROM_SENTENCES = "everyday"
# So many unknown tokens are named one by one. Of the others, only the number is shown.
MOST_UNKNOWN = 4


class Note(NamedTuple):
    """A note about a typed text, as Markdown.

    Attributes:
        short: the note in a few words, for one line.
        full: the whole note.
        icon: the icon of the note.
        strange: whether the text has a word outside the model's vocabulary, so that another model may suit it better.
        instead: the first text in a spelling that the model reads better; None to offer none.
    """

    short: str
    full: str
    icon: str
    strange: bool = False
    instead: str | None = None


def text_notes(view: View) -> tuple[Note, ...]:
    """The notes about all typed texts of a view: first the errors, then the other notes, text after text. Raises a
    `HeadlightError` if the model cannot be built."""
    errors, notes, words = [], [], text("common")
    if view.problem:
        problem = words["first_alone"].format(problem=literal(sentence(view.problem)))
        errors.append(Note(problem, problem, ":material/view_agenda:"))
    for item in range(view.typed):
        try:
            notes += _of_text(view, item, first=not notes)
        except InputError as error:
            errors.append(unreadable_note(error, item))
    return (*errors, *notes)


def unreadable_note(error: InputError, item: int = 0) -> Note:
    """The note about a text that cannot be read. It also says what the page shows instead, if anything was drawn before."""
    problem, meanwhile = literal(sentence(error)), text("common")["last_drawn" if item == 0 else "last_batch"]
    return Note(problem, f"{problem} {meanwhile}" if LAST in st.session_state else problem, ":material/error:")


def can_tell(view: View) -> bool:
    """Whether the notes about the texts of a view can be computed at once, without building a large model. If not, the page
    itself shows which text it cannot read."""
    return not view.heavy or runs().kept_pipeline(view.key) is not None


def _of_text(view: View, item: int, first: bool) -> list[Note]:
    """The notes about one text and its target. `first`: whether they say which texts the model was trained on.

    Raises:
        InputError: a text cannot be read.
    """
    words, pipeline, number = text("common"), view.pipeline, item + 1 if view.typed > 1 else None
    source = read_text(view, "source", item, batch=True)
    target = None if view.targets[item] is None else read_text(view, "target", item, batch=True)
    # The training texts of a model from a folder are not known.
    read = accepts(view.model) if first and pipeline.card.accepts else ""
    remark = remark_on(pipeline.card.task, view.sources[item]) if pipeline.trained else None
    notes = []
    if source.unknown and not (remark and _names_all(remark, source.unknown)):
        notes.append(_about_unknown("source", _with_fitting(pipeline, source), read, number, strange=item == 0))
    if target and target.unknown:
        notes.append(_about_unknown("target", target.unknown, read, number))
    if remark:
        says = literal(sentence(remark))
        notes.append(Note(says, says, ":material/do_not_disturb_on:", strange=item == 0 and bool(source.unknown)))
    typed = view.sources[item]
    if view.model.partition("@")[0] == FROM_SENTENCES and typed.isupper() and len(typed.split()) > 1:
        full = words["only_capitals_full"].format(model=literal(view.model))
        written = as_sentences(typed) if item == 0 else None
        notes.append(Note(words["only_capitals"], full, ":material/match_case:", instead=written))
    length = len(source.typed)
    if pipeline.trained and length > pipeline.card.longest:
        which = words["this_text"] if number is None else words["text_number"].format(number=number)
        says = words["longer"].format(which=which, length=length, longest=pipeline.card.longest)
        notes.append(Note(says, says, ":material/straighten:"))
    return notes


def as_sentences(text: str) -> str:
    """An English text in small letters, with a capital at the start of each sentence and in the word I. Names stay small."""
    return re.sub(r"(?:^|[.!?…]\s+)\w|\bi\b", lambda found: found[0].upper(), text.lower())


def _about_unknown(side: Side, unknown: tuple[Unknown, ...], read: str, number: int | None, strange: bool = False) -> Note:
    words = text("common")
    named = {"token": quoted_token(unknown[0].token), "count": str(len(unknown) - 1)}
    short = filled(words["unknown_one" if len(unknown) == 1 else "unknown_several"], **named)
    if side == "target" or number is not None:
        where = _where(side, number)
        short = f"{where[:1].upper()}{where[1:]}: {short}"
    return Note(short, say_unknown(side, unknown, read, number), ":material/help:", strange)


def say_unknown(side: Side, unknown: tuple[Unknown, ...], accepts: str, number: int | None = None) -> str:
    """Lines that name the first unknown tokens, the closest known ones, and the texts the model was trained on; as Markdown.

    Args:
        accepts: the texts the model was trained on, as a clause; empty if that is not known.
        number: the number of the text, counted from 1; None if it is the only one.
    """
    words, lines, where = text("common"), [], _where(side, number)
    for token in unknown[:MOST_UNKNOWN]:
        closest = filled(words["closest"], tokens=literal(", ".join(token.closest))) if token.closest else ""
        lines.append(filled(words["unknown"], side=where, token=quoted_token(token.token), closest=closest))
    if len(unknown) > MOST_UNKNOWN:
        lines.append(filled(words["unknown_more"], count=str(len(unknown) - MOST_UNKNOWN)))
    if accepts:
        lines.append(filled(words[f"trained_on_{side}"], accepts=literal(accepts)))
    return "  \n".join(lines)


def _where(side: Side, number: int | None) -> str:
    words = text("common")
    return words[side] if number is None else words["of_text"].format(side=words[side], number=number)


@cached
def remark_on(task_name: str, source: str) -> Remark | None:
    """The remark of a task on a text: why the model's answer should not be trusted. None for a text without a remark."""
    return find_task(task_name).remark(source) if task_name in TASKS else None


def _names_all(remark: Remark, unknown: tuple[Unknown, ...]) -> bool:
    """Whether a remark names all unknown tokens, so that a second note would repeat it."""
    return any(all(token.token in str(value) for token in unknown) for value in remark.values.values())


def _with_fitting(pipeline: TextPipeline, encoding: Encoding) -> tuple[Unknown, ...]:
    """The unknown tokens of a source. Each gets known words that could replace it, if the model's task can suggest some."""
    if pipeline.card.task not in TASKS:
        return encoding.unknown
    closest = find_task(pipeline.card.task).closest
    fitting = [
        tuple(closest(encoding.typed, encoding.typed.index(unknown.token))) for unknown in encoding.unknown[:MOST_UNKNOWN]
    ]
    named = [
        replace(unknown, closest=words or unknown.closest) for unknown, words in zip(encoding.unknown, fitting, strict=False)
    ]
    return (*named, *encoding.unknown[MOST_UNKNOWN:])
