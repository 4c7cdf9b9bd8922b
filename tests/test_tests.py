"""Tests that could not fail are found by reading them: no check at all, checks under a condition alone, `x == x`.

A check is an `assert`, `pytest.raises` or `pytest.fail`, Playwright's `expect`, or a call of a function of the
tests (or of `modelpicker.algorithms.checks`) that checks something itself.
"""

import ast
import os
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest

from modelpicker.algorithms import checks as algorithm_checks

FOLDER = Path(__file__).parent
KNOWN = {"assert", "raises", "warns", "fail", "expect", "assert_allclose"}
EXCEPTIONS = {
    "test_every_algorithm_passes_every_check": "it calls the check that it is given, which raises",
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def functions(tree: ast.AST) -> list[Function]:
    return [node for node in ast.walk(tree) if isinstance(node, Function)]


def names(tree: ast.Module) -> tuple[set[str], set[str]]:
    """What a module defines at its top, and what it imports by name."""
    made = {node.name for node in tree.body if isinstance(node, Function | ast.ClassDef)}
    return made, {alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}


@cache
def calls(node: ast.AST) -> set[str]:
    """What is called anywhere in it, by its last name, as `b` of `a.b()`; and "assert", if anything is asserted."""
    found: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Assert):
            found.add("assert")
        elif isinstance(part, ast.Call):
            found.add(str(getattr(part.func, "id", getattr(part.func, "attr", ""))))
    return found


def checks(node: ast.AST, checkers: set[str]) -> bool:
    return not checkers.isdisjoint(calls(node))


def find_checkers(trees: list[ast.Module]) -> list[set[str]]:
    """For each module the functions and methods that check, of its own and of modules that it imports from."""
    found = [set(KNOWN) for _ in trees]
    seen = [names(tree) for tree in trees]
    before = 0
    while before < (before := sum(map(len, found))):
        own = [
            {made.name for made in functions(tree) if checks(made, known)}
            for tree, known in zip(trees, found, strict=True)
        ]
        for place, (_, imported) in enumerate(seen):
            found[place] |= own[place].union(*(own[i] for i, (made, _) in enumerate(seen) if imported & made))
    return found


def certain(body: list[ast.stmt], counted: set[str], checkers: set[str]) -> bool:
    """Whether a check that counts is reached, or one in each branch of a condition; a loop is taken to run."""
    for statement in body:
        if isinstance(statement, ast.If):
            branches = [certain(branch, checkers, checkers) for branch in (statement.body, statement.orelse)]
            if all(branches):
                return True
            if isinstance(statement.body[-1], ast.Return) and not branches[0]:
                return False
        elif isinstance(statement, ast.For | ast.While | ast.With | ast.Try):
            blocks = statement.body, getattr(statement, "orelse", []), getattr(statement, "finalbody", [])
            opened = any(checks(item, counted) for item in getattr(statement, "items", []))
            if opened or any(certain(block, counted, checkers) for block in blocks):
                return True
        elif checks(statement, counted):
            return True
    return False


def find_faults(tree: ast.Module, checkers: set[str]) -> Iterator[tuple[int, str]]:
    """The lines of tests that could not fail, and why."""
    for made in functions(tree):
        if made.name.startswith("test_") and made.name not in EXCEPTIONS:
            if not checks(made, checkers):
                yield made.lineno, f"{made.name} checks nothing"
            # A helper that checks, as set-ups do, is no excuse where the test's own checks are under a condition.
            elif not certain(made.body, KNOWN if checks(made, KNOWN) else checkers, checkers):
                yield made.lineno, f"{made.name} checks something under a condition only"
    for part in (part for one in ast.walk(tree) if isinstance(one, ast.Assert) for part in ast.walk(one)):
        if isinstance(part, ast.Compare):
            sides = map(ast.unparse, (part.left, *part.comparators))
            if any(one == other for one, other in combinations(sides, 2)):
                yield part.lineno, f"{ast.unparse(part)} compares something with itself"


def test_no_test_is_one_that_could_not_fail() -> None:
    files = [*sorted(FOLDER.rglob("*.py")), Path(str(algorithm_checks.__file__))]
    trees = [ast.parse(file.read_text("utf-8")) for file in files]
    assert sum(made.name.startswith("test_") for tree in trees for made in functions(tree)) > 1_000
    faults = [
        f"{os.path.relpath(file)}:{line}: {fault}"
        for file, tree, checkers in zip(files, trees, find_checkers(trees), strict=True)
        for line, fault in find_faults(tree, checkers)
    ]
    assert not faults, "\n".join(["these could not fail:", *faults])


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("run()", "checks nothing"),
        ("assert run()", None),
        ("helper()", None),
        ("with pytest.raises(ValueError):\n        run()", None),
        ("if run():\n        assert True is run()", "under a condition only"),
        ("if run():\n        assert run()\n    else:\n        helper()", None),
        ("for one in run():\n        if one:\n            helper()", "under a condition only"),
        ("if run():\n        return\n    assert run()", "under a condition only"),
        ("if run():\n        helper()\n        return\n    assert run()", None),
        ("helper()\n    if run():\n        assert run()", "under a condition only"),
        ("assert run(1) == run(1)", "compares something with itself"),
        ("assert run(1) == run(2) == run(1)", "compares something with itself"),
        ("assert run(1) == run(2)", None),
    ],
)
def test_such_tests_are_found(body: str, fault: str | None) -> None:
    trees = [ast.parse(f"from helping import helper\ndef test_it():\n    {body}\n"), ast.parse(HELPING)]
    found = [why for _, why in find_faults(trees[0], find_checkers(trees)[0])]
    assert len(found) == (fault is not None)
    assert fault is None or fault in found[0]


HELPING = "def helper():\n    deeper()\ndef deeper():\n    assert run()\n"
