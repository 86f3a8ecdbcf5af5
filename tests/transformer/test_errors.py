"""Tests of error messages: each is one sentence that tells a person what to correct."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from transformer.errors import CheckpointError, ConfigError, HeadlightError, InputError, PathError, Remark
from transformer.pipeline.untrained import Ids
from transformer.text.tokenizer import TOKENIZERS, Tokenizer

ROOT = Path(__file__).parents[2]
ERRORS = {kind.__name__ for kind in (HeadlightError, ConfigError, InputError, PathError, CheckpointError)}
# Starts with a capital letter, a value, code, or the name of a field; ends with a full stop or another error's sentence.
SENTENCE = re.compile(r"([A-Z{`]|[a-z_]+ (is|has|must be) ).*(\.|\{(problem|error|words)\})", re.DOTALL)


@functools.cache
def trees() -> list[tuple[str, ast.Module]]:
    """The syntax tree of each module of the library and of the pages, with its path."""
    paths = sorted([*ROOT.glob("transformer/**/*.py"), *ROOT.glob("pages/**/*.py")])
    return [(str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def raised() -> Iterator[tuple[str, ast.Call]]:
    """Each call in the library or on a page that constructs an error, with its module and line."""
    for name, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS:
                yield f"{name}:{node.lineno}", node


def assigned(name: str, module: str) -> list[ast.expr]:
    """Every value assigned to a name in a module or, if the module imports it, in the library."""
    own = [tree for path, tree in trees() if path == module]
    others = [tree for path, tree in trees() if path.startswith("transformer")]
    for searched in (own, others):
        nodes = [node for tree in searched for node in ast.walk(tree) if isinstance(node, ast.Assign)]
        values = [node.value for node in nodes if any(isinstance(to, ast.Name) and to.id == name for to in node.targets)]
        if values:
            return values
    raise AssertionError(f"{name} in {module} is not a literal: no value of it can be read")


def literals(template: ast.expr, module: str) -> list[str]:
    """The possible sentences of a template: the template itself if it is a literal, or the sentences of the constant that it
    names.

    The attributes of a tokenizer are left out; `test_errors_of_a_tokenizer_are_sentences` reads them.
    """
    match template:
        case ast.Constant(value=str(sentence)):
            return [sentence]
        case ast.Dict(values=values):
            return [sentence for value in values for sentence in literals(value, module)]
        case ast.IfExp(body=body, orelse=other):
            return literals(body, module) + literals(other, module)
        case ast.Subscript(value=value):
            return literals(value, module)
        case ast.Attribute(attr="source_too_long" | "target_too_long"):
            return []
        case ast.Name(id=name):
            return [sentence for value in assigned(name, module) for sentence in literals(value, module)]
    raise AssertionError(f"{ast.unparse(template)} is not a literal: no translation can be found by it")


@pytest.mark.slow
def test_every_error_of_the_library_is_a_literal_sentence():
    """Errors that pages raise are included."""
    calls = list(raised())
    assert len(calls) > 80
    for place, call in calls:
        assert len(call.args) == 1, place
        for sentence in literals(call.args[0], place.partition(":")[0]):
            assert SENTENCE.fullmatch(sentence), f"{place}: {sentence}"


@pytest.mark.parametrize("tokenizer", [*TOKENIZERS.values(), Ids.up_to(3).tokenizer])
def test_errors_of_a_tokenizer_are_sentences(tokenizer: Tokenizer):
    for template in (tokenizer.source_too_long, tokenizer.target_too_long):
        assert SENTENCE.fullmatch(template)
        assert {"9", "7"} <= set(re.findall(r"\d+", str(InputError(template, count=9, most=7))))


def test_a_template_built_from_parts_is_not_a_literal():
    for code in ("f'No {x}.'", "'No ' + x", "'No {}.'.format(x)"):
        with pytest.raises(AssertionError, match="is not a literal"):
            literals(ast.parse(code, mode="eval").body, "")


@pytest.mark.parametrize("kind", [ConfigError, InputError, PathError, CheckpointError])
def test_every_error_is_a_headlight_error_with_its_sentence(kind: type[HeadlightError]):
    error = kind("Your text has {count} words; this model reads up to {most}.", count=213, most=62)
    assert isinstance(error, HeadlightError)
    assert isinstance(error, ValueError)
    assert str(error) == error.sentence() == "Your text has 213 words; this model reads up to 62."
    assert error.values == {"count": 213, "most": 62}


def test_a_translation_is_looked_up_by_the_template():
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
def test_values_from_a_file_leave_a_message_short_and_printable(template: str):
    text = str(ConfigError(template, value="\ud800" + "x" * 10**6))
    assert len(text) < 1100
    assert "\\ud800" in text.encode().decode()
    assert text.endswith("x…")


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("template", ["{value!r}", "{value}", "{value:.3g}"])
def test_a_value_that_cannot_be_formatted_is_named_by_its_type(template: str):
    deep: list[object] = []
    for _ in range(10**5):
        deep = [deep]
    assert str(ConfigError(template, value=10**5000)) == "<int>"
    if ":" not in template:
        assert str(ConfigError(template, value=deep)) == "<list>"


def test_a_remark_can_be_translated_and_is_not_an_error():
    remark = Remark("{number} is too large.", number=1000)
    assert str(remark) == "1000 is too large."
    assert remark.sentence({"{number} is too large.": "{number} ist zu groß."}) == "1000 ist zu groß."
    assert not isinstance(remark, Exception)


def test_a_copy_of_an_error_has_no_traceback() -> None:
    try:
        raise InputError("{count} words.", count=3)
    except InputError as error:
        again = error.anew()
    assert again.__traceback__ is None
    assert (type(again), str(again)) == (InputError, "3 words.")
