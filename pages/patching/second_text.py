"""A text B for a text A: A with one word, one digit or one letter replaced."""

from collections.abc import Iterator

from pages.shell.view.second_run import Asked
from pages.shell.view.view import View, view_of
from pages.ui.text import text
from transformer import InputError


def second_text(view: View) -> Asked | None:
    """The text of the second run if the visitor chooses nothing: the view's text with one word, digit or letter replaced. It
    has as many tokens as the view's text, but not the same, and no unknown token. None if no such text is found."""
    for candidate in _candidates(view.source):
        other = view_of(view.model, (view.source, candidate), (view.target, view.target))
        try:
            first, second = (other.encoding("source", item) for item in (0, 1))
        except InputError:
            continue
        if len(first.ids) == len(second.ids) and first.ids != second.ids and not second.unknown:
            return Asked(source=candidate)
    return None


def _candidates(source: str) -> Iterator[str]:
    """First the texts with one word replaced, then the texts with one digit replaced by the next digit. If the text is a single
    word, a letter can also be replaced by the next letter. Both series begin at the end of the text."""
    exchanged, words = text("patching")["exchanged"], source.split(" ")
    for place in reversed(range(len(words))):
        bare = words[place].strip(".,!?;:").lower()
        if bare in exchanged:
            other = words[place].lower().replace(bare, exchanged[bare])
            yield " ".join([*words[:place], other.capitalize() if words[place][:1].isupper() else other, *words[place + 1 :]])
    alphabets = ("0123456789", "abcdefghijklmnopqrstuvwxyz") if len(words) == 1 else ("0123456789",)
    for place, letter in reversed([*enumerate(source)]):
        for alphabet in alphabets:
            if letter in alphabet:
                after = alphabet[(alphabet.index(letter) + 1) % len(alphabet)]
                yield source[:place] + after + source[place + 1 :]
