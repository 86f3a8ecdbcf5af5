"""Traces of many texts, one after another, for analyses that average over texts."""

from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import Any

from transformer.analysis.checks import check_text_pipeline
from transformer.errors import InputError
from transformer.pipeline.answer import Answer, Source, Target
from transformer.pipeline.encoding import Encoding
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.trace import Trace

# A text alone, or with the target that the decoder reads.
Text = Source | tuple[Source, Target]


def check_texts(pipeline: object, texts: Any) -> None:
    """Check the arguments of an analysis of many texts, before any text is read.

    Raises:
        InputError: `pipeline` is not a pipeline, or `texts` is neither a list nor an iterator.
    """
    check_text_pipeline(pipeline)
    try:
        usable = not isinstance(texts, str | bytes | Mapping | Encoding | Answer) and bool(iter(texts))
    except TypeError:  # not a list, or a tensor without an axis
        usable = False
    if not usable:
        raise InputError("The texts must be a list of texts, such as ['the cat sleeps .'], not {texts!r}.", texts=texts)


def text_count(texts: Iterable[Text]) -> int | None:
    """The number of texts in a list; None for an iterator, whose length is not known."""
    return len(texts) if isinstance(texts, Sized) else None


def traced_texts(pipeline: TextPipeline, texts: Iterable[Text]) -> Iterator[Trace]:
    """Yield the trace of each text, computed when the iterator reaches the text. The iterator keeps no trace. To have only one
    trace in memory, a caller must delete each trace before asking for the next, and must not use `enumerate`, which keeps one.

    Args:
        pipeline: a model with its tokenizer.
        texts: texts, or pairs of a source and a target. Without a target, the decoder reads the model's own answer. But a model
            with only a decoder reads only the text, and does not continue it.

    Raises:
        InputError: `pipeline` is not a pipeline; `texts` is neither a list nor an iterator, or is empty; or the model cannot
            read a text, whose number the message names.
    """
    check_texts(pipeline, texts)
    number = 0
    for number, text in enumerate(texts, 1):
        yield _traced(pipeline, text, number)
    if not number:
        raise InputError("There is no text; at least one is needed.")


def _traced(pipeline: TextPipeline, text: Text, number: int) -> Trace:
    """The trace of a text. Raises InputError, with the text's `number` (counted from 1), if the model cannot read it."""
    source, target = _pair(text, number)
    if target is None and pipeline.stacks == ("decoder",):
        target = ""
    try:
        return pipeline.trace([source], [target])
    except InputError as error:
        raise InputError("Text {number} cannot be read. {problem}", number=number, problem=error) from None


def _pair(text: Any, number: int) -> tuple[Any, Any]:
    """The source and the target of a text; the target may be None."""
    source, target = text if isinstance(text, tuple | list) and len(text) == 2 else (text, None)
    if not isinstance(source, str | Encoding) or not isinstance(target, str | Encoding | Answer | None):
        template = "Text {number} is {text!r}; it must be a text, or a pair of a source and a target."
        raise InputError(template, number=number, text=text)
    return source, target
