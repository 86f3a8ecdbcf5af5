"""The regular endings of both languages. Irregular words are spelled out in the lexicon."""

VOWELS = "aeiou"


def english_s(word: str) -> str:
    """The `-s` of a plural and of a third person: `box` → `boxes`, `city` → `cities`."""
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh", "o")) else "s")


def english_ed(word: str) -> str:
    return word + ("d" if word.endswith("e") else "ed")


def english_ing(word: str) -> str:
    return (word.removesuffix("e") if word.endswith("e") and not word.endswith("ee") else word) + "ing"


def french_plural(word: str) -> str:
    """`chat` → `chats`, `cheval` → `chevaux`, `bateau` → `bateaux`; `souris` stays."""
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith("al"):
        return word[:-1] + "ux"
    return word + ("x" if word.endswith("eau") else "s")


def french_feminine(word: str) -> str:
    """`grand` → `grande`, `nerveux` → `nerveuse`; `large` stays."""
    if word.endswith("e"):
        return word
    return word[:-1] + "se" if word.endswith("eux") else word + "e"


def four_forms(masculine: str, feminine: str = "") -> tuple[str, str, str, str]:
    """Masculine, feminine, masculine plural, feminine plural: of an adjective or a participle."""
    feminine = feminine or french_feminine(masculine)
    return masculine, feminine, french_plural(masculine), french_plural(feminine)


def first_group(infinitive: str) -> tuple[str, str, str, str, str]:
    """The present of a regular verb in `-er`, as je, tu, il, nous, ils. The g of `manger` stays soft: `mangeons`."""
    stem = infinitive.removesuffix("er")
    soft = "e" if stem.endswith("g") else ""
    return stem + "e", stem + "es", stem + "e", f"{stem}{soft}ons", stem + "ent"


def imperfect(nous: str) -> tuple[str, str, str, str, str]:
    """The imperfect from the present's `nous` form: `mangeons` → `mangeais` … `mangions`, `mangeaient`."""
    stem = nous.removesuffix("ons")
    before_i = stem.removesuffix("e")
    return stem + "ais", stem + "ais", stem + "ait", before_i + "ions", stem + "aient"
