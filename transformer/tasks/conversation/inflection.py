"""The regular endings of English and French words. The forms of irregular words are in `data`."""

VOWELS = "aeiou"
Five = tuple[str, str, str, str, str]
Four = tuple[str, str, str, str]


def english_s(word: str) -> str:
    """The plural of an English noun, or the third person of a verb, with `-s`: `box` → `boxes`, `city` → `cities`. In a phrase,
    the last word changes."""
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "ies"
    if word in ("piano", "photo", "radio", "zoo", "kilo"):
        return word + "s"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh", "o")) else "s")


def english_ed(word: str) -> str:
    return word + ("d" if word.endswith("e") else "ed")


def english_ing(word: str) -> str:
    return (word.removesuffix("e") if word.endswith("e") and not word.endswith("ee") else word) + "ing"


def french_plural(word: str) -> str:
    """The plural of a French word: `chat` → `chats`, `cheval` → `chevaux`, `bateau` → `bateaux`; `souris` is unchanged. In a
    phrase, the first word changes."""
    first, *rest = word.split()
    if first in ("hôpital", "animal", "cheval", "journal"):
        first = first[:-1] + "ux"
    elif first == "travail":
        first = "travaux"
    elif not first.endswith(("s", "x", "z")):
        first += "x" if first.endswith("eau") else "s"
    return " ".join([first, *rest])


def french_feminine(word: str) -> str:
    """The feminine of a French adjective: `grand` → `grande`, `nerveux` → `nerveuse`; `large` is unchanged."""
    if word.endswith("e"):
        return word
    return word[:-1] + "se" if word.endswith("eux") else word + "e"


def four_forms(masculine: str, feminine: str = "") -> Four:
    """The masculine, feminine, masculine plural and feminine plural of a French adjective or participle. An empty `feminine` is
    formed by rule."""
    feminine = feminine or french_feminine(masculine)
    return masculine, feminine, french_plural(masculine), french_plural(feminine)


def present(infinitive: str) -> Five:
    """The present forms of a regular French verb in -er, -ir or -re, for je, tu, il, nous, ils."""
    stem, ending = infinitive[:-2], infinitive[-2:]
    if ending == "ir":
        return stem + "is", stem + "is", stem + "it", stem + "issons", stem + "issent"
    if ending == "re":
        return stem + "s", stem + "s", stem, stem + "ons", stem + "ent"
    strong = strong_stem(stem)
    return strong + "e", strong + "es", strong + "e", nous_stem(stem) + "ons", strong + "ent"


def strong_stem(stem: str) -> str:
    """The stem of a French verb in -er before a silent ending: `achet` → `achèt`, `préfér` → `préfèr`, `nettoy` → `nettoi`."""
    if stem in ("appel", "rappel"):
        return stem + "l"
    if stem.endswith(("oy", "uy", "ay")):
        return stem[:-1] + "i"
    if len(stem) > 2 and stem[-2] in "eé" and stem[-1] in "tvlnr":
        return stem[:-2] + "è" + stem[-1]
    return stem


def nous_stem(stem: str) -> str:
    """The stem of a French verb in -er before `o` and `a`. An added letter or cedilla keeps g (`manger`) and c (`commencer`)
    soft."""
    return stem + "e" if stem.endswith("g") else stem[:-1] + "ç" if stem.endswith("c") else stem


def participle(infinitive: str) -> str:
    return infinitive[:-2] + {"er": "é", "ir": "i", "re": "u"}[infinitive[-2:]]


def imperfect(nous: str) -> Five:
    """The imperfect forms of a French verb, for je, tu, il, nous, ils, from the `nous` form of its present: `mangeons` →
    `mangeais` … `mangions`, `mangeaient`."""
    stem = nous.removesuffix("ons")
    before_i = stem.removesuffix("e") if stem.endswith("ge") else stem[:-1] + "c" if stem.endswith("ç") else stem
    return stem + "ais", stem + "ais", stem + "ait", before_i + "ions", stem + "aient"
