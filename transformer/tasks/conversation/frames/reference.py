"""Sentences in which a pronoun refers to an earlier noun. Only the adjective after the pronoun decides which noun this is.

`the animal did not cross the street because it was too tired` becomes `… parce qu'il était trop fatigué`; with `wide` it
becomes `… parce qu'elle était trop large`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from transformer.tasks.conversation import function_words as words
from transformer.tasks.conversation import place_and_time as adverbials
from transformer.tasks.conversation.frames.being import STATES, forms
from transformer.tasks.conversation.frames.frame import Frame, period
from transformer.tasks.conversation.function_words import Pronoun
from transformer.tasks.conversation.lexicon import ADJECTIVES, ANIMATE, AVOIR, ETRE, PEOPLE, VERBS, Adjective, Agreement
from transformer.tasks.conversation.nominal import NAME_TABLE, Nominal, noun_phrase, person_name, person_pronoun
from transformer.tasks.conversation.path import Path, Table
from transformer.tasks.conversation.verbal import BE, THIRD, Clause, Complements, Negation, Tense

KINDS = ("animal", "animal", "person", "friend", "family", "job", "place", "place", "object", "food", "vehicle", "clothing")
THINGS = tuple(kind for kind in KINDS if kind not in PEOPLE)
# These verbs fit any two nouns, so neither the verb nor the order of the nouns shows which noun a pronoun refers to.
_ANY = ("cross", "touch", "follow", "block", "hide", "avoid", "push", "cover", "see", "watch", "look at", "find")
# The subject of these verbs is a person or an animal.
_SOMEBODY = ("like", "love", "buy", "want", "have", "sell", "wash", "take", "open", "clean", "read", "carry", "break", "hate")
_VERBS = [v for v in VERBS if v.base in (*_ANY, *_SOMEBODY) and v.takes_object]


def _verbs(form: str, bases: Sequence[str]) -> Table:
    return Table([(getattr(v, form), v) for v in _VERBS if v.base in bases])


VERB_FORMS = {
    (form, some): _verbs(form, some) for form in ("base", "third", "past") for some in (_ANY, _SOMEBODY, (*_ANY, *_SOMEBODY))
}
REASONS = Table([("because", ["parce", "que"]), ("and", ["et"]), ("but", ["mais"])], [8, 1, 0.5])
BECAUSE = Table([("because", ["parce", "que"])])
DEGREES = Table([("too", "trop"), ("very", "très"), ("so", "si")], [2, 2, 1])
SELECTIVE = [a for a in ADJECTIVES if a.predicative]
IT_THEY = ("he", "she", "it", "they")


@dataclass(frozen=True)
class Said:
    """A description of a noun: an adjective, or a feeling (`hungry`), which French expresses with *avoir* and the noun
    `feeling` (`faim`). `kinds` are the kinds of noun that it fits."""

    english: str
    kinds: frozenset[str]
    adjective: Adjective | None = None
    feeling: str = ""

    @property
    def is_of_any(self) -> bool:
        """Whether the adjective fits so many nouns that it rarely decides which noun is meant, such as a colour or a
        nationality."""
        return self.adjective is not None and (not self.adjective.graded and len(self.kinds) > 5)

    def french(self, degree: str | None, agreement: Agreement, past: bool) -> list[str]:
        verb = AVOIR if self.feeling else ETRE
        finite = forms(verb, "past" if past else "present")[agreement.slot]
        word = self.feeling or (self.adjective.form(agreement) if self.adjective else "")
        return [finite, *([degree] if degree else []), *word.split()]


SAYINGS = [
    Said(a.english, a.kinds, adjective=a) for a in SELECTIVE if a.english not in ("hot", "cold", "warm", "late", "early")
]
SAYINGS += [Said(e, ANIMATE, feeling=f) for e, f in STATES.items() if e in ("hungry", "thirsty", "afraid", "scared")]
SAYING_TABLE = Table([(s.english, s) for s in SAYINGS])
# English word → the kinds of noun that it fits. `nice` and `short` are two entries each, because they have two French words.
KINDS_OF_WORD = {s.english: frozenset().union(*(t.kinds for t in SAYINGS if t.english == s.english)) for s in SAYINGS}
# Descriptions that fit few kinds of nouns are sampled more often, because others rarely decide which noun is meant.
SAYINGS_OF = {
    kind: Table([(s.english, s) for s in chosen], [1.0 if len(s.kinds) < 8 else 0.1 for s in chosen])
    for kind in dict.fromkeys(KINDS)
    if (chosen := [s for s in SAYINGS if kind in s.kinds and not s.is_of_any])
}


@dataclass(frozen=True)
class Main:
    """The main clause of a sentence such as `the animal did not cross the street because it was too tired`: its French words,
    whether it is in the past, and the nouns that the pronoun after it (`it`) may refer to."""

    french: list[str]
    past: bool
    candidates: tuple[Nominal, ...]


def fits(candidate: Nominal, pronoun: Pronoun, saying: Said) -> bool:
    """Whether `pronoun` can refer to the noun `candidate` if the description `saying` follows the pronoun (`it was too
    tired`)."""
    plural = pronoun.agreement.plural
    if candidate.kind not in KINDS_OF_WORD[saying.english] or (candidate.english_slot == 4) != plural:
        return False
    if plural:
        return True
    if pronoun.subject == "it":
        return candidate.kind not in PEOPLE
    return candidate.kind in PEOPLE and candidate.agreement.gender == pronoun.agreement.gender


def referent(candidates: Sequence[Nominal], pronoun: Pronoun, saying: Said) -> Nominal | None:
    """The only candidate that `pronoun` can refer to if the description `saying` follows; None if there is no such candidate,
    or more than one."""
    fitting = [candidate for candidate in candidates if fits(candidate, pronoun, saying)]
    return fitting[0] if len(fitting) == 1 else None


def main_clause(path: Path, *, rigid: bool = False) -> Main:
    """A clause such as `the animal did not cross the street` or `anna bought a dress`, without a period. A `SamplingPath`
    samples the English words; a `ParsingPath` reads them from its text. With `rigid`, only clauses with an animal, `did not`, a
    verb and a place, such as the first example."""
    # Most sampled sentences have two nouns of different genders that `it` may refer to. Only from such sentences does a model
    # learn to attend to the right noun.
    two_things = not rigid and path.meaning((True, True, True, False)) is True
    singular = ("singular",) if rigid or two_things else words.ANY
    kinds: Sequence[str] = ("animal",) if rigid else THINGS if two_things else KINDS
    options = {"phrase": 6.0} if rigid or two_things else {"phrase": 6.0, "pronoun": 1.5, "name": 0.7}
    chosen = path.choose(options, {"pronoun": words.PERSON_SUBJECTS.by_first, "name": NAME_TABLE.by_first})
    if chosen == "phrase":
        someone = noun_phrase(path, kinds, words.DEFINITE if not rigid else THE, adjectives=0.0 if rigid else 0.08, of=0.0,
                              numbers=singular)  # fmt: skip
    else:
        someone = person_pronoun(path) if chosen == "pronoun" else person_name(path)
    somebody = someone.kind in ANIMATE and path.meaning((True, False, False)) is not False
    tense: Tense = "past" if rigid else path.choose({"past": 2.0, "present": 1.0})
    negation: Negation = "not" if rigid else path.choose({"": 0.6, "not": 0.4})
    third = someone.english_slot == THIRD
    if negation:
        path.say("did" if tense == "past" else "does" if third else "do", "not")
    form = "base" if negation else "past" if tense == "past" else "third" if third else "base"
    both = (*_ANY, *_SOMEBODY)
    verb = path.word(VERB_FORMS[form, both], VERB_FORMS[form, _SOMEBODY if somebody and not rigid else _ANY])
    path.require(tense == "present" or negation == "not" or third or verb.past != verb.base)
    object_kinds = ("place",) if rigid else verb.objects if verb.base in _SOMEBODY else THINGS if two_things else KINDS
    thing = noun_phrase(path, object_kinds, THE if rigid else OBJECT_DETERMINERS, adjectives=0.0 if rigid else 0.08, of=0.0,
                        numbers=singular)  # fmt: skip
    path.require(not two_things or (thing.kind in THINGS and thing.agreement.gender != someone.agreement.gender))
    use = "generic" if "generic" in verb.pattern else "negated" if negation else "plain"
    candidates = [] if someone.pronoun else [someone]
    candidates.append(thing)
    complements = Complements(objects=thing.french(use))
    third_noun = {"none": 1.0} if rigid else {"none": 4.0, "place": 1.0}
    if path.choose(third_noun, {"place": NEAR.by_first}) == "place":
        preposition, place_kinds = path.word(NEAR)
        beside = noun_phrase(path, place_kinds, THE, adjectives=0.0, of=0.0)
        candidates.append(beside)
        complements.after += [*preposition, *beside.french("plain")]
    clause = Clause(someone, verb, tense, negation, complements, [])
    return Main(clause.french(), tense == "past", tuple(candidates))


THE = Table([("the", words.DETERMINERS["the"])])
OBJECT_DETERMINERS = words.determiners("the 10, a 1.5, this 1, my 1, your 0.5, his 0.7, her 0.7, our 0.5, their 0.5")
NEAR = Table(
    [(e, (adverbials.PREPOSITIONS[e][0], adverbials.PREPOSITIONS[e][1])) for e in ("near", "behind", "in", "on", "under")]
)


def reason(path: Path, main: Main) -> tuple[list[str], Nominal | None, Said, Pronoun]:
    """The reason after `because`, such as `it was too tired`. A `SamplingPath` samples the English words; a `ParsingPath` reads
    them from its text. Returns its French words, the noun that the pronoun refers to (None if it refers to no noun of `main`),
    the description (`tired`) and the pronoun."""
    pronoun, sampled_from = _sampled_pronoun(path, main)
    past = path.choose({"past": 1.0 if main.past else 0.0, "present": 0.0 if main.past else 1.0}) == "past"
    path.require(past == main.past)
    path.say(BE["past" if past else "present"][pronoun.agreement.slot])
    degree = path.optional(DEGREES, 0.6)
    saying = path.word(SAYING_TABLE, sampled_from)
    path.require(degree is None or saying.adjective is None or saying.adjective.graded)
    found = referent(main.candidates, pronoun, saying)
    agreement = pronoun.agreement
    path.require(found.kind in saying.kinds if found is not None else not saying.adjective or saying.adjective.fits("person"))
    if pronoun.subject in IT_THEY:
        # If no noun fits, `he` or `she` refers to a person of an earlier sentence. `it` and `they` must refer to a noun here.
        path.require(
            found is not None
            or (pronoun.subject in ("he", "she") and not _any_fits(main, pronoun, saying))
            or not main.candidates
        )
        agreement = found.agreement if found is not None else agreement
    french = words.THIRD_PERSON[agreement.gender, agreement.plural] if pronoun.subject in IT_THEY else pronoun.french
    return [french, *saying.french(degree, agreement, past)], found, saying, pronoun


def _any_fits(main: Main, pronoun: Pronoun, saying: Said) -> bool:
    return any(fits(candidate, pronoun, saying) for candidate in main.candidates)


def _sampled_pronoun(path: Path, main: Main) -> tuple[Pronoun, Table[Said] | None]:
    """A pronoun, and a table of descriptions. A `SamplingPath` samples one of the nouns in `main.candidates`, and pronoun and
    descriptions fit this noun. A `ParsingPath` takes the pronoun from the text, and the table is None."""
    target = path.meaning(main.candidates)
    if target is None:
        return path.word(words.SUBJECTS), None
    slot = target.english_slot
    if target.kind in PEOPLE:
        word = "they" if slot == 4 else "she" if target.agreement.gender == "f" else "he"
    else:
        word = "they" if slot == 4 else "it"
    path.require(target.kind in SAYINGS_OF)
    return path.word(words.SUBJECTS, _SUBJECT_OF[word]), SAYINGS_OF.get(target.kind)


_SUBJECT_OF = {p.subject: Table([(p.subject, p)]) for p in words.PRONOUNS}


def reference(path: Path) -> list[str]:
    main = main_clause(path)
    conjunction = path.word(REASONS)
    return [*main.french, *conjunction, *reason(path, main)[0], *period(path)]


def with_question(path: Path) -> list[str]:
    """The words of the French translation of a sentence and a question, such as `… because it was too tired . what was tired
    ?`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text. The French answers the question
    with the noun, which trains a head to attend to the noun."""
    main = main_clause(path)
    path.word(BECAUSE)
    french, found, saying, pronoun = reason(path, main)
    path.require(found is not None)
    assert found is not None
    path.say(".", "who" if found.kind in PEOPLE else "what", BE["past" if main.past else "present"][pronoun.agreement.slot])
    path.say(saying.english, "?")
    path.require(found.noun is not None)
    assert found.noun is not None
    article = "les" if found.agreement.plural else "le" if found.agreement.gender == "m" else "la"
    noun = found.agreement.of(found.noun.french).split()
    return [*main.french, "parce", "que", *french, ".", article, *noun, "."]


def rigid_main(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `the animal did not cross the street`. A `SamplingPath` samples
    the English words; a `ParsingPath` reads them from its text. The two nouns always have the same positions."""
    return [*main_clause(path, rigid=True).french, *period(path)]


def rigid(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `the animal did not cross the street because it was too tired`.
    A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text. The two nouns always have the same
    positions."""
    main = main_clause(path, rigid=True)
    path.word(BECAUSE)
    french, found, _, pronoun = reason(path, main)
    path.require(found is not None and pronoun.subject == "it")
    return [*main.french, "parce", "que", *french, *period(path)]


FRAMES = (
    Frame("reference", 22.0, reference, opens=False),
    Frame("reference question", 25.0, with_question, opens=False),
)
RIGID_FRAMES = (Frame("reference", 8.0, rigid, opens=False), Frame("main clause", 2.0, rigid_main, opens=False))
