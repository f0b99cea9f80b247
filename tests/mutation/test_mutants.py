"""Mutants are modules that can be read, differ in one place, and leave alone what is only shown."""

import ast

import pytest
from mutation.mutants import mutants_of
from support import ROOT, python_files

pytestmark = pytest.mark.quick


def changes(source: str) -> set[tuple[str, str]]:
    """What is replaced by what."""
    return {(m.old, m.new) for m in mutants_of(source.encode())}


def test_each_kind_of_change() -> None:
    """The table of kinds, one statement each."""
    assert changes("a < b") == {("a < b", "(a <= b)")}
    assert changes("x = n + m") == {("n + m", "(n - m)")}
    assert changes("x = 7") == {("7", "(8)"), ("7", "(6)")}
    assert changes("x = a and b") == {("a and b", t) for t in ("(a or b)", "(a)", "(b)")}
    assert changes("x = not a") == {("not a", "(a)")}
    assert changes("x = min(a, b)") == {("min(a, b)", "(max(a, b))")}
    assert changes("if a: b = c") == {("a", "True"), ("a", "False")}
    assert changes("check(a)") == {("check(a)", "pass")}
    assert changes("raise E('two', 2)") == {("raise E('two', 2)", "pass")}


def test_what_is_only_read_or_shown_stays() -> None:
    """Annotations, decorators, messages, branches for type checkers."""
    assert changes("def f(a: C[1] = b) -> D[2]: ...") == set()
    assert changes("@f(1)\nclass A(B[2]): ...") == set()
    assert changes("if TYPE_CHECKING: import a") == set()
    assert changes("x = f'{a + 1}'") == set()


def test_places_are_bytes() -> None:
    """Characters before a place that are several bytes, on its line and before it."""
    source = "é = 'é'\nü, x = 'ü', 1\n".encode()
    (more, less) = mutants_of(source)

    assert {more.applied(source), less.applied(source)} == {
        source.replace(b"1", b"(2)"),
        source.replace(b"1", b"(0)"),
    }


@pytest.mark.parametrize("file", [f for f in python_files() if f.parts[0] != "cli"][::40], ids=str)
def test_mutants_of_the_project_can_be_read(file: object) -> None:
    """A few of each file: Python, and another tree than the module's."""
    source = (ROOT / str(file)).read_bytes()
    before = ast.dump(ast.parse(source))

    every = mutants_of(source)
    for mutant in every[:: len(every) // 4 + 1]:
        assert ast.dump(ast.parse(mutant.applied(source))) != before, mutant
