"""The view of a lesson's stop: the URL parameters with which its page opens, perhaps with a head from the model's card."""

from dataclasses import replace

from pages.lessons.content.lesson import KINDS, LessonError, Stop
from pages.shell.models.catalogue import available, trained, trained_key
from pages.shell.models.model_examples import starts
from pages.shell.view.card_heads import card_head, head_choices, head_to_show
from pages.shell.view.runs import runs
from pages.shell.view.view import View
from pages.ui.text import text


def view_of(stop: Stop) -> dict[str, str]:
    """The URL parameters with which the page of a lesson's stop opens, by name.

    If the stop (a step of a lesson) names an attention head by its name on the model's card (training record), the head's kind,
    layer and index are among the parameters, and replace `{kind}`, `{layer}` and `{head}` in the other values. A stop of the
    page Attention with a shipped model gets the head with which the page opens, if it names no head and no kind of attention
    other than that head's.

    Raises:
        InputError: the app has no such model, or the model's card names no such head.
    """
    view = dict(stop.view)
    if not stop.head:
        return _first_head(stop) | view if stop.page == "attention" else view
    head = card_head(view.get("model", ""), stop.head)
    named = head_choices(head)
    return named | {name: _filled(value, named) for name, value in view.items()}


def _first_head(stop: Stop) -> dict[str, str]:
    """The parameters of the head with which the page Attention opens the model of a lesson's stop (step). They are empty if
    there is no such head, or if the stop is about another kind of attention."""
    view, truth = dict(stop.view), stop.truth
    model = view.get("model") or next(iter(available()))
    head = head_to_show(runs().pipeline(model).card.measures, KINDS) if model in available() else None
    if head is None or head.kind != (view.get("kind") or (truth and truth.kind) or head.kind):
        return {}
    return head_choices(head)


def with_second_model(stop: Stop) -> Stop:
    """A copy of a lesson's stop (step), with its second model (`Stop.beside`) in place of the first."""
    return replace(stop, view=tuple((dict(stop.view) | {"model": stop.beside}).items()), beside="")


def words_of(stop: Stop, words: str) -> str:
    """The text `words` of a lesson's stop (step). If this names a head, `{kind}`, `{layer}` and `{head}` are filled in.

    Raises:
        InputError: the stop names a head that the model's card (training record) does not have.
    """
    if not stop.head:
        return words
    head = card_head(dict(stop.view).get("model", ""), stop.head)
    kind = text("lesson")["kinds"].get(head.kind, head.kind)
    return _filled(words, head_choices(head) | {"kind": kind})


def _filled(template: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value)
    return template


def run_of(stop: Stop) -> View:
    """The model and the texts that the URL parameters of a lesson's stop (step) name. By default, the model is the app's first,
    and the source the model's first example.

    Raises:
        LessonError: the stop's model has random weights, or the app has no such model.
    """
    view = dict(stop.view)
    model = view.get("model") or next(iter(available()))
    if not trained(model):
        raise LessonError("A question needs a trained model; {model!r} is none of this app's.", model=model)
    source = view.get("source") or starts(model)[0].source
    return View(model, (source,), (view.get("target") or None,), trained_key(model))
