"""Right answers to questions about patching: where the answers to the two texts of a lesson's stop (step) first differ, and
which share of the difference a head carries."""

import re
from dataclasses import replace

from pages.lessons.content.lesson import LessonError, Stop, Value
from pages.lessons.content.stop_views import run_of, view_of
from pages.shell.view.background import silent
from pages.shell.view.patched_runs import Choice, Runs, head_name, patched_runs, runs_of
from pages.shell.view.second_run import SOURCE
from pages.ui.format import share
from pages.ui.text import text
from transformer.patching import Head, Needs, needs
from transformer.patching.need import HALF
from transformer.patching.places import OF_HEADS

# The name of a head in an option, as the page writes it: `cross L1 H2`.
HEAD_NAME = re.compile(r"\b(encoder|decoder|cross) L(\d{1,3}) H(\d{1,3})\b")
# The roles that the four options of a question stand for, in their order.
ROLES = ("alone", "backup", "partner", "bystander")


def patching_value(stop: Stop, name: str, head: Head, options: tuple[str, ...]) -> Value:
    """The right answer to a question about patching at a lesson's stop (step). `name`, one of `PATCHED`, is what to compute;
    `head` is the head asked about; `options` are the answers to choose from, if the question has any. The stop's URL parameters
    name the second text and perhaps, as on the page Patching, the compared step (`step`) and what is patched (`what`).

    Raises:
        HeadlightError: the stop has no second text, the runs cannot be patched or barely differ, the model has no such head, or
            no option is right.
    """
    if name == "parting-token":
        return _parting(_runs(stop), options)
    found = _needs(stop)
    if name == "head-role":
        return _role(found, head, options)
    if name == "head-is-needed":
        lost = _share(found, True, head)
        return Value(float(lost >= HALF), words=(("head", head_name(head)), ("lost", share(lost))))
    if name in ("most-restoring-head", "most-needed-head"):
        heads = [_named(option) for option in options]
        row = tuple(_share(found, name == "most-needed-head", one) for one in heads)
        order = sorted(range(len(row)), key=lambda place: -row[place])
        shares = ", ".join(f"{head_name(heads[place])} {share(row[place])}" for place in order)
        return Value(float(order[0]), row, options, (("shares", shares),))
    return Value(_share(found, name == "lost-share", head), words=(("head", head_name(head)),))


def share_of(stop: Stop, name: str, head: Head) -> float:
    """The share, 1 for all, of the difference between the runs of a lesson stop's two texts that is lost (`name` is
    `lost-share`) or restored (`restored-share`) when a head is taken from the other run.

    Raises:
        HeadlightError: the value cannot be computed, for the same reasons as in `patching_value`.
    """
    return _share(_needs(stop), name == "lost-share", head)


def _runs(stop: Stop) -> Runs:
    clean, view = run_of(stop), view_of(stop)
    if not view.get(SOURCE):
        raise LessonError("A question about patching needs a second text: {name} in the view of its stop.", name=SOURCE)
    runs = runs_of(clean, replace(clean, sources=(view[SOURCE],)))
    step = view.get("step", "")
    return replace(runs, row=int(step) if step.isascii() and step.isdecimal() and len(step) < 5 else runs.pair.row)


def _needs(stop: Stop) -> Needs:
    runs, what = _runs(stop), view_of(stop).get("what", "")
    taken = what if what in OF_HEADS else "head_output"
    denoised, noised = (patched_runs(runs, Choice(taken, direction), silent) for direction in ("denoise", "noise"))
    return needs(denoised, noised)


def _share(found: Needs, lost: bool, head: Head) -> float:
    shares = (found.lost if lost else found.restored).get(head.kind)
    if shares is None or not (0 <= head.layer < shares.shape[0] and 0 <= head.head < shares.shape[1]):
        raise LessonError("The model has no head {head}.", head=head_name(head))
    return float(shares[head.layer, head.head])


def _named(option: str) -> Head:
    match = HEAD_NAME.search(option)
    if match is None:
        raise LessonError("The option {option!r} names no head; one is written such as cross L1 H2.", option=option)
    return Head(match[1], int(match[2]) - 1, int(match[3]) - 1)


def _parting(runs: Runs, options: tuple[str, ...]) -> Value:
    """Which of the options the run of the first text prefers at the compared step."""
    pair, trace = runs.pair, runs.clean.trace()
    side = "target" if trace.target_ids else "source"
    first, second = runs.clean.pipeline.vocabulary(side).tokens_of(pair.tokens)
    if first not in options:
        raise LessonError("None of the options is {token!r}, which the model prefers there.", token=first)
    words = (("query", trace.tokens_of(side)[0][pair.row]), ("first", first), ("second", second))
    return Value(float(options.index(first)), words=words)


def _role(found: Needs, head: Head, options: tuple[str, ...]) -> Value:
    lost, restored = (_share(found, of_loss, head) for of_loss in (True, False))
    words, role = text("patching"), found.roles[head]
    if role not in ROLES or len(options) != len(ROLES):
        raise LessonError("The four options are the roles {roles}; this head is {role}.", roles=", ".join(ROLES), role=role)
    values = {"head": head_name(head), "lost": share(lost), "restored": share(restored)}
    values |= {"role": words["roles"][role], "says": words["role_says"][role]}
    return Value(float(ROLES.index(role)), words=tuple(values.items()))
