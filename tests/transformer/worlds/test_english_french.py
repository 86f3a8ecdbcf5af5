"""Tests of the English–French world: properties of drawn sentences, words, splits and pairs."""

import random
import re
from itertools import pairwise

import pytest

from transformer.text.vocabulary import EOS, PAD, SOS, UNK
from transformer.worlds.english_french import EnglishFrench, EnglishFrenchStatic, ReferencePair
from transformer.worlds.french.adjectives import ADJECTIVES, SELECTIVE_OF
from transformer.worlds.french.nouns import KINDS, NOUN_BY_FORM, NOUNS, NOUNS_OF
from transformer.worlds.french.sound import settle
from transformer.worlds.french.verbs import VERBS
from transformer.worlds.world import Pair

WORLD = EnglishFrench()
STATIC = EnglishFrenchStatic()
SIGNATURE = "the animal did not cross the street"

UNELIDED = re.compile(r"\b(?:le|la|de|ne|que|je|me|te|ma|ta|sa|ce) (?=[aeiouéèêàâîôœ]|h(?!érisson|aricot))")
UNCONTRACTED = re.compile(r"\b(?:de|à) les?\b|\bde des?\b")
OVERELIDED = re.compile(r"\b(?:l|d|n|qu|j|m|t)'(?![aeiouéèêàâîôœ]|h(?!érisson|aricot))")
MASCULINE = {"le", "un", "ce", "cet", "du", "au"}
FEMININE = {"la", "une", "cette", "ma", "ta", "sa"}
PRONOUNS = {("m", False): "il", ("f", False): "elle", ("m", True): "ils", ("f", True): "elles"}


@pytest.fixture(scope="module", params=[WORLD, STATIC], ids=lambda world: world.name)
def world(request: pytest.FixtureRequest) -> EnglishFrench:
    return request.param


@pytest.fixture(scope="module")
def drawn() -> list[Pair]:
    rng = random.Random(0)
    return [WORLD.draw(rng) for _ in range(4_000)]


def test_no_drawn_sentence_breaks_elision_or_contraction(drawn: list[Pair]):
    for pair in drawn:
        for broken in (UNELIDED, UNCONTRACTED, OVERELIDED):
            assert not broken.search(pair.target), pair


def test_english_articles_follow_the_sound(drawn: list[Pair]):
    for pair in drawn:
        assert not re.search(r"\ba [aeiou]|\ban [^aeiou]", pair.source), pair


def test_determiners_agree_with_the_noun_they_touch(drawn: list[Pair]):
    gender = {form: noun.gender for noun in NOUNS for form in noun.french}
    plurals = {noun.french[1] for noun in NOUNS if noun.french[0] != noun.french[1]}
    checked = 0
    for pair in drawn:
        tokens = WORLD.target_vocabulary.split(pair.target)
        for before, noun in pairwise(tokens):
            if noun in gender and before in MASCULINE | FEMININE:
                checked += 1
                assert gender[noun] == ("m" if before in MASCULINE else "f"), pair
                assert noun not in plurals, pair
    assert checked > 1_000


def test_pronoun_and_adjective_of_a_reason_agree_with_the_one_noun_that_fits(drawn: list[Pair]):
    """Checked on the words alone, without the parser."""
    by_word = {adjective.english: adjective for adjective in ADJECTIVES}
    checked = 0
    for pair in drawn:
        if pair.form not in ("reference", "question"):
            continue
        main, _, because = pair.source.partition(" because ")
        adjective = by_word[re.split(r" \.", because)[0].split()[-1]]
        plural = because.startswith("they")
        nouns = [NOUN_BY_FORM[word] for word in main.split() if word in NOUN_BY_FORM]
        named = [noun for noun, many in nouns if noun.kind in adjective.kinds and many == plural]
        assert len(named) == 1, pair
        clause = WORLD.target_vocabulary.split(pair.target.partition("parce ")[2].split(" .")[0])
        assert clause[1] == PRONOUNS[named[0].gender, plural], pair
        assert clause[-1] == adjective.form(named[0].gender, plural), pair
        if pair.form == "question":
            answer = WORLD.target_vocabulary.split(pair.target)[-3:]
            full = "les" if plural else "le" if named[0].gender == "m" else "la"
            assert answer == settle([full, named[0].french[plural], "."])[-3:], pair
        checked += 1
    assert checked > 1_500


def test_position_does_not_reveal_the_antecedent(drawn: list[Pair]):
    first = last = two = 0
    for pair in drawn:
        if pair.form == "question":
            main = pair.source.partition(" because ")[0]
            nouns = [NOUN_BY_FORM[word][0] for word in main.split() if word in NOUN_BY_FORM]
            if len(nouns) == 2:
                answer = WORLD.target_vocabulary.split(pair.target)[-2]
                two += 1
                first, last = first + (answer in nouns[0].french), last + (answer in nouns[1].french)
    assert first + last == two
    assert abs(first - last) < 0.1 * two


def test_forms_come_in_their_shares(drawn: list[Pair]):
    forms = [pair.form for pair in drawn]
    assert {"agreement", "negation", "clitic", "relative", "reference", "question"} <= set(forms)
    assert 0.29 < forms.count("question") / len(forms) < 0.37
    assert min(map(forms.count, set(forms))) > 0.02 * len(forms)


def test_half_the_sentences_end_in_a_period(drawn: list[Pair]):
    statements = [pair for pair in drawn if pair.form != "question"]
    ended = [pair for pair in statements if pair.source.endswith(" .")]
    assert all(pair.source.endswith(" .") == pair.target.endswith(" .") for pair in drawn if pair.form != "question")
    assert 0.45 < len(ended) / len(statements) < 0.55


def test_lengths_fit_the_model(drawn: list[Pair]):
    assert max(len(pair.source.split()) for pair in drawn) <= WORLD.longest <= 40
    assert max(len(WORLD.target_vocabulary.split(pair.target)) for pair in drawn) <= 48


def test_vocabularies_are_of_the_right_size():
    assert 250 <= len(WORLD.source_vocabulary.words) <= 450
    assert 250 <= len(WORLD.target_vocabulary.words) <= 750
    assert STATIC.target_vocabulary is EnglishFrench.target_vocabulary


def test_splitting_and_joining_a_source_gives_it_back(drawn: list[Pair]):
    for pair in drawn:
        assert WORLD.source_vocabulary.text(WORLD.source_vocabulary.split(pair.source)) == pair.source


def test_words_have_their_classes(world: EnglishFrench):
    assert [world.word_class(word, "source") for word in SIGNATURE.split()[:4]] == [
        "determiner",
        "noun",
        "auxiliary",
        "negation",
    ]
    assert world.word_class("elle", "target") == "pronoun"
    assert [world.word_class(token, "target") for token in (PAD, SOS, EOS, UNK, "street")] == [None] * 5


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_both_genders_and_adjectives_of_its_own(kind: str):
    assert abs(len(NOUNS_OF[kind, "m"]) - len(NOUNS_OF[kind, "f"])) <= 2
    assert len(SELECTIVE_OF[kind]) >= 4


def test_no_english_form_is_ambiguous_within_a_word_class():
    assert len(NOUN_BY_FORM) == 2 * len(NOUNS)
    assert len({adjective.english for adjective in ADJECTIVES}) == len(ADJECTIVES)
    assert len({(verb.base, verb.takes_object) for verb in VERBS}) == len(VERBS)


def test_a_sentence_and_its_variants_are_in_one_split(world: EnglishFrench):
    main = "the dog did not reach the bridge"
    endings = (
        " .",
        " because it was too tired",
        " because it was very wide .",
        " because it was wide . what was wide ?",
    )
    assert {world.split_key(main + ending) for ending in endings} == {main}
    assert world.split_key("The dog didn't reach the bridge.") == main
    assert world.is_held_out(f"{SIGNATURE} because it was too tired")
    assert world.is_held_out(f"{SIGNATURE} because it was too wide .")


def test_there_is_no_alignment():
    assert WORLD.alignment(("i", "see", "it"), ("je", "le", "vois")) is None


def test_the_first_two_examples_are_the_best_known_sentences(world: EnglishFrench):
    assert len(world.examples) >= 8
    assert [example.source.split()[-1] for example in world.examples[:2]] == ["tired", "wide"]


def differing(pair: ReferencePair) -> list[tuple[str, str]]:
    return [(a, b) for a, b in zip(pair.source_a.split(), pair.source_b.split(), strict=True) if a != b]


@pytest.mark.parametrize("split", ["held-out", "train"])
def test_reference_pairs_differ_in_the_adjective_alone(world: EnglishFrench, split):
    pairs = world.reference_pairs(30, seed=0, split=split)
    assert len(set(pairs)) == 30
    assert world.reference_pairs(30, seed=0, split=split) == pairs
    for pair in pairs:
        assert len(differing(pair)) == 1
        assert {world.word_class(word, "source") for word in differing(pair)[0]} == {"adjective"}
        assert world.is_held_out(pair.source_a) == world.is_held_out(pair.source_b) == (split == "held-out")
        assert (world.solve(pair.source_a), world.solve(pair.source_b)) == (pair.target_a, pair.target_b)


def test_reference_pairs_point_at_their_nouns_and_pronouns(world: EnglishFrench):
    for pair in world.reference_pairs(30, seed=1):
        source = world.source_vocabulary.split(pair.source_a)
        assert pair.noun_1 < pair.noun_2
        ways = ((pair.noun_1, pair.target_a, pair.pronoun_a), (pair.noun_2, pair.target_b, pair.pronoun_b))
        for noun_index, target, pronoun_index in ways:
            noun, plural = NOUN_BY_FORM[source[noun_index]]
            tokens = world.target_vocabulary.split(target)
            assert tokens[pronoun_index] == PRONOUNS[noun.gender, plural], pair
            assert tokens[pronoun_index - 2] == "parce", pair


def test_static_frames_are_rigid():
    rng = random.Random(0)
    reasons = [pair.source for pair in (STATIC.draw(rng) for _ in range(1_000)) if pair.form == "reference"]
    assert len(reasons) > 300
    for source in reasons:
        words = source.split()
        assert [*words[:1], *words[2:4], *words[5:6], *words[7:8]] == ["the", "did", "not", "the", "because"], source
        assert [NOUN_BY_FORM[words[index]][0].kind for index in (1, 6)] == ["animal", "place"], source
        assert "?" not in words, source
