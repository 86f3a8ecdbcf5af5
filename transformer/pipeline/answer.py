"""`Answer`: the output of a model for one text."""

import unicodedata
from dataclasses import dataclass, field, replace
from typing import Any

from transformer.errors import InputError
from transformer.pipeline.encoding import NO_TEXT, Encoding
from transformer.text.scripts import scripts_of
from transformer.text.vocabulary import UNK, Vocabulary
from transformer.validation import as_list


@dataclass(frozen=True)
class Answer:
    """The output of a model for one text. `Pipeline.trace` also accepts it as a target.

    Attributes:
        text: the output as a person would write it. For most models these are the joined tokens, with names that the model does
            not know copied from the source; for a masked language model, the whole text with its masks filled in; for a
            classifier, the labels.
        tokens: the tokens without `<sos>` and `<eos>`.
        ended: False if the model was stopped before it wrote `<eos>`.
        ids: the ids of `tokens` for a Hugging Face model, where several ids may have the same token; else empty.
        log_probabilities: the log-probability in nats of each token when it was written; the last one is for `<eos>` if the
            answer ended. Empty if they are not known.
    """

    text: str
    tokens: tuple[str, ...]
    ended: bool
    ids: tuple[int, ...] = ()
    log_probabilities: tuple[float, ...] = field(default=(), compare=False, repr=False)


# The types of a source and of a target that `Pipeline.trace` accepts.
Source = str | Encoding
Target = str | Encoding | Answer | None


def with_copies(encoding: Encoding, answer: Answer, known: Vocabulary, target: Vocabulary) -> Answer:
    """The answer with each `<unk>` in `text` replaced by an unknown word of the source, in order. `tokens` does not change.

    The answer is returned unchanged if it has more or fewer `<unk>` than the source has unknown words; if an unknown word has
    letters of a script that the target vocabulary lacks, because such a word cannot be right in an answer; or if the new text
    would be split into other tokens, or cannot be encoded as UTF-8.

    Args:
        encoding: the source.
        answer: the model's answer to the source.
        known, target: the vocabularies of the source and of the target.
    """
    unknown = [token for token, index in zip(encoding.typed, known.ids(encoding.typed), strict=True) if index == known.unk]
    if not unknown or answer.tokens.count(UNK) != len(unknown) or not scripts_of(unknown) <= scripts_of(target.tokens):
        return answer
    words = iter(unknown)
    text = target.text(next(words) if token == UNK else token for token in answer.tokens)
    # Half of a surrogate pair, which only a program can send, is not a character and cannot be encoded.
    writable = not any(unicodedata.category(character) == "Cs" for character in text)
    same = target.ids(target.split(text)) == target.ids(answer.tokens)
    return replace(answer, text=text) if same and writable else answer


def listed_texts(sources: Any) -> list[Any]:
    """The argument `sources` of `Pipeline.answers`, as a list.

    Raises:
        InputError: `sources` is not a list, or is empty.
    """
    if isinstance(sources, str):
        raise InputError("`answers` takes a list of texts, not the text {text!r}; `answer` takes one.", text=sources)
    listed = as_list(sources)
    if listed is None:
        raise InputError("`answers` takes a list of texts, not {sources!r}.", sources=sources)
    if not listed:
        raise InputError(NO_TEXT)
    return listed


def several(given: Any) -> list[Any]:
    """`given` as a list. A single text, encoding or answer becomes a list of one.

    Raises:
        InputError: `given` is neither one of these nor a list.
    """
    if isinstance(given, str | Encoding | Answer):
        return [given]
    listed = as_list(given)
    if listed is None:
        raise InputError("Give a text or a list of texts, not {given!r}.", given=given)
    return listed
