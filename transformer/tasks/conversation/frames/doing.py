"""Sentences with verbs other than `be`: present and past, with and without negation, plans, wishes and orders."""

from dataclasses import replace

from transformer.tasks.conversation import function_words as words
from transformer.tasks.conversation import place_and_time as adverbials
from transformer.tasks.conversation.frames.being import ONLY_IT, STATE_TABLE, it_is, said
from transformer.tasks.conversation.frames.frame import Frame, period, please, question_mark
from transformer.tasks.conversation.lexicon import AVOIR, ETRE, VERBS, Conjugation, Verb, conjugation
from transformer.tasks.conversation.nominal import (
    Nominal,
    from_pronoun,
    noun_phrase,
    object_phrase,
    predicate_adjective,
    subject,
)
from transformer.tasks.conversation.path import Path, Table
from transformer.tasks.conversation.verbal import (
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
    be,
    follow,
    may_agree,
    object_words,
    statement,
    verb_form,
    with_modal,
)

FIRST_SHARE = 0.06  # share of sentences that start with a time


def in_tense(path: Path, tense: Tense, negation: Negation = "", things: tuple[str, ...] = ("vehicle",)) -> list[str]:
    """The words of the French translation of a statement in this tense. A `SamplingPath` samples the English words; a
    `ParsingPath` reads them from its text. A statement may start with a time: `yesterday we went to the beach`. In the present
    and the past, the subject may also be a noun of one of the kinds in `things`."""
    first = path.optional(adverbials.TIMES[TIME_OF_TENSE.get(tense, "present")], FIRST_SHARE)
    who = subject(path, things=things if tense in ("present", "past") else ())
    clause = statement(path, who, tense, negation, time=0.0 if first else 0.22)
    return [*(first or "").split(), *clause.french(), *period(path)]


def present(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `i eat an apple` or `she always drinks coffee`. A
    `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    return in_tense(path, "present")


def progressive(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `he is sleeping` or `we are not working today`. A
    `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    return in_tense(path, "progressive", "not" if path.choose({"no": 0.88, "yes": 0.12}) == "yes" else "")


def negative(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `i do not like coffee` or `he never eats meat`. A
    `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    return in_tense(path, "present", path.choose({"not": 4.0, "never": 1.0}))


def past(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `we went to the beach yesterday`. A `SamplingPath` samples the
    English words; a `ParsingPath` reads them from its text."""
    return in_tense(path, "past")


def negative_past(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `she did not sleep`. A `SamplingPath` samples the English
    words; a `ParsingPath` reads them from its text."""
    return in_tense(path, "past", path.choose({"not": 6.0, "never": 1.0}))


def imperfect(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `i was sleeping`. A `SamplingPath` samples the English words; a
    `ParsingPath` reads them from its text."""
    return in_tense(path, "imperfect", "not" if path.choose({"no": 0.9, "yes": 0.1}) == "yes" else "")


def future(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `i am going to eat` or `we will not come tomorrow`. A
    `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    tense: Tense = path.choose({"future": 2.0, "will": 1.0})
    return in_tense(path, tense, "not" if path.choose({"no": 0.85, "yes": 0.15}) == "yes" else "")


def modal(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `i can swim`, `she wants to go home` or `you must not run`. A
    `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    negation: Negation = path.choose({"": 0.8, "not": 0.2})
    return [*with_modal(path, subject(path), negation).french(), *please(path, 0.03), *period(path)]


def possession(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `i have two brothers`, `she does not have a car` or `anna has
    blue eyes`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    who = subject(path, pronouns=2.0)
    third = who.english_slot == THIRD
    tense: Tense = path.choose({"present": 1.0, "past": 0.2})
    how = path.choose({"plain": 0.8, "not": 0.17, "no": 0.03})
    negated = how != "plain"
    if how == "not":
        path.say("did" if tense == "past" else "does" if third else "do", "not", "have")
    else:
        path.say("had" if tense == "past" else "has" if third else "have")
        if tense == "present":
            path.says("got", 0.06)
    kinds = (
        "animal",
        "animal",
        "object",
        "family",
        "family",
        "vehicle",
        "clothing",
        "body",
        "body",
        "hair",
        "idea",
        "person",
        "thing",
        "place",
    )
    looks = path.choose({"no": 0.93, "yes": 0.07}) == "yes"
    if how == "no":
        what = noun_phrase(path, kinds, words.NO, adjectives=0.03, of=0.0).french("negated")
    elif looks and how == "plain":
        what = object_words(HAVE, noun_phrase(path, LOOKS, bare=1.0, adjectives=1.0, of=0.0), "positive")
    else:
        polarity = "negative" if negated else "positive"
        what = object_words(HAVE, object_phrase(path, kinds, polarity, bare=0.12), polarity)
        if not negated and path.choose({"one": 0.95, "two": 0.05}, {"two": ("and",)}) == "two":
            path.say("and")
            what += ["et", *object_words(HAVE, object_phrase(path, kinds, polarity, bare=0.05), polarity)]
    time = (path.optional(adverbials.TIMES[TIME_OF_TENSE.get(tense, "present")], 0.05) or "").split()
    complements = Complements(objects=what, last=time)
    return [*Clause(who, HAVE, tense, "not" if negated else "", complements, []).french(), *period(path)]


HAVE = next(verb for verb in VERBS if verb.base == "have")
LOOKS = ("body", "hair", "hair")  # `she has long hair`


def liking(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `i like cats`, `he does not like coffee` or `we love swimming`.
    A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
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
LIKED = (
    "food",
    "food",
    "drink",
    "animal",
    "sport",
    "language",
    "subject",
    "art",
    "plant",
    "vehicle",
    "text",
    "clothing",
    "place",
    "family",
    "weekday",
    "group",
)


def _before_infinitive(verb: Conjugation) -> Modal:
    return Modal(("", "", ""), False, verb.present, verb.imperfect)


def wish(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `i would like a coffee please`. A `SamplingPath` samples the
    English words; a `ParsingPath` reads them from its text."""
    asks = path.says("would", 0.2)
    who = from_pronoun(path.word(words.PERSON_SUBJECTS, WISHERS)) if asks else subject(path, pronouns=5.0)
    path.say(*([] if asks else ["would"]), "like")
    what = object_phrase(path, WISHED, "question" if asks else "positive", bare=0.15)
    clause = Clause(who, WOULD_LIKE_VERB, "present", "", Complements(objects=what.french("plain")), []).french()
    if asks:
        return ["est-ce", "que", *clause, *question_mark(path)]
    return [*clause, *please(path, 0.3), *period(path)]


WISHERS = Table([(p.subject, p) for p in words.PRONOUNS if p.subject != "it"], [0.2, 6, 1, 1, 0.2, 1])
WISHED = ("food", "food", "drink", "drink", "object", "clothing", "animal", "vehicle")


_VOUDRAIS = ("voudrais", "voudrais", "voudrait", "voudrions", "voudraient")
WOULD_LIKE_VERB = replace(
    next(verb for verb in VERBS if verb.base == "want"), french=replace(conjugation("vouloir"), present=_VOUDRAIS)
)

_GIVE_ME = {"give": "donne-moi", "show": "montre-moi", "send": "envoie-moi", "bring": "apporte-moi"}
GIVE_ME = Table([(f"{verb} me", french) for verb, french in _GIVE_ME.items()], [4, 2, 1, 1])


def _can_be_ordered(verb: Verb) -> bool:
    return (
        bool(verb.ing) and not verb.reflexive and not verb.pattern & {"place", "past-imperfect"} and verb.base != "help"
    ) or verb.base in ("put", "forget")


ORDERED = Table([(v.base, v) for v in VERBS if _can_be_ordered(v)])


def order(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `close the door please`, `do not run`, `give me the book` or
    `let us eat`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
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
    """The words of the French translation of a phrase such as `i like tea but i do not like coffee`, `i am happy because i have
    a dog` or `because i was tired`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    if path.choose({"first": 0.92, "answer": 0.08}, {"answer": ("because",), "first": words.SUBJECTS.by_first}) == "answer":
        path.say("because")
        someone = from_pronoun(path.word(words.PERSON_SUBJECTS))
        clause = being(path, someone) if path.choose({"be": 1.0, "do": 1.0}) == "be" else _short(path, someone)[0]
        return ["parce", "que", *clause, *period(path)]
    first = from_pronoun(path.word(words.PERSON_SUBJECTS))
    if path.choose({"two": 4.0, "think": 1.0}) == "think":
        return thought(path, first)
    first_words, has_object = _short(path, first)
    conjunction = path.word(CONJUNCTIONS)
    second = from_pronoun(
        path.word(words.PERSON_SUBJECTS, SAME[first.pronoun] if first.pronoun and path.meaning((1, 1, 0)) else None)
    )
    is_being = path.choose({"do": 1.0, "be": 1.0}) == "be"
    # In `she saw the girl because she was tired`, the second `she` may be the girl, so only the frame `reference` parses it.
    path.require(not (is_being and has_object) or second.agreement.slot not in (2, 4))
    second_words = being(path, second) if is_being else _short(path, second)[0]
    return [*first_words, *conjunction, *second_words, *period(path)]


def thought(path: Path, who: Nominal) -> list[str]:
    """The words of the French translation of a sentence such as `i think you are right`, `she knows that he is tired` or `i
    think it is easy`. A `SamplingPath` samples the English words after the subject `who`; a `ParsingPath` reads them from its
    text."""
    thinks = path.word(THINKING[who.english_slot == THIRD])
    path.says("that", 0.5)
    that = [*who.subject, thinks.present[who.agreement.slot], "que"]
    if path.choose({"someone": 1.0, "it": 0.3}, {"it": ("it",)}) == "it":
        return [*that, *it_is(path, ONLY_IT)]
    second = from_pronoun(path.word(words.PERSON_SUBJECTS))
    clause = being(path, second) if path.choose({"be": 1.0, "do": 1.0}) == "be" else _short(path, second)[0]
    return [*that, *clause, *period(path)]


_THINKING = (("think", "penser"), ("know", "savoir"), ("hope", "espérer"))
THINKING = {
    third: Table([(english + "s" * third, conjugation(french)) for english, french in _THINKING]) for third in (True, False)
}
SAME = {p: Table([(p.subject, p)]) for p in words.PRONOUNS}


def _short(path: Path, who: Nominal) -> tuple[list[str], bool]:
    """The words of the French translation of a short clause, and whether an object or a place is in it. A `SamplingPath`
    samples the English words after the subject `who`; a `ParsingPath` reads them from its text."""
    kind = path.choose({"present": 3.0, "be": 1.5, "not": 1.5, "past": 1.5, "modal": 1.0})
    if kind == "be":
        return being(path, who), False
    negation: Negation = "not" if kind == "not" else ""
    if kind == "modal":
        clause = with_modal(path, who, path.choose({"": 0.7, "not": 0.3}), time=0.0, place=0.05)
    else:
        clause = statement(path, who, "past" if kind == "past" else "present", negation, time=0.0, place=0.05)
    return clause.french(), bool(clause.complements.objects or clause.complements.clitics or clause.complements.after)


AGES = Table([(english, french) for english, french in words.NUMBERS.items() if english != "one"])


def being(path: Path, who: Nominal) -> list[str]:
    """The words of the French translation of a clause such as `i am tired` or `she was not hungry`. A `SamplingPath` samples
    the English words after the subject `who`; a `ParsingPath` reads them from its text."""
    past = path.choose({"present": 1.5, "past": 1.0}) == "past"
    be(path, who, "past" if past else "present")
    negated = path.says("not", 0.1)
    how = path.choose({"adjective": 2.0, "state": 1.0, "age": 0.3})
    if how == "state":
        verb, rest = AVOIR, [path.word(STATE_TABLE)]
    elif how == "age":
        verb, rest = AVOIR, [*path.word(AGES).split(), "ans"]
        if path.says("years", 0.8):
            path.say("old")
    else:
        verb, rest = ETRE, predicate_adjective(path, who)
    finite = (verb.imperfect if past else verb.present)[who.agreement.slot]
    return said(who.subject, finite, negated, rest)


def relative(path: Path) -> list[str]:
    """The words of the French translation of a sentence such as `i know a man who lives in paris`, `the man who lives here is
    old` or `the book that she bought is new`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its
    text."""
    chosen = path.choose({"who": 1.0, "that": 1.3, "who is": 0.8})
    if chosen == "who is":
        head = noun_phrase(path, ("person", "job", "friend"), KNOWN, adjectives=0.05, of=0.0)
        path.say("who")
        clause = statement(path, head, path.choose({"present": 2.0, "past": 1.0}), "", time=0.0, place=0.1)
        be(path, head)
        finite = ETRE.present[head.agreement.slot]
        return [*head.subject, "qui", *clause.predicate(), finite, *predicate_adjective(path, head), *period(path)]
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


KNOWN = words.determiners("a 5, the 3, that 1")
KNOWN_THING = words.determiners("the 5, these 0.5")
KNOW = next(verb for verb in VERBS if verb.base == "know")
_RELATED = [
    v for v in VERBS if v.base in ("buy", "see", "take", "want", "like", "find", "sell", "lose", "have", "use", "choose")
]
RELATED = {
    (past, third): Table([(v.past if past else v.third if third else v.base, v) for v in _RELATED])
    for past in (True, False)
    for third in (True, False)
}

FRAMES = (
    Frame("present", 9.0, present),
    Frame("negation", 4.0, negative),
    Frame("past", 8.0, past),
    Frame("negative past", 2.5, negative_past),
    Frame("was doing", 4.0, imperfect),
    Frame("future", 3.5, future),  # before `progressive`, so that `i am going to work` is parsed as a plan
    Frame("progressive", 4.0, progressive),
    Frame("modal verb", 5.0, modal),
    Frame("possession", 5.0, possession),
    Frame("liking", 5.0, liking),
    Frame("wish", 2.0, wish),
    Frame("order", 4.0, order),
    Frame("two clauses", 5.0, joined),
    Frame("relative clause", 3.5, relative),
)
