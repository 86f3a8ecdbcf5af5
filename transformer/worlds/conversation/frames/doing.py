"""Sentences with other verbs than `be`: present and past, negated or not, plans, wishes and orders."""

from dataclasses import replace

from transformer.worlds.conversation import function_words as words
from transformer.worlds.conversation import place_and_time as adverbials
from transformer.worlds.conversation.frames.frame import Frame, period, please, question_mark
from transformer.worlds.conversation.lexicon import AVOIR, VERBS, Agreement, Conjugation, Verb, conjugation
from transformer.worlds.conversation.nominal import Nominal, from_pronoun, noun_phrase, object_phrase, predicate_adjective, subject
from transformer.worlds.conversation.path import Path, Table
from transformer.worlds.conversation.verbal import (
    LIKINGS,
    LIKINGS_THIRD,
    THIRD,
    TIME_OF_TENSE,
    VERB_FORMS,
    Clause,
    Complements,
    Modal,
    Negation,
    Tense,
    follow,
    may_agree,
    statement,
    verb_form,
    with_modal,
)

FIRST_SHARE = 0.06  # of the sentences that start with a time


def told(path: Path, tense: Tense, negation: Negation = "", things: tuple[str, ...] = ("vehicle",)) -> list[str]:
    """A statement in a tense, perhaps with its time first: `yesterday we went to the beach`."""
    first = path.optional(adverbials.TIMES[TIME_OF_TENSE.get(tense, "present")], FIRST_SHARE)
    who = subject(path, things=things if tense in ("present", "past") else ())
    clause = statement(path, who, tense, negation, time=0.0 if first else 0.22)
    return [*(first or "").split(), *clause.french(), *period(path)]


def present(path: Path) -> list[str]:
    """`i eat an apple`, `she always drinks coffee`."""
    return told(path, "present")


def progressive(path: Path) -> list[str]:
    """`he is sleeping`, `we are not working today`."""
    return told(path, "progressive", "not" if path.choose({"no": 0.88, "yes": 0.12}) == "yes" else "")


def negative(path: Path) -> list[str]:
    """`i do not like coffee`, `he never eats meat`."""
    return told(path, "present", path.choose({"not": 4.0, "never": 1.0}))


def past(path: Path) -> list[str]:
    """`we went to the beach yesterday`."""
    return told(path, "past")


def negative_past(path: Path) -> list[str]:
    """`she did not sleep`."""
    return told(path, "past", path.choose({"not": 6.0, "never": 1.0}))


def imperfect(path: Path) -> list[str]:
    """`i was sleeping`."""
    return told(path, "imperfect", "not" if path.choose({"no": 0.9, "yes": 0.1}) == "yes" else "")


def future(path: Path) -> list[str]:
    """`i am going to eat`, `we will not come tomorrow`."""
    tense: Tense = path.choose({"future": 2.0, "will": 1.0})
    return told(path, tense, "not" if path.choose({"no": 0.85, "yes": 0.15}) == "yes" else "")


def modal(path: Path) -> list[str]:
    """`i can swim`, `she wants to go home`, `you must not run`."""
    negation: Negation = path.choose({"": 0.8, "not": 0.2})
    return [*with_modal(path, subject(path), negation).french(), *please(path, 0.03), *period(path)]


def possession(path: Path) -> list[str]:
    """`i have two brothers`, `she does not have a car`, `anna has blue eyes`."""
    who = subject(path, pronouns=2.0)
    third = who.english_slot == THIRD
    tense: Tense = path.choose({"present": 1.0, "past": 0.2})
    negated = path.choose({"no": 0.8, "yes": 0.2}) == "yes"
    if negated:
        path.say("did" if tense == "past" else "does" if third else "do", "not", "have")
    else:
        path.say("had" if tense == "past" else "has" if third else "have")
    kinds = ("animal", "animal", "object", "family", "family", "vehicle", "clothing", "body", "idea", "person", "thing", "place")
    what = object_phrase(path, kinds, "negative" if negated else "positive", bare=0.12)
    time = (path.optional(adverbials.TIMES[TIME_OF_TENSE.get(tense, "present")], 0.05) or "").split()
    complements = Complements(objects=what.french("negated" if negated else "plain"), last=time)
    return [*Clause(who, HAVE, tense, "not" if negated else "", complements, []).french(), *period(path)]


HAVE = next(verb for verb in VERBS if verb.base == "have")


def liking(path: Path) -> list[str]:
    """`i like cats`, `he does not like coffee`, `we love swimming`."""
    who = subject(path, pronouns=2.0)
    third = who.english_slot == THIRD
    negated = path.choose({"no": 0.75, "yes": 0.25}) == "yes"
    if negated:
        path.say("does" if third else "do", "not")
    liked = path.word(LIKINGS_THIRD if third and not negated else LIKINGS)
    negation: Negation = "not" if negated else ""
    if path.choose({"thing": 2.5, "doing": 1.0}) == "doing":
        verb = verb_form(path, "ing", who.kind)
        complements = follow(path, verb, who, "negative" if negated else "positive", "modal", time=0.04, place=0.08)
        return [*Clause(who, verb, "modal", negation, complements, [], _before_infinitive(liked)).french(), *period(path)]
    what = object_phrase(path, LIKED, "negative" if negated else "positive", bare=0.65).french("generic")
    much = path.says("very", 0.06)
    if much:
        path.say("much")
    verb = replace(LIKE, french=liked)
    complements = Complements(objects=what, manner=["beaucoup"] if much else [])
    return [*Clause(who, verb, "present", negation, complements, []).french(), *period(path)]


LIKE = next(verb for verb in VERBS if verb.base == "like")
LIKED = ("food", "food", "drink", "animal", "sport", "language", "subject", "art", "plant", "vehicle", "text", "clothing", "place", "family")


def _before_infinitive(verb: Conjugation) -> Modal:
    return Modal(("", "", ""), False, verb.present, verb.imperfect)


def wish(path: Path) -> list[str]:
    """`i would like a coffee please`."""
    who = subject(path, pronouns=5.0)
    path.say("would", "like")
    what = object_phrase(path, ("food", "drink", "object", "clothing", "animal", "vehicle"), "positive", bare=0.15)
    complements = Complements(objects=what.french("plain"))
    return [*Clause(who, WOULD_LIKE_VERB, "present", "", complements, []).french(), *please(path, 0.3), *period(path)]


_VOUDRAIS = ("voudrais", "voudrais", "voudrait", "voudrions", "voudraient")
WOULD_LIKE_VERB = replace(
    next(verb for verb in VERBS if verb.base == "want"), french=replace(conjugation("vouloir"), present=_VOUDRAIS)
)

_GIVE_ME = {"give": "donne-moi", "show": "montre-moi", "send": "envoie-moi", "bring": "apporte-moi"}
GIVE_ME = Table([(f"{verb} me", french) for verb, french in _GIVE_ME.items()], [4, 2, 1, 1])


def _can_be_ordered(verb: Verb) -> bool:
    return bool(verb.ing) and not verb.reflexive and not verb.pattern & {"place", "past-imperfect"} or verb.base == "put"


ORDERED = Table([(v.base, v) for v in VERBS if _can_be_ordered(v)])


def order(path: Path) -> list[str]:
    """`close the door please`, `do not run`, `give me the book`, `let us eat`."""
    options = {"order": 3.0, "not": 1.0, "let us": 1.0, "give me": 0.7}
    starts = {"not": ("do",), "let us": ("let",), "give me": GIVE_ME.by_first, "order": ORDERED.by_first}
    asked = please(path, 0.07)
    chosen = path.choose(options, starts)
    if chosen == "give me":
        french = [path.word(GIVE_ME)]
        what = object_phrase(path, ("object", "food", "drink", "clothing"), "positive", bare=0.1).french("plain")
        return [*asked, *french, *what, *please(path, 0.3 * (not asked)), *period(path)]
    if chosen != "order":
        path.say(*(("do", "not") if chosen == "not" else ("let", "us")))
    someone = from_pronoun(words.PRONOUNS[5 if chosen == "let us" else 1])
    verb = path.word(ORDERED)
    polarity = "negative" if chosen == "not" else "positive"
    complements = follow(path, verb, someone, polarity, "will", time=0.12, place=0.12, pronouns=False)
    finite = verb.french.present[someone.agreement.slot]
    if chosen != "let us" and finite.endswith(("es", "vas")):
        finite = finite[:-1]
    tail = ["de", *verb.tail[1:]] if chosen == "not" and verb.tail and verb.tail[0] in ("du", "une") else list(verb.tail)
    verb_words = ["ne", finite, "pas"] if chosen == "not" else [finite]
    return [*asked, *verb_words, *tail, *complements.words, *please(path, 0.15 * (not asked)), *period(path)]


CONJUNCTIONS = Table([("because", ["parce", "que"]), ("and", ["et"]), ("but", ["mais"])], [2, 1.5, 1])


def joined(path: Path) -> list[str]:
    """`i like tea but i do not like coffee`, `she is happy because she has a dog`."""
    first = _short(path)
    conjunction = path.word(CONJUNCTIONS)
    return [*first, *conjunction, *_short(path), *period(path)]


def _short(path: Path) -> list[str]:
    """A short clause with a pronoun or a name."""
    who = from_pronoun(path.word(words.PERSON_SUBJECTS))
    kind = path.choose({"present": 3.0, "not": 1.5, "past": 1.5, "modal": 1.0})
    if kind == "modal":
        return infinitive_short(path, who)
    tense: Tense = "past" if kind == "past" else "present"
    negation: Negation = "not" if kind == "not" else ""
    return statement(path, who, tense, negation, time=0.0, place=0.05).french()


def infinitive_short(path: Path, who: Nominal) -> list[str]:
    negation: Negation = path.choose({"": 0.7, "not": 0.3})
    return with_modal(path, who, negation, time=0.0, place=0.05).french()


def relative(path: Path) -> list[str]:
    """`i know a man who lives in paris`, `the book that she bought is new`."""
    chosen = path.choose({"who": 1.0, "that": 1.3})
    if chosen == "who":
        who = subject(path, pronouns=3.0)
        path.say(*(("knows",) if who.english_slot == THIRD else ("know",)))
        head = noun_phrase(path, ("person", "job", "family"), KNOWN, adjectives=0.05, of=0.0)
        path.say("who")
        tense: Tense = path.choose({"present": 2.0, "past": 1.0})
        clause = statement(path, head, tense, "", time=0.0, place=0.1)
        know = Clause(who, KNOW, "present", "", Complements(objects=head.french("plain")), [])
        return [*know.french(), "qui", *clause.predicate(), *period(path)]
    head = noun_phrase(path, ("object", "text", "clothing", "food", "vehicle"), KNOWN_THING, adjectives=0.0, of=0.0)
    path.say("that")
    who = from_pronoun(path.word(words.PERSON_SUBJECTS))
    tense = path.choose({"present": 1.0, "past": 2.0})
    third = who.english_slot == THIRD
    verb = path.word(VERB_FORMS["past" if tense == "past" else "third" if third else "base"], RELATED[tense == "past", third])
    path.require(bool(verb.pattern & {"object", "object?", "generic"}) and not verb.preposition and "place" not in verb.pattern)
    path.require((verb.past != verb.base or third) and (tense != "past" or may_agree(verb, head.agreement)))
    clause = Clause(who, verb, tense, "", Complements(preceding=head.agreement), [])
    path.say("is" if head.english_slot == THIRD else "are")
    finite = "sont" if head.agreement.plural else "est"
    return [*head.french("plain"), "que", *clause.french(), finite, *predicate_adjective(path, head), *period(path)]


KNOWN = Table([(w, words.DETERMINERS[w]) for w in ("a", "the", "that")], [5, 3, 1])
KNOWN_THING = Table([(w, words.DETERMINERS[w]) for w in ("the", "these")], [5, 0.5])
KNOW = next(verb for verb in VERBS if verb.base == "know")
_RELATED = [v for v in VERBS if v.base in ("buy", "see", "take", "want", "like", "find", "sell", "lose", "have", "use", "choose")]
RELATED = {
    (past, third): Table([(v.past if past else v.third if third else v.base, v) for v in _RELATED])
    for past in (True, False)
    for third in (True, False)
}

FRAMES = (
    Frame("present", 9.0, present),
    Frame("negation", 4.0, negative),
    Frame("past", 7.0, past),
    Frame("negative past", 2.5, negative_past),
    Frame("was doing", 1.5, imperfect),
    Frame("future", 3.5, future),  # before the next one: `i am going to work` is a plan
    Frame("progressive", 4.0, progressive),
    Frame("modal verb", 5.0, modal),
    Frame("possession", 5.0, possession),
    Frame("liking", 5.0, liking),
    Frame("wish", 2.0, wish),
    Frame("order", 2.5, order),
    Frame("two clauses", 2.0, joined),
    Frame("relative clause", 1.5, relative),
)
