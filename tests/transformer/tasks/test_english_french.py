"""The English–French world: its rules one by one, then what every drawn sentence has to keep."""

import random
import re
from itertools import islice, pairwise

import pytest

from transformer.tasks.english_french import EnglishFrench, EnglishFrenchStatic, ReferencePair
from transformer.tasks.french.adjectives import ADJECTIVES, SELECTIVE_OF
from transformer.tasks.french.nouns import KINDS, NOUN_BY_FORM, NOUNS, NOUNS_OF
from transformer.tasks.french.sound import settle
from transformer.tasks.french.verbs import VERBS
from transformer.tasks.world import Pair, World
from transformer.vocabulary import EOS, PAD, SOS, UNK

WORLD = EnglishFrench()
STATIC = EnglishFrenchStatic()
SIGNATURE = "the animal did not cross the street"

RULES = {
    "signature": [
        (f"{SIGNATURE} because it was too tired", "l'animal n'a pas traversé la rue parce qu'il était trop fatigué"),
        (f"{SIGNATURE} because it was too wide", "l'animal n'a pas traversé la rue parce qu'elle était trop large"),
        (
            "The animal didn't cross the street because it was too tired.",
            "l'animal n'a pas traversé la rue parce qu'il était trop fatigué .",
        ),
        ("the cat sleeps .", "le chat dort ."),
    ],
    "article": [
        ("the cow sees a cat", "la vache voit un chat"),
        ("an old man sleeps", "un vieil homme dort"),
        ("some girls hear some boys", "des filles entendent des garçons"),
        ("the children sing", "les enfants chantent"),
        ("two cats see three dogs", "deux chats voient trois chiens"),
    ],
    "indefinite before an adjective": [
        ("i see some beautiful houses", "je vois de belles maisons"),
        ("i see some red houses", "je vois des maisons rouges"),
        ("i see some red old houses", "je vois de vieilles maisons rouges"),
        ("i see some old trucks", "je vois de vieux camions"),
        ("i see some former hotels", "je vois d'anciens hôtels"),
    ],
    "indefinite after a negation": [
        ("i do not see a dog", "je ne vois pas de chien"),
        ("i do not see any apples", "je ne vois pas de pommes"),
        ("she did not buy an orange", "elle n'a pas acheté d'orange"),
        ("i do not see the dog", "je ne vois pas le chien"),
        ("a dog does not sleep", "un chien ne dort pas"),
        ("i do not sleep near a house", "je ne dors pas près d'une maison"),
    ],
    "demonstrative": [
        ("this cat sleeps", "ce chat dort"),
        ("that man sleeps", "cet homme dort"),
        ("this animal sleeps", "cet animal dort"),
        ("this hedgehog sleeps", "ce hérisson dort"),
        ("this beautiful animal sleeps", "ce bel animal dort"),
        ("this big animal sleeps", "ce grand animal dort"),
        ("that former hotel is flooded", "cet ancien hôtel est inondé"),
        ("this spider sleeps", "cette araignée dort"),
        ("those cats sleep", "ces chats dorment"),
    ],
    "possessive": [
        ("my mother sees his father", "ma mère voit son père"),
        ("i love my school", "j'aime mon école"),
        ("you love your orange", "tu aimes ton orange"),
        ("she washes her scarf", "elle lave son écharpe"),
        ("she loves her former house", "elle aime son ancienne maison"),
        ("she loves her old scarf", "elle aime sa vieille écharpe"),
        ("our friends wash their cars", "nos amis lavent leurs voitures"),
        ("their friend washes our car", "leur ami lave notre voiture"),
    ],
    "agreement of adjectives": [
        ("the street is narrow", "la rue est étroite"),
        ("the paths are narrow", "les chemins sont étroits"),
        ("the streets were muddy", "les rues étaient boueuses"),
        ("the carrots are raw", "les carottes sont crues"),
        ("the white shirt is torn", "la chemise blanche est déchirée"),
        ("she is tired", "elle est fatiguée"),
        ("i am tired", "je suis fatigué"),
        ("we were hungry", "nous étions affamés"),
        ("the cakes are good", "les gâteaux sont bons"),
        ("the boys were nervous", "les garçons étaient nerveux"),
    ],
    "place of adjectives": [
        ("i see a big red car", "je vois une grande voiture rouge"),
        ("i see the tired cat", "je vois le chat fatigué"),
        ("i see a beautiful old house", "je vois une belle vieille maison"),
        ("i see a beautiful old cat", "je vois un beau vieux chat"),
    ],
    "bel, vieil, nouvel": [
        ("i see a beautiful man", "je vois un bel homme"),
        ("i see an old friend", "je vois un vieil ami"),
        ("i see a new hotel", "je vois un nouvel hôtel"),
        ("i see a beautiful hedgehog", "je vois un beau hérisson"),
        ("i see a beautiful old man", "je vois un beau vieil homme"),
        ("i see the beautiful animals", "je vois les beaux animaux"),
        ("i see a new island", "je vois une nouvelle île"),
        ("the man is beautiful today", "l'homme est beau aujourd'hui"),
    ],
    "irregular plural": [
        ("the animals sleep", "les animaux dorment"),
        ("the horses sleep", "les chevaux dorment"),
        ("the birds sleep", "les oiseaux dorment"),
        ("the mouse sees the mice", "la souris voit les souris"),
        ("the women see the new knives", "les femmes voient les nouveaux couteaux"),
        ("the buses are old", "les bus sont vieux"),
    ],
    "elision": [
        ("the eggs hide the egg", "les œufs cachent l'œuf"),
        ("the hedgehog sleeps", "le hérisson dort"),
        ("the bean is ripe", "le haricot est mûr"),
        ("i love the hotel", "j'aime l'hôtel"),
        ("i was sleeping", "je dormais"),
        ("i avoid it", "je l'évite"),
        ("he loves me", "il m'aime"),
        ("she loves you", "elle t'aime"),
        ("the man that she sees sleeps", "l'homme qu'elle voit dort"),
    ],
    "contraction": [
        ("she goes to the park", "elle va au parc"),
        ("she goes to the parks", "elle va aux parcs"),
        ("she goes to the river", "elle va à la rivière"),
        ("she goes to the hotel", "elle va à l'hôtel"),
        ("she comes from the market", "elle vient du marché"),
        ("she comes from the islands", "elle vient des îles"),
        ("she comes from the island", "elle vient de l'île"),
        ("she sleeps near some houses", "elle dort près de maisons"),
        ("she sleeps near some animals", "elle dort près d'animaux"),
        ("i see the key of the king", "je vois la clé du roi"),
        ("the hedgehog sleeps near the hedgehog", "le hérisson dort près du hérisson"),
    ],
    "negation": [
        ("the cat does not sleep", "le chat ne dort pas"),
        ("i don't sleep", "je ne dors pas"),
        ("the cat is not tired", "le chat n'est pas fatigué"),
        ("the cat wasn't sleeping", "le chat ne dormait pas"),
        ("the queen did not leave", "la reine n'est pas partie"),
    ],
    "clitic": [
        ("i see it", "je le vois"),
        ("i see her", "je la vois"),
        ("i see her cat", "je vois son chat"),
        ("i do not see them", "je ne les vois pas"),
        ("the cat sees us", "le chat nous voit"),
        ("i did not see it", "je ne l'ai pas vu"),
        ("i saw her", "je l'ai vue"),
        ("i saw them", "je les ai vus"),
        ("i saw you", "je t'ai vu"),
        ("she speaks to him", "elle lui parle"),
        ("she speaks to them", "elle leur parle"),
        ("i give the book to her", "je lui donne le livre"),
        ("i give it to him", "je le lui donne"),
        ("he gives it to me", "il me le donne"),
        ("he did not give them to us", "il ne nous les a pas donnés"),
        ("i sleep near her", "je dors près d'elle"),
    ],
    "present": [
        ("i eat the apple", "je mange la pomme"),
        ("you are eating the apple", "tu manges la pomme"),
        ("we eat the apple", "nous mangeons la pomme"),
        ("they are eating the apple", "ils mangent la pomme"),
        ("we buy the hat", "nous achetons le chapeau"),
        ("they buy the hat", "ils achètent le chapeau"),
    ],
    "passé composé": [
        ("she slept", "elle a dormi"),
        ("she left", "elle est partie"),
        ("she left the house", "elle a quitté la maison"),
        ("the women arrived", "les femmes sont arrivées"),
        ("we fell", "nous sommes tombés"),
        ("my aunt went to the market", "ma tante est allée au marché"),
        ("the women ate the apples", "les femmes ont mangé les pommes"),
    ],
    "imperfect": [
        ("the cat was sleeping", "le chat dormait"),
        ("we were eating the cake", "nous mangions le gâteau"),
        ("you were eating the cake", "tu mangeais le gâteau"),
        ("they were swimming", "ils nageaient"),
        ("it was wide", "il était large"),
    ],
    "preposition": [
        ("the cat sleeps in the garden", "le chat dort dans le jardin"),
        ("the cat sleeps under the table here", "le chat dort sous la table ici"),
        ("he works without them", "il travaille sans eux"),
        ("the book is heavy now", "le livre est lourd maintenant"),
        ("the man speaks to the children", "l'homme parle aux enfants"),
    ],
    "relative": [
        ("the cat that sleeps is tired", "le chat qui dort est fatigué"),
        ("the woman who left was tired", "la femme qui est partie était fatiguée"),
        ("the house that i saw was old", "la maison que j'ai vue était vieille"),
        ("i see the apples that the girls ate", "je vois les pommes que les filles ont mangées"),
        ("the books that i bought are heavy", "les livres que j'ai achetés sont lourds"),
        ("i see the dog that that man sees", "je vois le chien que cet homme voit"),
        ("the man that speaks to the king sleeps", "l'homme qui parle au roi dort"),
        ("the book that i gave to the boy is new", "le livre que j'ai donné au garçon est nouveau"),
    ],
    "reference": [
        (
            "the street did not block the animal because it was too tired",
            "la rue n'a pas bloqué l'animal parce qu'il était trop fatigué",
        ),
        (
            "the street did not block the animal because it was too wide",
            "la rue n'a pas bloqué l'animal parce qu'elle était trop large",
        ),
        ("the cow touches the park because it is hungry", "la vache touche le parc parce qu'elle est affamée"),
        ("the cow touches the park because it is crowded", "la vache touche le parc parce qu'il est bondé"),
        (
            "the cars did not follow the dogs because they were very slow",
            "les voitures n'ont pas suivi les chiens parce qu'elles étaient très lentes",
        ),
        (
            "the bus left the pear near the lamp because it was broken",
            "le bus a quitté la poire près de la lampe parce qu'elle était cassée",
        ),
        (
            "the bus left the pears near the lamp because they were rotten",
            "le bus a quitté les poires près de la lampe parce qu'elles étaient pourries",
        ),
        ("the woman avoided the bridge because she was tired", "la femme a évité le pont parce qu'elle était fatiguée"),
        ("we left because we were hungry", "nous sommes partis parce que nous étions affamés"),
    ],
    "question": [
        (
            f"{SIGNATURE} because it was too wide . what was wide ?",
            "l'animal n'a pas traversé la rue parce qu'elle était trop large . la rue .",
        ),
        (
            "these old dogs touch the car because they are shy . what are shy ?",
            "ces vieux chiens touchent la voiture parce qu'ils sont timides . les chiens .",
        ),
        (
            "the man touches the car because he is shy . who is shy ?",
            "l'homme touche la voiture parce qu'il est timide . l'homme .",
        ),
    ],
    "not in the grammar": [
        ("she goes", None),
        ("i see me", None),
        ("i see any cats", None),
        ("i do not see some cats", None),
        ("i do not see a cat that sleeps", None),
        ("these cat sleeps", None),
        ("the cat sleep", None),
        ("a animal sleeps", None),
        ("the cat slept the dog", None),
        ("the cat sees", None),
        (f"{SIGNATURE} because it was old", None),
        (f"{SIGNATURE} because it was ripe", None),
        (f"{SIGNATURE} because they were tired", None),
        (f"{SIGNATURE} because it was too wide . what was tired ?", None),
        ("the man touches the car because he is shy . what is shy ?", None),
        ("the cat . sleeps", None),
        (".", None),
    ],
}

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


@pytest.mark.parametrize(
    ("source", "target"),
    [pytest.param(*pair, id=f"{rule}: {pair[0]}") for rule, pairs in RULES.items() for pair in pairs],
)
def test_rule(source: str, target: str | None):
    assert WORLD.solve(source) == target


def test_elision_and_contraction_wait_for_each_other():
    assert settle(["de", "le", "homme"]) == ["de", "l'", "homme"]
    assert settle(["de", "le", "hérisson"]) == ["du", "hérisson"]
    assert settle(["de", "des", "oiseaux"]) == ["d'", "oiseaux"]
    assert settle(["je", "ne", "me", "le", "ai"]) == ["je", "ne", "me", "l'", "ai"]


def test_solve_gives_what_is_drawn(drawn: list[Pair]):
    for pair in drawn[:2_000]:
        assert WORLD.solve(pair.source) == pair.target, pair


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
    """Read off the words alone, without the parser."""
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


def test_position_does_not_give_the_antecedent_away(drawn: list[Pair]):
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


def test_a_question_adds_the_antecedent_or_is_answered_alone():
    class AnswerOnly(EnglishFrench):
        question_target = "answer only"

    source = f"{SIGNATURE} because it was too tired . what was tired ?"
    assert AnswerOnly().solve(source) == "l'animal ."
    assert (WORLD.solve(source) or "").endswith("fatigué . l'animal .")


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


def test_every_word_is_drawn_and_no_other():
    rng = random.Random(1)
    sources, targets = set(WORLD.source_vocabulary.words), set(WORLD.target_vocabulary.words)
    missing_sources, missing_targets = set(sources), set(targets)
    for _ in range(60_000):
        pair = WORLD.draw(rng)
        source, target = pair.source.split(), WORLD.target_vocabulary.split(pair.target)
        assert sources.issuperset(source), pair
        assert targets.issuperset(target), pair
        missing_sources.difference_update(source)
        missing_targets.difference_update(target)
        if not missing_sources and not missing_targets:
            break
    assert not missing_sources
    assert not missing_targets


def test_every_text_reads_as_it_is_split(drawn: list[Pair]):
    for pair in drawn:
        for vocabulary, text in ((WORLD.source_vocabulary, pair.source), (WORLD.target_vocabulary, pair.target)):
            assert vocabulary.text(vocabulary.split(text)) == text


def test_every_word_has_a_class(world: EnglishFrench):
    for word in world.source_vocabulary.words:
        assert world.word_class(word, "source"), word
    for word in world.target_vocabulary.words:
        assert world.word_class(word, "target"), word
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


def test_no_english_form_is_two_words_of_one_use():
    assert len(NOUN_BY_FORM) == 2 * len(NOUNS)
    assert len({adjective.english for adjective in ADJECTIVES}) == len(ADJECTIVES)
    assert len({(verb.base, verb.takes_object) for verb in VERBS}) == len(VERBS)


def test_a_sentence_and_its_variants_fall_on_one_side(world: EnglishFrench):
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


def test_splits_share_no_main_clause(world: World):
    train = {world.split_key(pair.source) for pair in islice(world.pairs("train", 0), 1_000)}
    held_out = {world.split_key(pair.source) for pair in islice(world.pairs("held-out", 0), 100)}
    assert not train & held_out


def test_a_seed_repeats_its_pairs(world: World):
    first = list(islice(world.pairs("train", 5), 100))
    assert list(islice(world.pairs("train", 5), 100)) == first
    assert list(islice(world.pairs("train", 6), 100)) != first


def test_there_is_no_alignment():
    assert WORLD.alignment(("i", "see", "it"), ("je", "le", "vois")) is None


def test_examples_are_in_the_language(world: EnglishFrench):
    assert len(world.examples) >= 8
    assert [example.source.split()[-1] for example in world.examples[:2]] == ["tired", "wide"]
    for example in world.examples:
        assert world.solve(example.source), example
        assert not world.source_vocabulary.unknown(world.source_vocabulary.split(example.source)), example


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
