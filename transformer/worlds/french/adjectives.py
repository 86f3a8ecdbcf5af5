"""The adjectives. Some fit any noun; the others fit one kind of noun only, and so decide what `it` refers to."""

from dataclasses import dataclass

from transformer.worlds.french.inflection import four_forms
from transformer.worlds.french.nouns import ANIMATE, KINDS, Gender, Kind


@dataclass(frozen=True)
class Adjective:
    """An adjective in both languages.

    Attributes:
        forms: masculine, feminine, masculine plural, feminine plural.
        kinds: the kinds of noun it fits.
        before: whether it precedes its noun in French.
        before_vowel: the masculine singular before a noun that begins with a vowel (`bel`); empty if it has none.
        predicative: whether it can follow `be`.
    """

    english: str
    forms: tuple[str, str, str, str]
    kinds: tuple[Kind, ...]
    before: bool = False
    before_vowel: str = ""
    predicative: bool = True

    def form(self, gender: Gender, plural: bool) -> str:
        return self.forms[2 * plural + (gender == "f")]


# "english masculine", or "english masculine/feminine" where the feminine is not regular.
_BEFORE = "big grand, small petit, good bon/bonne, bad mauvais, pretty joli"
_AFTER = "red rouge, green vert, white blanc/blanche, black noir, blue bleu, strange étrange, modern moderne"
_SELECTIVE: dict[tuple[Kind, ...], str] = {
    ANIMATE: "tired fatigué, hungry affamé, thirsty assoiffé, frightened effrayé, nervous nerveux, curious curieux, "
    "lazy paresseux, shy timide",
    ("place",): "wide large, narrow étroit, crowded bondé, flooded inondé, deserted désert, muddy boueux",
    ("object",): "broken cassé, fragile fragile, dusty poussiéreux, heavy lourd, cracked fêlé",
    ("food",): "ripe mûr, rotten pourri, sweet sucré, salty salé, raw cru, delicious délicieux",
    ("vehicle",): "fast rapide, slow lent, noisy bruyant, powerful puissant, overloaded surchargé",
    ("clothing",): "torn déchiré, tight serré, elegant élégant, wrinkled froissé, loose ample",
}


def _adjectives(entries: str, kinds: tuple[Kind, ...], before: bool = False) -> tuple[Adjective, ...]:
    def one(entry: str) -> Adjective:
        english, french = entry.split()
        masculine, _, feminine = french.partition("/")
        return Adjective(english, four_forms(masculine, feminine), kinds, before)

    return tuple(one(entry) for entry in entries.split(", "))


OLD = Adjective("old", four_forms("vieux", "vieille"), KINDS, True, "vieil")
YOUNG = Adjective("young", four_forms("jeune"), ANIMATE, True)

GENERAL = (
    *_adjectives(_BEFORE, KINDS, before=True),
    Adjective("beautiful", four_forms("beau", "belle"), KINDS, True, "bel"),
    Adjective("new", four_forms("nouveau", "nouvelle"), KINDS, True, "nouvel"),
    Adjective("former", four_forms("ancien", "ancienne"), KINDS, True, predicative=False),
    OLD,
    YOUNG,
    *_adjectives(_AFTER, KINDS),
)
SELECTIVE = tuple(adjective for kinds, entries in _SELECTIVE.items() for adjective in _adjectives(entries, kinds))
ADJECTIVES = (*GENERAL, *SELECTIVE)
ADJECTIVE_BY_WORD = {adjective.english: adjective for adjective in ADJECTIVES}

# `beautiful`, `new` and `old` come three times, because their fifth form is rarely needed.
_WEIGHTED = [adjective for adjective in GENERAL for _ in range(3 if adjective.before_vowel else 1)]
GENERAL_OF = {kind: tuple(a for a in _WEIGHTED if kind in a.kinds) for kind in KINDS}
SELECTIVE_OF = {kind: tuple(a for a in SELECTIVE if kind in a.kinds) for kind in KINDS}

# "the beautiful old house", "the big young dog": two adjectives that both precede a French noun, in this order.
FIRST_OF_TWO = tuple(a for a in GENERAL if a.english in ("beautiful", "big", "small", "good", "pretty"))
COLOURS = tuple(a for a in GENERAL if a.english in ("red", "green", "white", "black", "blue"))
