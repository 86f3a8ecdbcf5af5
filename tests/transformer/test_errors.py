"""One sentence a person can act on."""

import pytest

from transformer.errors import CheckpointError, ConfigError, HeadlightError, InputError, PathError


@pytest.mark.parametrize("kind", [ConfigError, InputError, PathError, CheckpointError])
def test_every_error_is_a_headlight_error_with_its_sentence(kind: type[HeadlightError]):
    error = kind("Your text has {count} words; this model reads up to {most}.", count=213, most=62)
    assert isinstance(error, HeadlightError)
    assert isinstance(error, ValueError)
    assert str(error) == error.sentence() == "Your text has 213 words; this model reads up to 62."
    assert error.values == {"count": 213, "most": 62}


def test_a_translation_is_found_by_the_template():
    error = InputError("Your text has {count} words; this model reads up to {most}.", count=213, most=62)
    translated = {error.template: "Bis zu {most} Wörter; hier sind es {count}."}
    assert error.sentence(translated) == "Bis zu 62 Wörter; hier sind es 213."
    assert error.sentence({"Another sentence.": "Ein anderer Satz."}) == str(error)


@pytest.mark.parametrize("broken", ["{cuont} Wörter", "{0}", "{count", "{most:%}x{count!q}"])
def test_a_broken_translation_falls_back_to_english(broken: str):
    error = InputError("Your text has {count} words; this model reads up to {most}.", count="213", most="62")
    assert error.sentence({error.template: broken}) == str(error)


def test_an_error_within_an_error_is_translated_too():
    inner = InputError("There is no token id {token!r} here.", token=7)
    outer = CheckpointError("The file {name!r} holds a bad value. {problem}", name="a", problem=inner)
    assert str(outer) == "The file 'a' holds a bad value. There is no token id 7 here."
    german = {outer.template: "Datei {name!r}: {problem}", inner.template: "Kein Token {token!r}."}
    assert outer.sentence(german) == "Datei 'a': Kein Token 7."


def test_a_long_value_is_shortened_and_a_short_one_stays_whole():
    assert str(InputError("The text {text!r} is too long.", text="word " * 10_000)) == (
        f"The text '{('word ' * 12)[:58]}… is too long."
    )
    assert str(InputError("no {token!r}", token="x" * 58)) == f"no '{'x' * 58}'"


@pytest.mark.parametrize("template", ["{value}", "{value!r}", "the field {value}"])
def test_whatever_a_file_puts_into_a_message_it_stays_short_and_can_be_shown(template: str):
    text = str(ConfigError(template, value="\ud800" + "x" * 10**6))
    assert len(text) < 1100
    assert "\\ud800" in text.encode().decode()
    assert text.endswith("x…")


@pytest.mark.parametrize("template", ["{value!r}", "{value}", "{value:.3g}"])
def test_a_value_that_cannot_be_written_out_is_named_by_its_type(template: str):
    deep: list[object] = []
    for _ in range(10**5):
        deep = [deep]
    assert str(ConfigError(template, value=10**5000)) == "<int>"
    if ":" not in template:
        assert str(ConfigError(template, value=deep)) == "<list>"
