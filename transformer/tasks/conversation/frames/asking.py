"""Questions.

French has several ways to ask a question; this grammar uses one for each case. After a question word, `être`, `aller` and
`avoir` come before the subject (`où est le chat ?`, `quel âge as-tu ?`). Every other question has `est-ce que` (`où est-ce que
tu habites ?`).
"""

from transformer.tasks.conversation import function_words as words
from transformer.tasks.conversation import place_and_time as adverbials
from transformer.tasks.conversation.frames.being import (
    EVENTS,
    FAVOURITE,
    FAVOURITES,
    IS_THIS,
    PREFERRED,
    STATE_TABLE,
    THINGS_AND_PEOPLE,
    WEATHER_TABLE,
    When,
    existing,
    forms,
    place_or_none,
    tense_of,
)
from transformer.tasks.conversation.frames.courtesy import VENIR, called
from transformer.tasks.conversation.frames.frame import Frame, please, question_mark
from transformer.tasks.conversation.lexicon import ALLER, ANIMATE, AVOIR, COUNTED, ETRE, PEOPLE, Agreement
from transformer.tasks.conversation.nominal import (
    FORMS_OF,
    NOUN_FORMS,
    Nominal,
    attributes,
    described,
    from_form,
    go_together,
    noun_phrase,
    object_phrase,
    owner,
    predicate_adjective,
)
from transformer.tasks.conversation.path import Path, Table, words_table
from transformer.tasks.conversation.verbal import (
    BE,
    THIRD,
    Tense,
    asked,
    be,
    question,
    statement,
    with_modal,
)

EST_CE_QUE = ["est-ce", "que"]
INVERTED = ("suis-je", "es-tu", "est-il", "sommes-nous", "sont-ils")


def be_then_subject(path: Path, *, past: float = 0.0, people: bool = False) -> tuple[Nominal, When]:
    """The subject and the tense of words such as `is the cat` or `are you`. A `SamplingPath` samples the English words; a
    `ParsingPath` reads them from its text. `past` is the share of questions in the past; with `people`, the subject is a person
    or an animal."""
    tense = tense_of(path, past) if past else "present"
    form = path.choose(dict.fromkeys(dict.fromkeys(BE[tense]), 1.0), {form: (form,) for form in BE[tense]})
    path.say(form)
    who = asked(path)
    path.require(BE[tense][who.english_slot] == form and (not people or who.kind in ANIMATE))
    return who, tense


def inverted(who: Nominal) -> list[str]:
    """The French of `be` in the present with the subject after it: `est le chat`, `es-tu`."""
    slot = who.agreement.slot
    if who.pronoun is None:
        return [ETRE.present[slot], *who.subject]
    return ["est-elle" if who.pronoun.french == "elle" else INVERTED[slot]]


def yes_no(path: Path) -> list[str]:
    """The words of the French translation of a question such as `do you speak english`, `can she swim`, `did they go home` or
    `have you got a dog`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    if path.choose({"question": 30.0, "got": 1.0}, {"got": ("have", "has")}) == "got":
        have = path.word(words_table("have 1, has 0.4"))
        someone = asked(path, int(have == "has"))
        path.say("got")
        what = object_phrase(path, ("animal", "object", "family", "vehicle", "food"), "question", bare=0.1).french("plain")
        return [*EST_CE_QUE, *someone.subject, AVOIR.present[someone.agreement.slot], *what, *question_mark(path)]
    return [*EST_CE_QUE, *question(path).french(), *please(path, 0.03), *question_mark(path)]


def be_question(path: Path) -> list[str]:
    """The words of the French translation of a question such as `are you tired`, `is the dog in the garden`, `is it raining`,
    `is there a bank here` or `are you a student`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from
    its text."""
    options = {"adjective": 2.0, "state": 0.8, "place": 1.2, "there": 1.2, "weather": 0.7, "job": 0.7, "it": 0.8, "from": 0.5}
    starts = {"there": ("is", "are", "was", "were"), "weather": ("is", "was"), "it": ("is", "was", "are")}
    chosen = path.choose(options, starts)
    if chosen == "there":
        tense = tense_of(path, 0.08)
        form = path.choose({"was": 1.0, "were": 1.0}) if tense == "past" else path.choose({"is": 1.0, "are": 1.0})
        path.say(form, "there")
        what = existing(path, "question", form in ("are", "were"))
        finite = forms(AVOIR, tense)[THIRD]
        return [*EST_CE_QUE, "il", "y", finite, *what, *place_or_none(path, 0.6), *question_mark(path)]
    if chosen == "weather":
        tense = tense_of(path, 0.1)
        path.say("was" if tense == "past" else "is", "it")
        french = path.word(WEATHER_TABLE)[tense == "past"]
        return [*EST_CE_QUE, *french.split(), *place_or_none(path, 0.1), *question_mark(path)]
    if chosen == "it":
        this = path.word(IS_THIS)
        what = noun_phrase(path, THINGS_AND_PEOPLE, ONE_OF, bare=0.1, adjectives=0.1, person=this)
        path.require((what.english_slot == 4) == this.plural)
        return [*EST_CE_QUE, "ce_", ETRE.present[this.slot], *what.french("plain"), *question_mark(path)]
    who, tense = be_then_subject(path, past=0.15)
    slot = who.agreement.slot
    if chosen == "from":
        path.require(tense == "present" and who.kind in PEOPLE)
        return [*EST_CE_QUE, *who.subject, VENIR.present[slot], *adverbials.origin(path), *question_mark(path)]
    if chosen == "state":
        path.require(who.pronoun is not words.PRONOUNS[4])
        return [*EST_CE_QUE, *who.subject, forms(AVOIR, tense)[slot], path.word(STATE_TABLE), *question_mark(path)]
    if chosen == "place":
        rest = adverbials.place(path)
    elif chosen == "job":
        path.require(who.english_slot not in (3, 4))
        path.say("a")
        form = path.word(NOUN_FORMS, FORMS_OF["job", "singular"])
        path.require(form.noun.kind == "job" and form.number == "singular" and who.kind in PEOPLE)
        agreement = form.agreement._replace(gender=who.agreement.gender) if form.noun.has_both_genders else None
        rest = from_form(form, words.NO_ARTICLE, (), agreement).french("plain")
    elif who.pronoun is words.PRONOUNS[4]:
        rest = predicate_adjective(path, who, "idea")
        return [*EST_CE_QUE, "ce_", forms(ETRE, tense)[THIRD], *rest, *question_mark(path)]
    else:
        rest = predicate_adjective(path, who)
    return [*EST_CE_QUE, *who.subject, forms(ETRE, tense)[slot], *rest, *question_mark(path)]


ONE_OF = words.determiners("a 2, the 1, my 1, your 4, his 1, her 1, our 0.5, their 0.5")


def where(path: Path) -> list[str]:
    """The words of the French translation of a question such as `where is the cat`, `where are you` or `where do you live`. A
    `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    path.say("where")
    chosen = path.choose({"is": 1.5, "thing": 1.5, "was": 0.3, "does": 2.0, "from": 0.5}, {"was": ("was", "were")})
    if chosen == "does":
        clause = question(path, gap="place", place=0.0)
        path.require(not clause.verb.tail or clause.verb.base != "go home")
        return ["où", *EST_CE_QUE, *clause.french(), *question_mark(path)]
    if chosen == "thing":
        is_ = path.word(words_table("is 1.0, are 0.5"))
        what = noun_phrase(path, FOUND, words.DEFINITE, adjectives=0.08, of=0.05)
        path.require((what.english_slot == THIRD) == (is_ == "is"))
        return ["où", *inverted(what), *question_mark(path)]
    who, tense = be_then_subject(path, past=1.0 if chosen == "was" else 0.0)
    slot = who.agreement.slot
    if chosen == "from":
        path.say("from")
        path.require(who.kind in PEOPLE)
        return [
            "de",
            "où",
            *(["viens-tu"] if slot == 1 else [*EST_CE_QUE, *who.subject, VENIR.present[slot]]),
            *question_mark(path),
        ]
    if tense == "present":
        return ["où", *inverted(who), *question_mark(path)]
    time = (path.optional(adverbials.PAST_TIMES, 0.3) or "").split()
    if who.pronoun is None:
        return ["où", ETRE.imperfect[slot], *who.subject, *time, *question_mark(path)]
    return ["où", *EST_CE_QUE, *who.subject, ETRE.imperfect[slot], *time, *question_mark(path)]


FOUND = ("object", "clothing", "place", "place", "animal", "furniture", "room", "toilet", "vehicle")
QUEL = ("quel", "quelle", "quels", "quelles")
# The kinds of nouns in questions such as `what book …`. Other kinds are not parsed, because they are not sampled and so models
# translate them wrongly: they write `de quelle couleur` for `what colour do you like`.
ASKED_ABOUT = ("object", "text", "food", "vehicle", "clothing", "animal")
ASKED_FORMS = Table([(" ".join(english), form) for english, form in NOUN_FORMS.entries if form.noun.kind in ASKED_ABOUT])


def what(path: Path) -> list[str]:
    """The words of the French translation of a question such as `what do you want`, `what is your favourite colour`, `what is
    her name`, `what colour is the car` or `what book …`. A `SamplingPath` samples the English words; a `ParsingPath` reads them
    from its text."""
    options = {"do": 3.0, "favourite": 1.0, "name": 1.0, "which": 1.0, "colour": 0.8, "mine": 0.7, "there": 0.3}
    word = path.word(words_table("what 4.0, which 1.0"))
    starts = {"colour": ("colour", "color"), "favourite": ("is",), "name": ("is",), "there": ("is",), "mine": ("is", "are")}
    chosen = "which" if word == "which" else path.choose(options, starts)
    if chosen == "do":
        return ["qu'", *EST_CE_QUE, *question(path, gap="object").french(), *question_mark(path)]
    if chosen == "which":
        kind = path.meaning(ASKED_ABOUT)
        number = path.meaning(("singular", "singular", "plural"))
        modifiers = attributes(path, kind, 0.05)
        form = path.word(ASKED_FORMS, FORMS_OF[kind, number] if kind and number else None)
        path.require(go_together(form, modifiers))
        asked_noun = described(form.agreement.of(form.noun.french).split(), modifiers, form.agreement)
        clause = question(path, gap="object", place=0.08, asked_about=form.agreement)
        return [form.agreement.of(QUEL), *asked_noun, *EST_CE_QUE, *clause.french(), *question_mark(path)]
    if chosen == "colour":
        path.word(COLOUR)
        form = path.word(words_table("is 1.0, are 0.5"))
        thing = noun_phrase(
            path, ("clothing", "vehicle", "animal", "object", "furniture", "body"), words.DEFINITE, adjectives=0.02, of=0.0
        )
        path.require((thing.english_slot == THIRD) == (form == "is"))
        return ["de", "quelle", "couleur", *inverted(thing), *question_mark(path)]
    if chosen == "there":
        path.say("is")
        return ["qu'", *EST_CE_QUE, "il", "y", "a", *adverbials.place(path, only_where=True, fixed=0.1), *question_mark(path)]
    if chosen == "favourite":
        path.say("is")
        whose = path.word(WHOSE)
        path.word(FAVOURITE)
        noun, _ = path.word(FAVOURITES)
        agreement = noun.agreement
        return [agreement.of(QUEL), "est", *from_form(noun, whose, [([], PREFERRED)]).french("plain"), *question_mark(path)]
    if chosen == "name":
        path.say("is")
        if path.choose({"pronoun": 1.0, "owner": 1.0}) == "pronoun":
            return ["comment", *path.word(HIS_NAME).split(), *question_mark(path)]
        someone = owner(path)
        path.say("name")
        return ["comment", *called(someone.agreement), *someone.french("plain"), *question_mark(path)]
    form = path.word(words_table("is 1.0, are 0.2"))
    thing = noun_phrase(path, ("idea", "text"), words.OWNERS, adjectives=0.03, of=0.1)
    path.require(thing.noun is None or thing.noun.singular != "name")
    path.require((thing.english_slot == THIRD) == (form == "is"))
    return [thing.agreement.of(QUEL), *inverted(thing), *question_mark(path)]


COLOUR = Table([("colour", None), ("color", None)])
WHOSE = words.determiners("my 0.3, your 6, his 1, her 1, our 0.3, their 0.3")
HIS_NAME = Table([("his name", "se appelle-t-il"), ("her name", "se appelle-t-elle")])
WHO = Nominal(lambda _: ["qui"], Agreement("m", False, THIRD), THIRD, "person")


def who(path: Path) -> list[str]:
    """The words of the French translation of a question such as `who is he`, `who is your teacher`, `who wants a coffee` or
    `who do you love`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    path.say("who")
    options = {"is": 1.5, "does": 1.5, "whom": 0.7, "be": 0.5}
    chosen = path.choose(
        options,
        {"whom": ("do", "does", "did", "is", "are", "can", "must", "should", "would", "will", "was", "were", "could", "may")},
    )
    if chosen == "is":
        someone, _ = be_then_subject(path, people=True)
        path.require(someone.pronoun is not words.PRONOUNS[4])
        return ["qui", *inverted(someone), *question_mark(path)]
    if chosen == "whom":
        clause = question(path, gap="object", people=True)
        return ["qui", *EST_CE_QUE, *clause.french(), *question_mark(path)]
    if chosen == "be":
        tense = tense_of(path, 0.3)
        be(path, WHO, tense)
        rest = path.choose({"adjective": 1.0, "place": 1.0, "state": 0.7})
        if rest == "state":
            return ["qui", forms(AVOIR, tense)[THIRD], path.word(STATE_TABLE), *question_mark(path)]
        after = predicate_adjective(path, WHO) if rest == "adjective" else adverbials.place(path)
        return ["qui", forms(ETRE, tense)[THIRD], *after, *question_mark(path)]
    tense: Tense = path.choose({"present": 1.5, "past": 1.5, "modal": 0.5})
    if tense == "modal":
        return [*with_modal(path, WHO, "").french(), *question_mark(path)]
    return [*statement(path, WHO, tense).french(), *question_mark(path)]


def whose(path: Path) -> list[str]:
    """The words of the French translation of a question such as `whose book is this`. A `SamplingPath` samples the English
    words; a `ParsingPath` reads them from its text."""
    path.say("whose")
    number = path.choose({"singular": 1.0, "plural": 0.4})
    kind = path.meaning(("object", "clothing", "vehicle", "animal"))
    form = path.word(NOUN_FORMS, FORMS_OF[kind, number] if kind else None)
    path.require(form.number == number)
    path.word(THIS_ONE if number == "singular" else THESE_ONES)
    phrase = from_form(form, words.DETERMINERS["this"])
    return ["à", "qui", ETRE.present[phrase.agreement.slot], *phrase.french("plain"), *question_mark(path)]


THIS_ONE = Table([("is this", None), ("is it", None), ("is that", None)], [3, 1, 1])
THESE_ONES = Table([("are these", None), ("are those", None), ("are they", None)], [3, 1, 0.5])


def how_many(path: Path) -> list[str]:
    """The words of the French translation of a question such as `how many cats do you have` or `how many books are there on the
    table`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    path.say("how", "many")
    kind = path.meaning(
        ("animal", "family", "object", "food", "vehicle", "clothing", "person", "text", "language", "room", "idea")
    )
    modifiers = attributes(path, kind, 0.05)
    form = path.word(NOUN_FORMS, FORMS_OF.get((kind or "", "plural")))
    path.require(form.number == "plural" and go_together(form, modifiers))
    noun = described(form.agreement.of(form.noun.french).split(), modifiers, form.agreement)
    if form.noun.plural in COUNTED:
        noun = [COUNTED[form.noun.plural][0]]
    options = {"have": 1.5, "do": 1.0, "there": 1.2, "are": 0.4}
    chosen = path.choose(options, {"there": ("are", "were"), "are": ("are",), "have": ("do", "does")})
    if chosen == "are":
        path.say("are")
        where = adverbials.place(path, only_where=True, fixed=0.2)
        path.require(where != ["là"])  # `are there` is parsed by the option "there"
        return ["combien", "de", *noun, *EST_CE_QUE, "il", "y", "a", *where, *question_mark(path)]
    if chosen == "there":
        tense = tense_of(path, 0.1)
        path.say("were" if tense == "past" else "are", "there")
        clause = ["il", "y", forms(AVOIR, tense)[THIRD], *place_or_none(path, 0.7)]
    elif chosen == "have":
        do = path.word(words_table("do 1.6, does 1.0"))
        someone = asked(path, int(do == "does"))
        path.say("have")
        clause = [*someone.subject, AVOIR.present[someone.agreement.slot]]
    else:
        clause = question(path, gap="object", place=0.08, asked_about=form.agreement).french()
    return ["combien", "de", *noun, *EST_CE_QUE, *clause, *question_mark(path)]


def how(path: Path) -> list[str]:
    """The words of the French translation of a question such as `how old is your brother`, `how is your mother`, `how do you go
    to school` or `how much is the book`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its
    text."""
    path.say("how")
    options = {"old": 1.5, "is": 1.0, "do": 1.0, "much": 1.0, "was": 0.4}
    chosen = path.choose(options, {"was": ("was", "were"), "old": ("old",), "is": ("am", "is", "are"), "much": ("much",)})
    if chosen == "was":
        form = path.word(words_table("was 1.0, were 0.3"))
        thing = noun_phrase(path, ("text", "meal", "food", "lesson", "idea"), words.DEFINITE, adjectives=0.02, of=0.0)
        path.require((thing.english_slot == THIRD) == (form == "was"))
        return ["comment", ETRE.imperfect[thing.agreement.slot], *thing.subject, *question_mark(path)]
    if chosen == "old":
        path.say("old")
        someone, _ = be_then_subject(path)
        slot = someone.agreement.slot
        if someone.pronoun is None:
            return ["quel", "âge", AVOIR.present[slot], *someone.subject, *question_mark(path)]
        return ["quel", "âge", "a-t-elle" if someone.pronoun.french == "elle" else AS_TU[slot], *question_mark(path)]
    if chosen == "is":
        someone, _ = be_then_subject(path, people=True)
        slot = someone.agreement.slot
        if someone.pronoun is None:
            return ["comment", ALLER.present[slot], *someone.subject, *question_mark(path)]
        path.require(someone.pronoun is not words.PRONOUNS[4])
        return ["comment", "va-t-elle" if someone.pronoun.french == "elle" else VAS_TU[slot], *question_mark(path)]
    if chosen == "much":
        path.say("much")
        does = path.word(words_table("is 1.0, are 0.4, does 1.0, do 0.4"))
        thing = noun_phrase(
            path, ("food", "clothing", "object", "vehicle", "furniture"), words.DEFINITE, adjectives=0.08, of=0.05
        )
        path.require((thing.english_slot == THIRD) == (does in ("is", "does")))
        path.say(*(("cost",) if does in ("does", "do") else ()))
        return ["combien", "coûtent" if thing.agreement.plural else "coûte", *thing.subject, *question_mark(path)]
    return ["comment", *EST_CE_QUE, *question(path, place=0.1).french(), *question_mark(path)]


AS_TU = ("ai-je", "as-tu", "a-t-il", "avons-nous", "ont-ils")
VAS_TU = ("vais-je", "vas-tu", "va-t-il", "allons-nous", "vont-ils")


def when_or_why(path: Path) -> list[str]:
    """The words of the French translation of a question such as `when do you get up`, `why are you sad` or `when is your
    birthday`. A `SamplingPath` samples the English words; a `ParsingPath` reads them from its text."""
    word = path.word(words_table("when 1.0, why 1.0"))
    french = "quand" if word == "when" else "pourquoi"
    options = {"do": 2.0, "be": 0.5 if word == "why" else 0.0, "event": 0.0 if word == "why" else 0.5}
    chosen = path.choose(options)
    if chosen == "be":
        path.require(word == "why")
        someone, tense = be_then_subject(path, past=0.15)
        slot = someone.agreement.slot
        if path.choose({"adjective": 1.0, "state": 0.3}) == "state":
            rest = [forms(AVOIR, tense)[slot], path.word(STATE_TABLE)]
        else:
            rest = [forms(ETRE, tense)[slot], *predicate_adjective(path, someone)]
        return [french, *EST_CE_QUE, *someone.subject, *rest, *question_mark(path)]
    if chosen == "event":
        path.require(word == "when")
        form = path.word(words_table("is 1.0, are 0.2"))
        event = _event(path)
        path.require((event.english_slot == THIRD) == (form == "is"))
        return [french, *inverted(event), *question_mark(path)]
    return [french, *EST_CE_QUE, *question(path, gap="time" if word == "when" else "").french(), *question_mark(path)]


def _event(path: Path) -> Nominal:
    determiner = path.word(words.OWNERS)
    return from_form(path.word(EVENTS), determiner)


FRAMES = (
    Frame("yes-or-no question", 5.0, yes_no),
    Frame("question with be", 4.0, be_question),
    Frame("where", 3.5, where),
    Frame("what", 4.0, what),
    Frame("who", 4.0, who),
    Frame("whose", 0.7, whose),
    Frame("how many", 3.0, how_many),
    Frame("how", 2.5, how),
    Frame("when or why", 2.5, when_or_why),
)
