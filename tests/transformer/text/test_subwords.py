"""Pieces of words: the same as those of the library `tokenizers`, and every text can be read and written."""

import random

import pytest

from transformer.errors import ConfigError, InputError
from transformer.text.pieces import joined_label
from transformer.text.subwords import FIRST, LONGEST_RUN, Subwords, read_vocabulary, typed
from transformer.text.vocabulary import Vocabulary

WORDS = [
    "the",
    "low",
    "lower",
    "lowest",
    "new",
    "newer",
    "newest",
    "wide",
    "wider",
    "widest",
    "isn't",
    "it's",
    "l'été",
    "10",
    "a",
]
PIECES = Subwords((*FIRST, *"abdehilnorstw'", "▁", "▁t", "he", "▁the", "lo", "low", "▁low", "er", "es", "est", "▁n", "ew"))


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("the lowest", ["▁the", "▁low", "est"]),
        ("The low", ["▁", "<0x54>", "he", "▁low"]),
        ("newer", ["▁n", "ew", "er"]),
        ("isn't", ["▁", "i", "s", "n", "'", "t"]),
        ("10", ["▁", "<0x31>", "<0x30>"]),
        ("", []),
        (" \u200b ", []),
        ("\u200fthe\u202e", ["▁the"]),
        ("é", ["▁", "<0xC3>", "<0xA9>"]),
    ],
)
def test_the_neighbours_that_come_first_are_joined_first(text: str, pieces: list[str]):
    assert PIECES.split(text) == pieces


@pytest.mark.parametrize(
    "text",
    [
        "It's  10!",
        "J’ai naïve café",
        "<pad> <sos> <0x41>",
        "a▁b ▁",
        "🍕 👨‍👩‍👧 ❤️",
        "日本 نص",
        "x" * 999,
        "\ud800a\tb\nc",
        "e\u0301",
    ],
)
def test_any_text_is_read_and_written_again(text: str):
    pieces = PIECES.split(text)
    assert PIECES.text(pieces) == PIECES.text_of(PIECES.ids(pieces)) == typed(text)
    assert not PIECES.unknown(pieces)
    assert not set(PIECES.ids(pieces)) & set(PIECES.specials)
    numbers = [number for number in PIECES.words_of(PIECES.ids(pieces)) if number is not None]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(max(numbers) + 1))


def test_a_word_is_its_pieces_and_a_sign_is_a_word():
    pieces = ["▁the", "▁low", "est", "'", "t", "▁", "<0xC3>", "<0xA9>", "he"]
    ids = [PIECES.sos, *PIECES.ids(pieces), PIECES.eos, PIECES.pad]
    assert PIECES.words_of(ids) == (None, 0, 1, 1, 2, 3, 4, 4, 4, 4, None, None)
    assert joined_label(["▁", "<0xC3>", "<0xA9>", "he"]) == "éhe"


@pytest.mark.parametrize("words", [["🇫🇷", "🇬🇧", "🇫"], ["🏴\U000e0067\U000e0062\U000e007f"], ["👩\u200d🍳", "a"]])
def test_all_parts_of_a_flag_or_an_emoji_are_one_word(words: list[str]):
    pieces = PIECES.split("".join(words))
    numbers = PIECES.words_of(PIECES.ids(pieces))
    joined = [[piece for piece, number in zip(pieces, numbers, strict=True) if number == word] for word in range(len(words))]
    assert [*map(joined_label, joined)] == words


def test_a_long_word_takes_little_time_because_its_runs_are_short():
    assert max(len(piece) for piece in PIECES.split("n" * 5 * LONGEST_RUN)) == 2  # `▁n`; nothing else joins


def test_the_pieces_are_those_of_the_library():
    """Its merges are applied in order; ours are found by rank. On random texts both give the same pieces."""
    tokenizers = pytest.importorskip("tokenizers")
    from transformer.training.corpus import pieces_of

    rng = random.Random(0)
    texts = [" ".join(rng.choices(WORDS, k=6)) for _ in range(400)]
    ours = pieces_of(texts, len(FIRST) + 45)
    model = tokenizers.models.BPE(byte_fallback=True)
    theirs = tokenizers.Tokenizer(model)
    pre = tokenizers.pre_tokenizers
    theirs.pre_tokenizer = pre.Sequence(
        [pre.Metaspace(prepend_scheme="always"), pre.Punctuation(), pre.Digits(individual_digits=True)]
    )
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=len(FIRST) + 45, special_tokens=list(FIRST), show_progress=False)
    theirs.train_from_iterator(texts, trainer)
    known = theirs.get_vocab()
    assert ours.tokens == tuple(sorted(known, key=lambda piece: known[piece]))
    for text in [*texts[:100], "widening new-ness, 1001 zéros?"]:
        assert ours.split(text) == theirs.encode(text).tokens


def test_a_vocabulary_of_pieces_is_read_back():
    assert read_vocabulary(PIECES.to_json()) == PIECES
    words = Vocabulary.of(["a"], "english")
    assert type(read_vocabulary(words.to_json())) is Vocabulary
    with pytest.raises(ConfigError, match="is not a JSON object"):
        read_vocabulary("[]")


def test_wrong_vocabularies_and_tokens_are_refused():
    with pytest.raises(ConfigError, match="starts with <pad> <sos> <eos> and a piece for each byte"):
        Subwords(("<pad>", "<sos>", "<eos>", "<unk>"))
    with pytest.raises(InputError, match="There is no token 'zz'"):
        PIECES.ids(["zz"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("“Hello” she said…", "“ Hello ” she said …"),
        ("<b>=1+1</b>", "< b > = 1 + 1 < / b >"),
        ("*bold* #7", "* bold * # 7"),
        ("«là» — l’ami", "« là » — l ' ami"),
        ("👩🏽‍💻🇫🇷❤️ 日本 🙂🙂", "👩🏽‍💻 🇫🇷 ❤️ 日本 🙂 🙂"),
        ("हिन्दी ñ", "हिन्दी ñ"),
    ],
)
def test_bytes_are_words_as_the_characters_that_they_make_up(text: str, words: str):
    pieces = PIECES.split(text)
    numbers = PIECES.words_of(PIECES.ids(pieces))
    grouped = [[piece for piece, of in zip(pieces, numbers, strict=True) if of == number] for number in dict.fromkeys(numbers)]
    assert list(map(joined_label, grouped)) == words.split()


def test_a_byte_alone_keeps_its_name_only_if_it_is_no_character():
    assert joined_label(["<0x3E>"]) == ">"
    assert joined_label(["<0xC3>"]) == "<0xC3>"
