"""The verbs, with every form that the grammar uses."""

from dataclasses import dataclass

from transformer.worlds.french.inflection import english_ed, english_ing, english_s, first_group, four_forms, imperfect
from transformer.worlds.french.nouns import ANIMATE, KINDS, THINGS, Kind

Five = tuple[str, str, str, str, str]


@dataclass(frozen=True)
class Verb:
    """A verb in both languages, with the complements it takes.

    Attributes:
        base, third, past, ing: the English forms; `ing` is empty for a verb not used with `is …ing`.
        present, imperfect: je, tu, il, nous, ils.
        participle: masculine, feminine, masculine plural, feminine plural.
        with_etre: whether the passé composé is formed with être.
        takes_object: whether a direct object must follow.
        takes_recipient: whether `to` and a person may follow.
        directions: which of `from` and `to` may follow, with a place.
        needs_place: whether French requires a place: `elle est allée` is not a sentence.
        subjects, objects: the kinds of noun it is drawn with.
    """

    base: str
    third: str
    past: str
    ing: str
    present: Five
    imperfect: Five
    participle: tuple[str, str, str, str]
    with_etre: bool
    takes_object: bool
    takes_recipient: bool
    directions: tuple[str, ...]
    needs_place: bool
    subjects: tuple[Kind, ...]
    objects: tuple[Kind, ...]


PERSON: tuple[Kind, ...] = ("person",)
MOVING: tuple[Kind, ...] = (*ANIMATE, "vehicle")
ETRE: Five = ("suis", "es", "est", "sommes", "sont")
ETRE_IMPERFECT = imperfect("étons")
AVOIR: Five = ("ai", "as", "a", "avons", "ont")


def _verb(
    english: str,
    french: str,
    subjects: tuple[Kind, ...],
    objects: tuple[Kind, ...] = (),
    recipient: bool = False,
    etre: bool = False,
    directions: tuple[str, ...] = (),
    needs_place: bool = False,
) -> Verb:
    """`english`: "base", or "base past"; a final `ing` word marks a verb used with `is …ing`; a lone "ing" means the
    regular one. `french`: an infinitive in -er, or the five present forms and the participle."""
    base, *rest = english.split()
    past = next((word for word in rest if not word.endswith("ing")), english_ed(base))
    ing = next((word for word in rest if word.endswith("ing")), "")
    words = french.split()
    if len(words) == 1:
        present, participle = first_group(french), french.removesuffix("er") + "é"
    else:
        je, tu, il, nous, ils, participle = words
        present = (je, tu, il, nous, ils)
    return Verb(
        base=base,
        third=english_s(base),
        past=past,
        ing=english_ing(base) if ing == "ing" else ing,
        present=present,
        imperfect=imperfect(present[3]),
        participle=four_forms(participle),
        with_etre=etre,
        takes_object=bool(objects),
        takes_recipient=recipient,
        directions=directions,
        needs_place=needs_place,
        subjects=subjects,
        objects=objects,
    )


# They fit any two nouns, so that neither the verb nor the order of the nouns reveals the antecedent.
ANY_ANY = (
    _verb("cross ing", "traverser", KINDS, KINDS),
    _verb("touch", "toucher", KINDS, KINDS),
    _verb("follow ing", "suis suis suit suivons suivent suivi", KINDS, KINDS),
    _verb("block", "bloquer", KINDS, KINDS),
    _verb("hide hid", "cacher", KINDS, KINDS),
    _verb("reach", "atteins atteins atteint atteignons atteignent atteint", KINDS, KINDS),
    _verb("leave left ing", "quitter", KINDS, KINDS),
    _verb("avoid ing", "éviter", KINDS, KINDS),
    _verb("push ing", "pousser", KINDS, KINDS),
    _verb("cover", "couvre couvres couvre couvrons couvrent couvert", KINDS, KINDS),
)
WITH_OBJECT = (
    _verb("see saw", "vois vois voit voyons voient vu", ANIMATE, KINDS),
    _verb("eat ate ing", "manger", ANIMATE, ("food",)),
    _verb("love", "aimer", ANIMATE, KINDS),
    _verb("buy bought", "achète achètes achète achetons achètent acheté", PERSON, THINGS),
    _verb("hear heard", "entends entends entend entendons entendent entendu", ANIMATE, (*ANIMATE, "vehicle")),
    _verb("take took", "prends prends prend prenons prennent pris", ANIMATE, THINGS),
    _verb("wash ing", "laver", PERSON, (*ANIMATE, *THINGS)),
    _verb("watch ing", "regarder", ANIMATE, KINDS),
)
WITH_RECIPIENT = (
    _verb("give gave ing", "donner", PERSON, THINGS, recipient=True),
    _verb("show", "montrer", PERSON, THINGS, recipient=True),
    _verb("sell sold", "vends vends vend vendons vendent vendu", PERSON, THINGS, recipient=True),
    _verb("speak spoke ing", "parler", PERSON, recipient=True),
)
WITHOUT_OBJECT = (
    _verb("sleep slept ing", "dors dors dort dormons dorment dormi", ANIMATE),
    _verb("run ran running", "cours cours court courons courent couru", ANIMATE),
    _verb("work ing", "travailler", PERSON),
    _verb("sing sang ing", "chanter", PERSON),
    _verb("swim swam swimming", "nager", ANIMATE),
)
WITH_ETRE = (
    _verb("go went ing", "vais vas va allons vont allé", MOVING, etre=True, directions=("to",), needs_place=True),
    _verb("come came ing", "viens viens vient venons viennent venu", MOVING, etre=True, directions=("to", "from")),
    _verb("arrive", "arriver", MOVING, etre=True, directions=("from",)),
    _verb("leave left ing", "pars pars part partons partent parti", MOVING, etre=True),
    _verb("fall fell", "tomber", KINDS, etre=True),
    _verb("stay", "rester", KINDS, etre=True),
)
VERBS = (*ANY_ANY, *WITH_OBJECT, *WITH_RECIPIENT, *WITHOUT_OBJECT, *WITH_ETRE)
