"""The nouns, by kind. An adjective fits some kinds. Every kind has about as many masculine as feminine nouns."""

from dataclasses import dataclass
from typing import Literal

from transformer.worlds.french.inflection import english_s, french_plural

Gender = Literal["m", "f"]
Kind = Literal["animal", "person", "place", "object", "food", "vehicle", "clothing"]

KINDS: tuple[Kind, ...] = ("animal", "person", "place", "object", "food", "vehicle", "clothing")
ANIMATE: tuple[Kind, ...] = ("animal", "person")
THINGS: tuple[Kind, ...] = ("object", "food", "vehicle", "clothing")


@dataclass(frozen=True)
class Noun:
    """A noun in both languages; `english` and `french` are (singular, plural)."""

    english: tuple[str, str]
    french: tuple[str, str]
    gender: Gender
    kind: Kind


# "english french"; with an English plural only if it is irregular: "man/men homme".
_TABLE: dict[Kind, dict[Gender, str]] = {
    "animal": {
        "m": "animal animal, cat chat, dog chien, horse cheval, bird oiseau, hedgehog hérisson",
        "f": "mouse/mice souris, cow vache, goat chèvre, turtle tortue, bee abeille, spider araignée",
    },
    "person": {
        "m": "man/men homme, boy garçon, king roi, father père, friend ami, child/children enfant",
        "f": "woman/women femme, girl fille, queen reine, mother mère, aunt tante, actress actrice",
    },
    "place": {
        "m": "park parc, bridge pont, garden jardin, hotel hôtel, path chemin, village village, market marché",
        "f": "street rue, road route, river rivière, forest forêt, house maison, school école, island île",
    },
    "object": {
        "m": "book livre, bag sac, mirror miroir, piano/pianos piano, knife/knives couteau, umbrella parapluie, "
        "computer ordinateur",
        "f": "box boîte, table table, chair chaise, lamp lampe, key clé, bottle bouteille, clock horloge",
    },
    "food": {
        "m": "egg œuf, cake gâteau, lemon citron, melon melon, bean haricot",
        "f": "apple pomme, pear poire, orange orange, tomato tomate, carrot carotte",
    },
    "vehicle": {
        "m": "train train, bus bus, truck camion, boat bateau, plane avion",
        "f": "car voiture, motorcycle moto, ambulance ambulance, bicycle bicyclette",
    },
    "clothing": {
        "m": "coat manteau, hat chapeau, glove gant, suit costume",
        "f": "dress robe, shirt chemise, skirt jupe, scarf/scarves écharpe",
    },
}


def _noun(entry: str, gender: Gender, kind: Kind) -> Noun:
    english, french = entry.split()
    singular, _, plural = english.partition("/")
    return Noun((singular, plural or english_s(singular)), (french, french_plural(french)), gender, kind)


NOUNS = tuple(
    _noun(entry, gender, kind)
    for kind, genders in _TABLE.items()
    for gender, entries in genders.items()
    for entry in entries.split(", ")
)
NOUNS_OF = {
    (kind, gender): tuple(n for n in NOUNS if (n.kind, n.gender) == (kind, gender)) for kind in KINDS for gender in "mf"
}
NOUN_BY_FORM = {form: (noun, bool(index)) for noun in NOUNS for index, form in enumerate(noun.english)}
