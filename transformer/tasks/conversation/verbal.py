"""Verbs and the words after them: functions that sample or parse the English words and return the French words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from transformer.tasks.conversation import function_words as words
from transformer.tasks.conversation import place_and_time as adverbials
from transformer.tasks.conversation.inflection import Five
from transformer.tasks.conversation.lexicon import (
    ALLER,
    ANIMATE,
    AVOIR,
    ETRE,
    PEOPLE,
    VERBS,
    Agreement,
    Verb,
    conjugation,
)
from transformer.tasks.conversation.nominal import (
    NAME_TABLE,
    Nominal,
    Polarity,
    from_pronoun,
    noun_phrase,
    object_phrase,
    person_name,
)
from transformer.tasks.conversation.path import Path, Table, words_table

Tense = Literal["present", "progressive", "past", "imperfect", "future", "will", "modal"]
Negation = Literal["", "not", "never"]
Form = Literal["base", "third", "past", "ing"]

BE: dict[str, Five] = {"present": ("am", "are", "is", "are", "are"), "past": ("was", "were", "was", "were", "were")}
THIRD = 2
# The order of French object pronouns: me, te, se, nous come before le, la, les, and these come before lui, leur.
CLITIC_ORDER = ("me", "te", "se", "nous", "le_", "la_", "les_", "lui", "leur")
PAS: dict[Negation, list[str]] = {"": [], "not": ["pas"], "never": ["jamais"]}

FREQUENCIES: Table[str] = Table(
    [("always", "toujours"), ("often", "souvent"), ("sometimes", "parfois"), ("also", "aussi")], [2, 2, 1, 0.7]
)
MANNERS: Table[str] = Table(
    [("well", "bien"), ("very well", "très bien"), ("a lot", "beaucoup"), ("a little", "un peu")], [3, 1, 2, 0.7]
)
ENDS: Table[str] = Table(
    [("fast", "vite"), ("slowly", "lentement"), ("together", "ensemble"), ("too", "aussi"), ("again", "encore")]
)
EARLY: Table[str] = Table([("early", "tôt"), ("late", "tard")])
EARLY_OR_LATE = ("get up", "wake up", "arrive", "leave", "work", "eat")
TRANSPORT: Table[str] = Table(
    [
        ("by bus", "en bus"),
        ("by car", "en voiture"),
        ("by train", "en train"),
        ("by plane", "en avion"),
        ("by bike", "à vélo"),
        ("on foot", "à pied"),
    ]
)

_OFTEN = ("go", "eat", "drink", "have", "see", "like", "love", "want", "live", "work", "play", "read", "speak", "buy", "sleep")


def _drawn_with(verb: Verb, kind: str) -> bool:
    return kind in PEOPLE or kind in verb.subjects


def _verb_table(verbs: Sequence[Verb], form: Form) -> Table[Verb] | None:
    forms = [(getattr(verb, form), verb) for verb in verbs if getattr(verb, form)]
    return Table(forms, [2.0 if verb.base in _OFTEN else 1.0 for _, verb in forms]) if forms else None


FORM_NAMES: tuple[Form, ...] = ("base", "third", "past", "ing")
VERB_FORMS: dict[Form, Table[Verb]] = {form: table for form in FORM_NAMES if (table := _verb_table(VERBS, form))}
WAS_DOING = Table([(verb.ing, verb) for verb in VERBS if verb.was_doing])
SUBJECT_KINDS = (*sorted(ANIMATE), "vehicle")
DRAWN_FORMS = {
    (form, kind): _verb_table([verb for verb in VERBS if _drawn_with(verb, kind)], form)
    for form in FORM_NAMES
    for kind in SUBJECT_KINDS
}


@dataclass(frozen=True)
class Modal:
    """A verb before an infinitive, with its present and past in both languages.

    Attributes:
        english: base, third person and past; the past is empty if it is not used.
        helps: whether negations and questions with this verb have no `do`, such as `can she swim`.
        present, past: the French forms for je, tu, il, nous, ils.
        link: French words between this verb and the infinitive.
    """

    english: tuple[str, str, str]
    helps: bool
    present: Five
    past: Five
    link: tuple[str, ...] = ()


def _modal(english: str, past: str, infinitive: str, link: str = "") -> Modal:
    """A modal verb, from its English base (`can`, `want to`), its English past (empty if it is not used) and its French
    infinitive; `link` is as in `Modal`. Only a base with `to` has another form in the third person."""
    french = conjugation(infinitive)
    head, *rest = english.split()
    third = " ".join(["has" if head == "have" else "tries" if head == "try" else head + "s", *rest]) if rest else english
    return Modal((english, third, past), not rest, french.present, french.imperfect, tuple(link.split()))


_DEVRAIS = ("devrais", "devrais", "devrait", "devrions", "devraient")
_VOUDRAIS = ("voudrais", "voudrais", "voudrait", "voudrions", "voudraient")
WOULD_LIKE = Modal(("would", "would", ""), True, _VOUDRAIS, _VOUDRAIS)
MODALS = (
    _modal("can", "could", "pouvoir"),
    _modal("must", "", "devoir"),
    Modal(("should", "should", ""), True, _DEVRAIS, _DEVRAIS),
    WOULD_LIKE,
    _modal("want to", "wanted to", "vouloir"),
    _modal("have to", "had to", "devoir"),
    _modal("need to", "needed to", "avoir", "besoin de"),
    _modal("like to", "", "aimer"),
    _modal("love to", "", "aimer"),
    _modal("hate to", "", "détester"),
    _modal("prefer to", "", "préférer"),
    _modal("try to", "", "essayer", "de"),
    _modal("learn to", "", "apprendre", "à"),
    _modal("start to", "", "commencer", "à"),
)
_MODAL_WEIGHTS = {"can": 4.0, "must": 1.5, "want to": 4.0, "would": 2.0, "have to": 2.0, "like to": 3.0, "love to": 1.5}


def _modal_table(index: int, helps: bool | None = None) -> Table[Modal]:
    chosen = [m for m in MODALS if m.english[index] and helps in (None, m.helps)]
    return Table([(m.english[index], m) for m in chosen], [_MODAL_WEIGHTS.get(m.english[0], 0.7) for m in chosen])


HELPING, HELPING_PAST = _modal_table(0, True), _modal_table(2, True)
# In a question, `could` and `may` are polite.
_POURRAIS = ("pourrais", "pourrais", "pourrait", "pourrions", "pourraient")
_POLITE = (("could", Modal(("could", "could", ""), True, _POURRAIS, _POURRAIS)), ("may", MODALS[0]))
ASKING = Table([*((" ".join(e), m) for e, m in HELPING.entries), *_POLITE], [*HELPING.weights, 1.5, 0.7])
FULL_MODALS = {"base": _modal_table(0, False), "third": _modal_table(1, False), "past": _modal_table(2, False)}
_LIKINGS = {"like": "aimer", "love": "aimer", "hate": "détester", "prefer": "préférer"}
LIKINGS = Table([(base, conjugation(french)) for base, french in _LIKINGS.items()], [3, 1.5, 1, 0.7])
LIKINGS_THIRD = Table([(base + "s", conjugation(french)) for base, french in _LIKINGS.items()], [3, 1.5, 1, 0.7])


@dataclass
class Complements:
    """The French words for what follows an English verb.

    Attributes:
        clitics: object pronouns; in French they are before the verb.
        objects, recipients: a direct object, and an indirect object (`to` someone).
        after: a place, a destination or an origin.
        preceding: agreement of a direct object before the verb, because a participle agrees with it; None without such an
            object.
        manner: an adverb after the conjugated verb.
        last: words at the end of the clause.
    """

    clitics: list[str] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    preceding: Agreement | None = None
    manner: list[str] = field(default_factory=list)
    last: list[str] = field(default_factory=list)

    @property
    def words(self) -> list[str]:
        return [*self.objects, *self.recipients, *self.after, *self.last]


@dataclass(frozen=True)
class Clause:
    """The parts of a clause, from which `french` makes its French words.

    Attributes:
        frequency: French words of an adverb such as `toujours`.
        modal_past: whether the modal verb is in the past.
    """

    subject: Nominal
    verb: Verb
    tense: Tense
    negation: Negation
    complements: Complements
    frequency: list[str]
    modal: Modal | None = None
    modal_past: bool = False

    def french(self, with_subject: bool = True) -> list[str]:
        return [*(self.subject.subject if with_subject else []), *self.predicate()]

    def predicate(self) -> list[str]:
        verb, agreement, complements = self.verb, self.subject.agreement, self.complements
        reflexive = [words.REFLEXIVE[agreement.slot]] if verb.reflexive else []
        clitics = sorted([*reflexive, *complements.clitics], key=CLITIC_ORDER.index)
        past = self.tense == "past" and not verb.past_imperfect
        if self.modal is not None:
            forms = self.modal.past if self.modal_past else self.modal.present
            finite = [forms[agreement.slot]]
            rest = [*self.modal.link, *clitics, verb.french.infinitive]
        elif self.tense in ("future", "will"):
            finite, rest = [ALLER.present[agreement.slot]], [*clitics, verb.french.infinitive]
        elif past:
            agrees = agreement if verb.with_etre else complements.preceding or Agreement("m", False, THIRD)
            auxiliary = ETRE if verb.with_etre else AVOIR
            finite, rest = [*clitics, auxiliary.present[agreement.slot]], [agrees.of(verb.french.participle)]
        else:
            forms = verb.french.imperfect if self.tense in ("imperfect", "past") else verb.french.present
            finite, rest = [*clitics, forms[agreement.slot]], []
        if self.negation:
            finite = ["ne", *finite, *PAS[self.negation]]
        tail = _negated_tail(verb.tail) if self.negation else list(verb.tail)
        return [*finite, *self.frequency, *complements.manner, *rest, *tail, *complements.words]


def _negated_tail(tail: Sequence[str]) -> list[str]:
    """The French words after a negated verb: `du vélo` → `de vélo`."""
    return ["de", *tail[1:]] if tail and tail[0] in ("du", "une") else list(tail)


def be(path: Path, subject: Nominal, tense: Literal["present", "past"] = "present") -> None:
    path.say(BE[tense][subject.english_slot])


def verb_form(path: Path, form: Form, kind: str) -> Verb:
    return path.word(VERB_FORMS[form], DRAWN_FORMS.get((form, kind)))


def simple(path: Path, subject: Nominal, tense: Tense, negation: Negation) -> tuple[Verb, list[str]]:
    """The verb of a statement, and the words of the French translation of an adverb before it, such as `always`. A
    `SamplingPath` samples the English words after the subject; a `ParsingPath` reads them from its text."""
    third = subject.english_slot == THIRD
    frequency: list[str] = []
    if tense in ("progressive", "imperfect", "future"):
        be(path, subject, "past" if tense == "imperfect" else "present")
        path.say(*["not"] * bool(negation))
        if tense == "future":
            path.say("going", "to")
        if tense == "imperfect":
            return path.word(WAS_DOING), frequency
        return verb_form(path, "base" if tense == "future" else "ing", subject.kind), frequency
    if tense == "will":
        path.say("will", *["not"] * bool(negation))
        return verb_form(path, "base", subject.kind), frequency
    if negation == "not":
        path.say("did" if tense == "past" else "does" if third else "do", "not")
        return verb_form(path, "base", subject.kind), frequency
    if negation == "never":
        path.say("never")
    else:
        frequency = (path.optional(FREQUENCIES, 0.07) or "").split()
    form: Form = "past" if tense == "past" else "third" if third else "base"
    return verb_form(path, form, subject.kind), frequency


def statement(
    path: Path, subject: Nominal, tense: Tense, negation: Negation = "", *, time: float = 0.22, place: float = 0.15
) -> Clause:
    """A statement with this subject, tense and negation. A `SamplingPath` samples the English words after the subject; a
    `ParsingPath` reads them from its text. `time` and `place` are the shares of clauses with a time and with a place."""
    verb, frequency = simple(path, subject, tense, negation)
    polarity: Polarity = "negative" if negation else "positive"
    complements = follow(path, verb, subject, polarity, tense, time=time, place=place)
    unchanged = verb.past == verb.base and not (negation == "not" or subject.english_slot == THIRD)
    if tense == "past" and unchanged:  # `i read a book` is parsed as present, `i read a book yesterday` as past
        path.require(" ".join(complements.last).endswith(tuple(adverbials.ONLY_PAST_FRENCH)))
    return Clause(subject, verb, tense, negation, complements, frequency)


def with_modal(path: Path, subject: Nominal, negation: Negation, *, time: float = 0.15, place: float = 0.15) -> Clause:
    """A clause with a modal verb, such as `she wants to eat`. A `SamplingPath` samples the English words after the subject; a
    `ParsingPath` reads them from its text. `time` and `place` are the shares of clauses with a time and with a place."""
    third = subject.english_slot == THIRD
    not_ = ["not"] * bool(negation)
    options = {"helping": 1.0, "full": 1.3, "past": 0.25}
    starts = {"helping": HELPING.by_first, "full": {"do", "does", *FULL_MODALS["third" if third else "base"].by_first}}
    chosen = path.choose(options, starts)
    past = chosen == "past"
    if chosen == "helping":
        modal = path.word(HELPING)
        if modal is WOULD_LIKE:
            path.say(*not_, "like", "to")
        else:
            path.say(*not_)
    elif chosen == "full":
        if negation:
            path.say("does" if third else "do", "not")
        modal = path.word(FULL_MODALS["third" if third and not negation else "base"])
    elif path.choose({"helping": 1.0, "full": 1.0}, {"helping": HELPING_PAST.by_first}) == "helping":
        modal = path.word(HELPING_PAST)
        path.say(*not_)
    else:
        if negation:
            path.say("did", "not")
        modal = path.word(FULL_MODALS["base" if negation else "past"])
        path.require(bool(modal.english[2]))
    return infinitive(path, subject, negation, modal, past, time=time, place=place)


def infinitive(
    path: Path,
    subject: Nominal,
    negation: Negation,
    modal: Modal,
    past: bool = False,
    *,
    time: float = 0.15,
    place: float = 0.15,
) -> Clause:
    """A clause with a modal verb and an infinitive. A `SamplingPath` samples the English words after the modal verb; a
    `ParsingPath` reads them from its text. `past` is whether the modal verb is in the past; `time` and `place` are the shares
    of clauses with a time and with a place."""
    verb = verb_form(path, "base", subject.kind)
    polarity: Polarity = "negative" if negation else "positive"
    complements = follow(path, verb, subject, polarity, "modal", time=time, place=place, modal_past=past)
    return Clause(subject, verb, "modal", negation, complements, [], modal, past)


TO_WORK = ["à", "le", "travail"]
TIME_OF_TENSE: Mapping[str, str] = {"past": "past", "imperfect": "past", "future": "future", "will": "future"}
_PLACE_STARTS = {*adverbials.PREPOSITION_TABLE.by_first, *adverbials.FIXED_PLACES.by_first, "between"}
_PRONOUN_STARTS = {"pronoun": words.OBJECTS.by_first}


def follow(
    path: Path,
    verb: Verb,
    subject: Nominal,
    polarity: Polarity,
    tense: Tense,
    *,
    time: float,
    place: float,
    gap: str = "",
    modal_past: bool = False,
    pronouns: bool = True,
) -> Complements:
    """The French of the words that follow a verb. A `SamplingPath` samples the English words; a `ParsingPath` reads them from
    its text. `time` and `place` are the shares of clauses with a time and with a place; `modal_past` is whether a modal verb is
    in the past; `pronouns` allows object pronouns. In a question about the object, the place or the time, this part is not
    after the verb, and `gap` is "object", "place" or "time"."""
    after = Complements()
    pattern = verb.pattern
    if gap == "object":
        path.require(bool(pattern & {"object", "object?"}) and not verb.preposition and "place" not in pattern)
    elif pattern & {"object", "object?", "sport", "instrument"}:
        _object(path, verb, subject, polarity, after, pronouns, tense)
    if "indirect" in pattern:
        _recipient(path, subject, after, pronouns)
    if "to" in pattern and not after.clitics and path.says("to", 0.35):
        _recipient(path, subject, after, pronouns)
    if pattern & {"destination", "destination?"} and gap != "place":
        if "destination?" in pattern:
            if path.choose({"none": 1.0, "to": 1.0}, {"to": adverbials.FIXED_DESTINATIONS.by_first}) == "to":
                after.after += adverbials.destination(path)
        else:
            after.after += adverbials.destination(path)
        # `i am going to work` is parsed as a plan (future), not as a destination.
        path.require(tense != "progressive" or after.after != TO_WORK)
    if "from" in pattern:
        path.require(gap != "place")
        after.after += adverbials.origin(path)
    if "place" in pattern and gap != "place":
        after.after += adverbials.place(path, only_where=bool(pattern & {"object"}))
    elif not pattern & {"generic", "de", "destination", "from", "place"} and gap != "place":
        _place(path, place * (0.6 if verb.takes_object else 1.5), after, subject, verb)
    goes = bool(pattern & {"destination", "place"}) and not verb.takes_object and gap != "place"
    if goes and path.choose({"none": 0.93, "with": 0.07}, {"with": ("with",)}) == "with":
        after.after += adverbials.company(path, subject)
    if tense in ("present", "progressive", "past"):
        _manner(path, verb, after)
    if gap != "time":
        times = "past" if modal_past else TIME_OF_TENSE.get(tense, "present")
        if tense == "modal" and not modal_past:
            times = path.choose({"present": 1.0, "future": 1.0})
        share = 0.0 if "generic" in pattern else time
        if share or not time:
            when = (path.optional(adverbials.TIMES[times], share) or "").split()
            path.require(verb.base != "wait" or when[:2] != ["à", "le"])  # `wait for lunch`
            after.last += when
    return after


AGREEING = frozenset(["see", "buy", "find", "lose", "take", "eat", "help", "call", "love", "like", "meet"])


def may_agree(verb: Verb, agreement: Agreement) -> bool:
    """Whether an object of this gender and number may come before a verb in the past (`je l'ai vue`, `les livres que j'ai
    achetés`), where a participle agrees with it.

    The grammar allows this only for common verbs, so that models have few forms to learn. Always allowed are a masculine
    singular object, with which the participle does not change, and verbs whose past is the imparfait, without a participle.
    """
    return verb.base in AGREEING or verb.past_imperfect or agreement[:2] == ("m", False)


def _place(path: Path, share: float, after: Complements, subject: Nominal, verb: Verb) -> None:
    if share and path.choose({"none": 1 - share, "place": share}, {"place": _PLACE_STARTS}) == "place":
        where = adverbials.place(path, fixed=0.35, subject=subject)
        path.require(not (verb.base == "wait" and where[0] == "pour"))  # `wait for` is another verb of the lexicon
        path.require("destination?" not in verb.pattern or where not in (["là"], ["dehors"]))  # `come there`: a destination
        after.after += where


def _manner(path: Path, verb: Verb, after: Complements) -> None:
    if ("none" in verb.pattern and not verb.tail and not verb.reflexive and not verb.with_etre) or verb.base in (
        "speak",
        "cook",
    ):
        after.manner += (path.optional(MANNERS, 0.08) or "").split()
        if not after.manner:
            after.last += (path.optional(ENDS, 0.06) or "").split()
    if verb.base in EARLY_OR_LATE and not after.last:
        after.last += (path.optional(EARLY, 0.1) or "").split()
    if verb.base in ("go", "come", "travel", "arrive"):
        after.last += (path.optional(TRANSPORT, 0.12) or "").split()


THIS: Table[str] = Table([("this", "ça"), ("that", "ça")])
SOMETHING: Table[str] = Table(
    [("something", "quelque chose"), ("someone", "quelqu' un"), ("somebody", "quelqu' un")], [3, 1, 0.5]
)


def _object(
    path: Path, verb: Verb, subject: Nominal, polarity: Polarity, after: Complements, pronouns: bool, tense: Tense
) -> None:
    """Add the French of an object to `after`: a direct object, or, if the French verb has a preposition, an object after this
    preposition. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    pattern, kinds = verb.pattern, verb.objects
    options = {"phrase": 1.0}
    clitic = not verb.preposition and "no-clitic" not in pattern and not pattern & {"sport", "instrument"} and not verb.strict
    if clitic and pronouns:
        options["pronoun"] = 0.2
    if "to" in pattern and pronouns:
        options["recipient first"] = 0.3
    if "object?" in pattern:
        options["none"] = 0.3
    if not verb.preposition and not verb.strict and "place" not in pattern:
        options |= {"this": 0.03} | ({"some": 0.04} if polarity != "negative" else {})
    chosen = path.choose(options, _PRONOUN_STARTS | {"some": SOMETHING.by_first, "this": THIS.by_first})
    if chosen == "none":
        return
    if chosen in ("some", "this"):
        after.objects += path.word(SOMETHING if chosen == "some" else THIS).split()
        return
    if chosen == "recipient first":  # `give me the book`
        _recipient(path, subject, after)
        chosen = "phrase"
    if chosen == "pronoun":
        people = bool(set(kinds) & ANIMATE)
        pronoun = path.word(words.OBJECTS, words.OBJECTS if people else words.THING_OBJECTS)
        _not_reflexive(path, subject, pronoun.object)
        path.require(tense != "past" or may_agree(verb, pronoun.agreement))
        after.clitics.append(pronoun.direct)
        after.preceding = pronoun.agreement
        return
    bare = 0.35 if set(kinds) & {"food", "drink", "language", "subject", "art", "lesson", "sport", "meal"} else 0.1
    if "generic" in pattern:
        bare = 0.6
    if verb.strict:  # `speak french`, `play football`, `play the piano`, `visit the museum`
        if "language" in verb.objects:
            after.objects += _bare_language(path)
            return
        chosen_phrase = _strict_object(path, verb)
    else:
        bare = 0.0 if after.clitics else bare  # `show her lamps` means lamps that are hers
        chosen_phrase = object_phrase(path, kinds, polarity, bare=bare, names=bool(set(kinds) & PEOPLE))
    after.objects += object_words(verb, chosen_phrase, polarity)


def _strict_object(path: Path, verb: Verb) -> Nominal:
    """An object of one of the kinds in `verb.objects`: `play football`, `visit the museum`, `visit anna`. A `SamplingPath`
    samples the English words; a `ParsingPath` reads them from its text."""
    if verb.pattern & {"sport", "instrument"}:
        phrase = noun_phrase(
            path, verb.objects, words.OWNERS, bare=0.9 if "sport" in verb.pattern else 0.0, adjectives=0.02, of=0.0
        )
    elif set(verb.objects) & PEOPLE and path.choose({"phrase": 1.0, "name": 0.4}, {"name": NAME_TABLE.by_first}) == "name":
        return person_name(path)
    else:
        table = words.BY_POLARITY["positive"] if verb.base == "speak" else words.DEFINITE
        phrase = noun_phrase(path, verb.objects, table, adjectives=0.1, of=0.0)
    path.require(phrase.kind in verb.objects)
    return phrase


def object_words(verb: Verb, phrase: Nominal, polarity: Polarity) -> list[str]:
    if verb.preposition:
        of = verb.preposition == "de"
        generic = verb.strict
        return [verb.preposition, *phrase.french("after de" if of and not generic else "generic")]
    generic = phrase.french("generic")
    # `she does not have blue eyes`: `elle n'a pas les yeux bleus`; but `she does not have any long hair` has `de`.
    has_features = verb.base == "have" and phrase.kind in ("body", "hair") and phrase.modified_after
    if "generic" in verb.pattern or (has_features and (polarity != "negative" or generic[0] in ("le", "la", "les"))):
        return generic
    return phrase.french("negated" if polarity == "negative" else "plain")


def _bare_language(path: Path) -> list[str]:
    phrase = noun_phrase(path, ("language",), bare=1.0, adjectives=0.0, of=0.0)
    path.require(phrase.kind == "language")
    french = phrase.french("plain")[1:]  # without the article
    if path.choose({"one": 0.94, "two": 0.06}, {"two": ("and",)}) == "one":
        return french
    path.say("and")
    return [*french, "et", *_bare_language(path)]


def _recipient(path: Path, subject: Nominal, after: Complements, pronouns: bool = True) -> None:
    """Add the French of the person in `to me`, `to anna` or `to my sister` to `after`. A `SamplingPath` samples the English
    words after `to`; a `ParsingPath` reads them from its text."""
    options = {"phrase": 1.0, "name": 0.4} | ({"pronoun": 1.0} if pronouns else {})
    chosen = path.choose(options, _PRONOUN_STARTS | {"name": NAME_TABLE.by_first})
    if chosen == "pronoun":
        pronoun = path.word(words.PERSON_OBJECTS)
        _not_reflexive(path, subject, pronoun.object)
        path.require(
            not (after.clitics and pronoun.indirect in ("me", "te", "nous") and after.clitics[0] in ("me", "te", "nous"))
        )
        after.clitics.append(pronoun.indirect)
    elif chosen == "name":
        after.recipients += ["à", *person_name(path).french("plain")]
    else:
        after.recipients += [
            "à",
            *noun_phrase(path, ("family", "person", "job"), words.OWNERS, adjectives=0.03, of=0.0).french("plain"),
        ]


def _not_reflexive(path: Path, subject: Nominal, pronoun: str) -> None:
    if subject.pronoun is not None:
        path.require(pronoun not in words.SAME_PERSON.get(subject.pronoun.subject, ()))


def question(
    path: Path,
    *,
    gap: str = "",
    time: float = 0.12,
    place: float = 0.12,
    people: bool = False,
    asked_about: Agreement | None = None,
) -> Clause:
    """The clause that answers a question such as `do you like tea`, `can she swim` or `did they leave`. A `SamplingPath`
    samples the English words; a `ParsingPath` reads them from its text. `gap`, `time` and `place` are as in `follow`. `people`
    allows only verbs whose object can be a person. `asked_about` is the agreement of an object before the verb (`how many books
    did you buy`), because a participle agrees with it; None without such an object."""
    options = {"do": 5.0, "did": 2.0, "be": 1.6, "helping": 1.8, "will": 0.3, "want to": 0.5}
    starts = {
        "do": ("do", "does"),
        "did": ("did",),
        "be": ("am", "is", "are", "was", "were"),
        "helping": ASKING.by_first,
        "will": ("will",),
        "want to": ("do", "does"),
    }
    chosen = path.choose(options, starts)
    modal = None
    tense: Tense = "present"
    if chosen in ("do", "want to"):
        do = path.word(words_table("do 1.6, does 1.0"))
        subject = asked(path, ("do", "does").index(do))
        if chosen == "want to":
            modal = path.word(FULL_MODALS["base"])
    elif chosen == "be":
        past = path.choose({"present": 3.0, "past": 0.6}, {"present": ("am", "is", "are"), "past": ("was", "were")}) == "past"
        tense = path.choose({"future": 1.0, "progressive": 2.0}) if not past else "imperfect"
        form = path.choose(dict.fromkeys(dict.fromkeys(BE["past" if past else "present"]), 1.0))
        path.say(form)
        subject = asked(path)
        path.require(BE["past" if past else "present"][subject.english_slot] == form)
        if tense == "future":
            path.say("going", "to")
    else:
        tenses: dict[str, Tense] = {"did": "past", "will": "will", "helping": "modal"}
        tense = tenses[chosen]
        if chosen == "helping":
            modal = path.word(ASKING)
        else:
            path.say(chosen)
        subject = asked(path)
        if modal is WOULD_LIKE:
            path.say("like", "to")
    form_name: Form = "ing" if tense in ("progressive", "imperfect") else "base"
    verb = verb_form(path, form_name, subject.kind)
    path.require((not people or bool(set(verb.objects) & PEOPLE)) and (tense != "imperfect" or verb.was_doing))
    tense_used: Tense = "modal" if modal is not None else tense
    complements = follow(path, verb, subject, "question", tense_used, time=time, place=place, gap=gap)
    path.require(asked_about is None or tense != "past" or may_agree(verb, asked_about))
    complements.preceding = complements.preceding or asked_about
    return Clause(subject, verb, tense_used, "", complements, [], modal)


def asked(path: Path, third: int | None = None) -> Nominal:
    """The subject of a question, most often `you`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from
    its text. `third` is 1 after `does`, 0 after `do`, and None after other verbs."""
    options = {"you": 2.0, "pronoun": 1.0, "phrase": 0.8, "name": 0.3}
    if third == 1:
        options.pop("you")
    if third == 0:
        options.pop("name")
    starts = {"you": ("you",), "pronoun": words.SUBJECTS.by_first, "name": NAME_TABLE.by_first}
    chosen = path.choose(options, starts)
    if chosen == "you":
        path.say("you")
        subject = from_pronoun(words.PRONOUNS[1])
    elif chosen == "pronoun":
        subject = from_pronoun(path.word(words.SUBJECTS, words.ASKED_SUBJECTS))
        path.require(subject.pronoun is not words.PRONOUNS[1])
    elif chosen == "name":
        subject = person_name(path)
    else:
        kinds = ("family", "family", "person", "job", "animal")
        subject = noun_phrase(path, kinds, words.DEFINITE, adjectives=0.06, of=0.0)
    path.require(third is None or (subject.english_slot == THIRD) == bool(third))
    return subject
