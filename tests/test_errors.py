"""Errors carry what they are about as data; nothing in the source looks at the words of a message."""

import ast
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

import modelpicker as mp
from modelpicker.errors import InputError, UnknownOptionError, brief

SOURCE = Path(mp.__file__).parent
DECIDING = {"partition", "rpartition", "split", "startswith", "endswith", "find", "index", "count", "removeprefix"}
LOOKED_FOR = {"search", "match", "fullmatch", "findall"}


def _is_message(node: ast.AST, caught: set[str]) -> bool:
    """Whether this is the text of an error that was caught: str(error), error.args, f"{error}"."""
    match node:
        case ast.Call(func=ast.Name(id="str" | "repr"), args=[ast.Name(id=name)]):
            return name in caught
        case ast.Attribute(value=ast.Name(id=name), attr="args" | "message" | "detail"):
            return name in caught
        case ast.Subscript(value=inner):
            return _is_message(inner, caught)
        case ast.JoinedStr(values=values):
            return any(
                isinstance(part, ast.FormattedValue)
                and isinstance(part.value, ast.Name)
                and part.value.id in caught
                for part in values
            )
    return False


def decisions(text: str) -> Iterator[int]:
    """The lines on which something is decided by the text of an error."""
    tree = ast.parse(text)
    caught = {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others):
                if any(_is_message(part, caught) for part in (left, *others)):
                    yield node.lineno
            case ast.Call(func=ast.Attribute(value=value, attr=name), args=arguments):
                if name in DECIDING and _is_message(value, caught):
                    yield node.lineno
                if name in LOOKED_FOR and any(_is_message(part, caught) for part in arguments):
                    yield node.lineno


@pytest.mark.parametrize(
    "text",
    [
        'if "x" in str(error): pass',
        'key = hints[str(error).partition("=")[0]]',
        're.search("x", str(error))',
        'found = error.args[0] == "x"',
        'f"{error}".startswith("x")',
    ],
)
def test_the_search_below_finds_what_it_looks_for(text: str) -> None:
    assert list(decisions(f"try:\n    pass\nexcept ValueError as error:\n    {text}")) == [4]


def test_nothing_is_decided_by_the_wording_of_a_message() -> None:
    files = sorted(SOURCE.rglob("*.py"))
    assert len(files) > 100
    found = {
        f"{file.relative_to(SOURCE)}:{line}"
        for file in files
        for line in decisions(file.read_text(encoding="utf-8"))
    }
    assert found == set()


def test_what_an_error_reveals_can_be_left_out() -> None:
    error = InputError("7 is a number.", parameter="label", reveals="One class is 'cat'.")
    assert str(error) == "7 is a number. One class is 'cat'."
    assert error.discreet == "7 is a number."
    assert error.parameter == "label"


def test_an_error_is_the_same_in_another_process() -> None:
    error = pickle.loads(pickle.dumps(InputError("wrong.", parameter="gap", reveals="cat")))  # noqa: S301
    assert (str(error), error.parameter, error.discreet) == ("wrong. cat", "gap", "wrong.")


def test_an_option_that_an_algorithm_does_not_take_is_known_by_its_type() -> None:
    with pytest.raises(UnknownOptionError, match="does not take gamma"):
        mp.create_campaign("memory://options", "n", models=2, options={"gamma": 1})


def test_a_path_is_shown_as_it_is_written() -> None:
    assert brief(Path("results.json")) == "'results.json'"
