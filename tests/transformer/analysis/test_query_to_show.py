"""Tests of the query of a head that a page shows first."""

import pytest

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")

from tests.transformer.huggingface.tiny import IN_PIECES, folder_in_pieces
from transformer import Trace
from transformer.analysis.query_to_show import cell_to_show
from transformer.analysis.word_trace import WordTrace
from transformer.opening import open_model


@pytest.mark.parametrize("joined", [False, True])
def test_no_special_token_of_a_hugging_face_model_is_shown_first(joined: bool) -> None:
    pipeline = open_model(folder_in_pieces("bert"))
    trace: Trace = pipeline.trace(f"<s> {IN_PIECES} <mask> thecat </s>")
    trace = WordTrace.of(trace) if joined else trace
    first = [cell_to_show(trace, "encoder", layer, head)[0] for layer in range(2) for head in range(4)]
    assert not {trace.source_tokens[0][row] for row in first} & {"<s>", "<mask>", "</s>"}
