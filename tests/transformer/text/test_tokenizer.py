"""Tests of the tokenizers, with texts that are typed in many ways."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from transformer.errors import ConfigError
from transformer.text.tokenizer import TOKENIZERS, plain, tokenizer, unseen


@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        ("characters", "Head  Light\n", list("headlight")),
        ("characters", "", []),
        ("characters", " \t\n ", []),
        ("characters", "a😀b", ["a", "😀", "b"]),
        ("characters", "e\u0301t", ["é", "t"]),
        ("english", "The cat sleeps.", ["the", "cat", "sleeps", "."]),
        ("english", "  the   CAT,sleeps !", ["the", "cat", "sleeps", "."]),
        ("english", "It didn't cross", ["it", "did", "not", "cross"]),
        ("english", "it didn’t cross", ["it", "did", "not", "cross"]),
        ("english", "it didn´t, didn`t, didnʼt", ["it", *["did", "not"] * 3]),
        ("english", "I'm here, they're", ["i", "am", "here", "they", "are"]),
        ("english", "We've; she'll… he'd!?", ["we", "have", ".", "she", "will", ".", "he", "would", ".", "?"]),
        ("english", "“Really...” (he said): no!!", ["really", ".", "he", "said", "no", "."]),
        ("english", "can't cannot won't", ["can", "not", "can", "not", "will", "not"]),
        ("english", "well-known", ["well", "known"]),
        ("english", "<script>alert(1)</script>", ["<", "script", ">", "alert", "one", "<", "/", "script", ">"]),
        ("english", "<pad> <eos>", ["<", "pad", ">", "<", "eos", ">"]),
        ("english", "a 😀 cat", ["a", "😀", "cat"]),
        ("english", "42 and 7, 100", ["forty", "two", "and", "seven", "one", "hundred"]),
        ("english", "1000 or 007", ["1000", "or", "007"]),
        ("english", "Anna's cat's 's", ["anna", "'s", "cat", "'s", "'s"]),
        ("english", "my parents' house", ["my", "parents", "'", "house"]),
        ("english", "what's her name, where's he", ["what", "is", "her", "name", "where", "is", "he"]),
        ("french", "L’animal n'a pas traversé", ["l'", "animal", "n'", "a", "pas", "traversé"]),
        ("french", "aujourd'hui", ["aujourd'hui"]),
        ("french", "« Le chat, - dit-il - dort ! »", ["le", "chat", "dit-il", "dort", "."]),
        ("french", "Est-ce qu’il dort ?", ["est-ce", "qu'", "il", "dort", "?"]),
        ("french", "e\u0301te\u0301", ["été"]),
        ("words and digits", "March 5, 1998", ["march", "5", ",", "1", "9", "9", "8"]),
        ("words and digits", "14/7/98", ["1", "4", "/", "7", "/", "9", "8"]),
    ],
)
def test_a_text_is_split_into_tokens(name: str, text: str, tokens: list[str]):
    assert tokenizer(name).split(text) == tokens


@pytest.mark.parametrize(
    ("name", "tokens", "text"),
    [
        ("characters", ["a", "b"], "ab"),
        ("english", ["the", "cat", "."], "the cat ."),
        ("french", ["l'", "animal", "n'", "a", "pas", "d'", "eau"], "l'animal n'a pas d'eau"),
        ("french", ["le", "chat"], "le chat"),
        ("words and digits", ["1", "9"], "1 9"),
        *((name, [], "") for name in TOKENIZERS),
    ],
)
def test_tokens_are_joined_to_a_text(name: str, tokens: list[str], text: str):
    assert tokenizer(name).join(tokens) == text


@pytest.mark.parametrize("name", TOKENIZERS)
@given(text=st.text(max_size=60))
@example(text="0-0")  # a hyphen joins only letters
def test_splitting_joined_tokens_gives_the_same_tokens(name: str, text: str):
    chosen = tokenizer(name)
    tokens = chosen.split(text)
    assert chosen.split(chosen.join(tokens)) == tokens


@pytest.mark.parametrize("name", TOKENIZERS)
@given(text=st.text(max_size=60))
def test_tokens_are_not_empty_and_have_no_space(name: str, text: str):
    assert all(token and not re.search(r"\s", token) for token in tokenizer(name).split(text))


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=60))
def test_capitals_and_spacing_are_ignored(text: str):
    for chosen in TOKENIZERS.values():
        assert chosen.split(text.upper()) == chosen.split(text.lower())
        assert chosen.split(f"  {text}\n") == chosen.split(text)


@given(st.text(max_size=60))
def test_split_characters_drops_only_spaces(text: str):
    assert "".join(tokenizer("characters").split(text)) == re.sub(r"\s+", "", plain(text))


@pytest.mark.few_cases(12)
@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("piece", ["didn't ", " ", "-", "'", ".", " .", "a", "a-", "a'", "1"])
def test_a_very_long_text_is_split_in_linear_time(name: str, piece: str):
    # A regular expression that backtracks would take minutes for each of these texts.
    assert len(tokenizer(name).split(piece * 30_000)) <= 240_000


INVISIBLE = "\u200b\u200c\u200d\u200e\u202e\u2060\u2066\ufeff\u00ad\u034f\u061c\u180e\ufe0f\x00\x7f\U000e0041\U000e0100"


@pytest.mark.parametrize("sign", INVISIBLE)
def test_an_invisible_character_changes_nothing(sign: str):
    for chosen in TOKENIZERS.values():
        for text in ("the cat's 42 - well-known !", "qu'il été"):
            typed = "".join(character + sign for character in sign + text)
            assert chosen.split(typed) == chosen.split(text)


@pytest.mark.parametrize("sign", "\u2800\u3164\uffa0\u00a0\u3000\u2003")
def test_a_blank_character_separates_words(sign: str):
    assert tokenizer("english").split(f"the{sign}cat{sign}") == ["the", "cat"]
    assert tokenizer("characters").split(f"a{sign}b") == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("👩\u200d🚀 a", ["👩\u200d🚀", "a"]),  # an astronaut emoji is one token
        ("❤\ufe0f\u200d🔥", ["❤\u200d🔥"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),  # Persian: one word
        ("क\u094d\u200dष", ["क", "\u094d\u200dष"]),  # Hindi: a mark starts a new token, also without a joiner
        ("a\u200db 1\u200d2", ["a\u200db".replace("\u200d", ""), "1", "2"]),  # a joiner cannot join these characters
        ("\u200d👩\u200d \u200d", ["👩"]),
        ("e\u0301\u200d", ["é"]),
        ("x\u0301", ["x", "\u0301"]),  # there is no composed character for these two
    ],
)
def test_a_joiner_is_kept_only_between_characters_it_joins(text: str, tokens: list[str]):
    assert tokenizer("words and digits").split(text) == tokens


@pytest.mark.parametrize("name", TOKENIZERS)
@given(
    text=st.text(
        alphabet=st.characters(exclude_categories=["Cs"]) | st.sampled_from(INVISIBLE + "\u2800👩क\u0301a"), max_size=40
    )
)
def test_every_token_is_visible(name: str, text: str):
    assert not [token for token in tokenizer(name).split(text) if unseen(token)]


@pytest.mark.parametrize("name", ["", "klingon", "English"])
def test_an_unknown_tokenizer_is_refused(name: str):
    with pytest.raises(ConfigError, match="allowed are characters, english, french, words and digits"):
        tokenizer(name)
