"""The names of a text are those of its tree, and are there where no tree is."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from support import EXAMPLES

from constrain.artifacts.errors import ConstrainError
from constrain.compiler.diagnostics import Source
from constrain.compiler.dialects import dialect_of, read_grammar
from constrain.compiler.dialects.names import Names, names_of
from constrain.compiler.grammar.tree import Grammar, references
from constrain.compiler.limits import Limits

# Their trees have rules that nobody wrote, or other names than the text.
CHANGED = ("lark", "regex", "json-schema", "structural-tag", "tools", None)


def named(path: Path, text: str | None = None) -> Names:
    """The names of a file, or of another text in its place."""
    text = path.read_bytes().decode("utf-8") if text is None else text
    source = Source(text, str(path), dialect_of(path.name) or "")
    return names_of(source, Limits(), imports=path.parent)


def check_names(grammar: Grammar, names: Names) -> None:
    """All uses and definitions of the tree, at their places, and no others."""
    uses = {use.span for rule in grammar.rules for use in rule.uses}
    uses |= {use.span for body in grammar.ignored for use in references(body)}
    own = {use.span for use in names.uses}
    text, library = grammar.source.text, {rule.name_span for rule in grammar.rules}
    assert uses - library <= own, grammar.source.name
    # What is read over, as EOF and what xgrammar looks ahead for, has names as well.
    assert {text[s.start : s.end] for s in own - uses} <= {"EOF"} or "(=" in text
    defined = {rule.name_span for rule in grammar.rules if rule.name_span not in uses}
    assert defined <= {each.span for each in names.definitions}, grammar.source.name


@pytest.mark.quick
@pytest.mark.parametrize(
    "path",
    [p for p in sorted(EXAMPLES.rglob("*")) if p.is_file() and dialect_of(p.name) not in CHANGED],
    ids=lambda path: path.name,
)
def test_names_are_those_of_the_tree(path: Path) -> None:
    """Of each example."""
    text = path.read_bytes().decode("utf-8")
    grammar = read_grammar(text, dialect_of(path.name) or "", name=str(path))

    check_names(grammar, named(path))


def test_names_are_those_of_the_trees_of_others(data: Callable[[str], Path], full: bool) -> None:
    """Of all grammars at hand that a dialect reads, and of Lark's that nothing rewrites."""
    files = [p for p in sorted(data("grammars").rglob("*")) if p.is_file() and dialect_of(p.name)]
    read = 0
    for path in files if full else files[::7]:
        dialect = dialect_of(path.name)
        if dialect in CHANGED[1:]:
            continue
        try:
            text = path.read_bytes().decode("utf-8").removeprefix("\ufeff")
            grammar = read_grammar(text, dialect or "", name=str(path), imports=path.parent)
        except (ConstrainError, UnicodeDecodeError):
            continue
        if dialect == "lark":
            spans = {each.span for each in named(path).definitions}
            assert spans or "import" in text
        else:
            check_names(grammar, named(path, text))
        read += 1

    assert read > 10


@pytest.mark.quick
def test_prose_is_a_use_of_the_rule_that_it_names() -> None:
    """Of ABNF, in which ``<digit>`` is ``digit``; other prose is a name that nothing defines."""
    source = Source("a = <digit> / <a free text>\ndigit = %x30-39\n", "<text>", "abnf")
    found = names_of(source, Limits())

    assert ["digit", "a free text"] == [use.name for use in found.uses]
    assert "<digit>" == source.text[found.uses[0].span.start : found.uses[0].span.end]


def test_a_broken_rule_hides_no_other(full: bool) -> None:
    """A text in which characters are lost has names still: nothing raises, places are in the text
    and hold the names."""
    chance = random.Random(5)
    paths = [p for p in sorted(EXAMPLES.rglob("*")) if p.is_file() and dialect_of(p.name)]
    for path in paths if full else paths[::4]:
        whole = path.read_bytes().decode("utf-8")
        for _ in range(20 if full else 5):
            begin = chance.randrange(len(whole))
            text = whole[:begin] + whole[begin + chance.randint(1, 9) :]
            names = named(path, text)
            for name in names.known:
                for span in names.places(name):
                    assert 0 <= span.start < span.end <= len(text)
    broken = Source('a ::= b ( ;\nb ::= "x";\nc ::= a', "-", "kbnf")
    assert ["a", "b", "c"] == names_of(broken, Limits()).known
