"""Tests of capital letters as in a sentence."""

import pytest

from transformer.text.sentence_case import sentence_case


@pytest.mark.parametrize(
    ("typed", "written"),
    {
        "good morning": "Good morning",
        "i don't think i'm late": "I don't think I'm late",
        "WHERE IS THE BATHROOM?": "Where is the bathroom?",
        "“no way” he said": "“No way” he said",
        "I": "I",
        "U.S. law": "U.S. law",
        "NASA": "NASA",
        "OK.": "OK.",
        "3 cats": "3 cats",
        "it is in Paris.": "It is in Paris.",
        "ésope dort": "Ésope dort",
        " … ": " … ",
        "": "",
    }.items(),
)
def test_sentence_case(typed: str, written: str) -> None:
    assert sentence_case(typed) == written
    assert sentence_case(written) == written
