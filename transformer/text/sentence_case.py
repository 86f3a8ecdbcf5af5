"""Capital letters as in an English sentence."""

import re


def sentence_case(text: str) -> str:
    """An English text with a capital first letter, and with `I` for `i`. Several words in capitals alone become small first,
    names included; one such word may be an abbreviation, and stays."""
    if len(text.split()) > 1 and text.isupper():
        text = text.lower()
    text = re.sub(r"\bi\b", "I", text)
    first = next((place for place, sign in enumerate(text) if sign.isalnum()), None)
    return text if first is None else text[:first] + text[first].upper() + text[first + 1 :]
