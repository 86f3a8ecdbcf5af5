"""Tests of vocabularies."""

import inspect
import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transformer.errors import ConfigError, HeadlightError, InputError
from transformer.text.tokenizer import unseen
from transformer.text.vocabulary import SPECIALS, Unknown, Vocabulary

WORDS = ("animal", "cat", "did", "not", "the", "tired", "<script>")
VOCABULARY = Vocabulary.of(WORDS, "english")


def test_special_tokens_come_first_and_words_are_sorted():
    assert VOCABULARY.tokens == ("<pad>", "<sos>", "<eos>", "<unk>", *sorted(WORDS))
    assert (VOCABULARY.pad, VOCABULARY.sos, VOCABULARY.eos) == (0, 1, 2)
    assert VOCABULARY.words == tuple(sorted(WORDS))
    assert len(VOCABULARY) == 4 + len(WORDS)


def test_the_same_words_give_the_same_ids_in_any_order():
    assert Vocabulary.of([*reversed(WORDS), "cat"], "english") == VOCABULARY


@given(st.lists(st.sampled_from(WORDS)))
def test_ids_and_back(tokens: list[str]):
    assert VOCABULARY.tokens_of(VOCABULARY.ids(tokens)) == tuple(tokens)


@given(st.lists(st.text(max_size=10)))
def test_an_unknown_token_is_unk(tokens: list[str]):
    read = VOCABULARY.tokens_of(VOCABULARY.ids(tokens))
    assert read == tuple(token if token in VOCABULARY.tokens else "<unk>" for token in tokens)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("The ANIMAL didn’t", ["the", "animal", "did", "not"]),
        ("the   cat ", ["the", "cat"]),
        ("the 😀", ["the", "<unk>"]),
        ("<pad>", ["<unk>", "<unk>", "<unk>"]),
    ],
)
def test_a_text_is_read_as_ids(text: str, read: list[str]):
    assert list(VOCABULARY.tokens_of(VOCABULARY.ids(VOCABULARY.split(text)))) == read


def test_special_tokens_cannot_be_typed():
    for name in ("characters", "english", "french", "words and digits"):
        split = Vocabulary.of([], name).split(" ".join(SPECIALS) + "".join(SPECIALS))
        assert not set(split) & set(SPECIALS)


def test_unknown_tokens_are_listed_once_in_order_with_the_closest_known_tokens():
    unknown = VOCABULARY.unknown(["teh", "cat", "animals", "teh", "xyzzy"])
    assert unknown == (Unknown("teh", ("the",)), Unknown("animals", ("animal",)), Unknown("xyzzy", ()))


def test_special_tokens_are_not_suggested():
    assert VOCABULARY.unknown(["<eos", "pad"]) == (Unknown("<eos", ()), Unknown("pad", ()))


@pytest.mark.parametrize("token_id", [-1, 4 + len(WORDS), 10**20])
def test_an_id_beyond_the_vocabulary_is_refused(token_id: int):
    with pytest.raises(InputError, match=f"There is no token id {token_id} here; allowed are 0 to {3 + len(WORDS)}"):
        VOCABULARY.tokens_of([0, token_id])


@pytest.mark.parametrize("ids", [["1"], [1.0], [None], None, 3])
def test_an_id_that_is_not_a_whole_number_is_refused(ids: object):
    with pytest.raises(InputError, match=r"must be a (list of )?whole numbers?"):
        inspect.unwrap(Vocabulary.tokens_of)(VOCABULARY, ids)


def test_ids_may_be_numpy_or_torch_integers():
    for ids in (np.array([0, 5]), torch.tensor([0, 5]), range(0, 6, 5)):
        assert inspect.unwrap(Vocabulary.tokens_of)(VOCABULARY, ids) == ("<pad>", VOCABULARY.tokens[5])


def test_text_leaves_special_tokens_out_but_shows_unk():
    assert VOCABULARY.text(["<sos>", "the", "<unk>", "cat", "<eos>", "<pad>"]) == "the <unk> cat"
    assert Vocabulary.of("ab", "characters").text(["<sos>", "b", "a", "<eos>"]) == "ba"


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ((), "must start with <pad> <sos> <eos> <unk>"),
        (("a", "b"), "must start with"),
        (("<sos>", "<pad>", "<eos>", "<unk>"), "must start with"),
        ((*SPECIALS, "a", "b", "a"), "The vocabulary has 'a' twice; every token may stand only once"),
        ((*SPECIALS, "<pad>"), "every token may stand only once"),
        ((*SPECIALS, ""), "no token may be empty or invisible"),
        ((*SPECIALS, " "), "no token may be empty or invisible"),
        ((*SPECIALS, "a", "\u3000\n"), "no token may be empty or invisible"),
        ((*SPECIALS, "a", "\u200b"), r"'\\u200b'; no token may be empty or invisible"),
        ((*SPECIALS, "\u3164\x00"), "no token may be empty or invisible"),
        ((*SPECIALS, 1), "every token must be a text"),
        ((*SPECIALS, None), "every token must be a text"),
        ((*SPECIALS, "\ud800"), "every token must be a text"),
        (None, "must be a list of texts"),
        (7, "must be a list of texts"),
    ],
)
def test_a_bad_vocabulary_is_refused(tokens: tuple[str, ...], message: str):
    with pytest.raises(ConfigError, match=message):
        Vocabulary(tokens, "english")


@pytest.mark.parametrize("tokens", [["a", 1], [1, 2], [["a"]], ["a", None], ["a", " "], ["\ud800"], None, 3])
def test_words_that_are_not_texts_are_refused(tokens: object):
    with pytest.raises(ConfigError, match=r"(every token must be a text|no token may be empty|must be a list of texts)"):
        inspect.unwrap(Vocabulary.of.__func__)(Vocabulary, tokens, "english")


def test_any_sequence_of_tokens_is_accepted():
    assert Vocabulary([*SPECIALS, "a"], "english") == Vocabulary((*SPECIALS, "a"), "english")
    assert hash(Vocabulary([*SPECIALS, "a"], "english")) == hash(Vocabulary((*SPECIALS, "a"), "english"))


def test_a_repeated_token_is_found_quickly_in_a_large_vocabulary():
    many = [str(number) for number in range(200_000)]
    with pytest.raises(ConfigError, match="The vocabulary has '199999' twice"):
        Vocabulary((*SPECIALS, *many, many[-1]), "english")


@pytest.mark.parametrize("name", ["klingon", None, ["english"]])
def test_an_unknown_tokenizer_is_refused(name: object):
    with pytest.raises(ConfigError, match=f"tokenizer is {re.escape(repr(name))}; allowed are characters"):
        Vocabulary(SPECIALS, name)


@given(st.sets(st.text(max_size=6).filter(lambda word: not unseen(word))), st.sampled_from(["characters", "english", "french"]))
def test_json_round_trip(words: set[str], tokenizer: str):
    vocabulary = Vocabulary.of(words - set(SPECIALS), tokenizer)
    assert Vocabulary.from_json(vocabulary.to_json()) == vocabulary


START = '{"tokenizer": "english", "tokens": ["<pad>", "<sos>", "<eos>", "<unk>"'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "garbage",
        "[]",
        "null",
        "3",
        "{}",
        "[" * 100_000,
        '{"tokenizer": "english"}',
        '{"tokens": []}',
        '{"tokenizer": "english", "tokens": null}',
        '{"tokenizer": "english", "tokens": 5}',
        '{"tokenizer": "english", "tokens": "<pad>"}',
        '{"tokenizer": "english", "tokens": {}}',
        START + ", 5]}",
        START + ", null]}",
        START + ", []]}",
        START + ', "a", "a"]}',
        START + ', "\\ud800"]}',
        START.replace('"english"', "[]") + "]}",
        START.replace('"english"', "null") + "]}",
        START.replace('"english"', "{}") + "]}",
        START.replace('"english"', '"klingon"') + "]}",
    ],
    ids=lambda text: text[:60],
)
def test_invalid_json_is_refused(text: str):
    with pytest.raises(HeadlightError):
        Vocabulary.from_json(text)


@given(st.text())
def test_arbitrary_text_is_refused_as_json(text: str):
    with pytest.raises(HeadlightError):
        Vocabulary.from_json(text)


def test_vocabularies_are_compared_and_hashed_by_value():
    assert hash(Vocabulary.of(WORDS, "english")) == hash(VOCABULARY)
    with pytest.raises(AttributeError):
        VOCABULARY.tokens = ()
