"""Grammars out of other people's repositories, as they stand there.

What cannot be read stands in ``ratchets/people.txt`` with the reason, one ``name<TAB>reason`` a
line; the list may only shrink. What the command line has to be told of the others stands in
``tests/support/corpus/people.py``.
"""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support import ROOT, assert_in_order, reasons
from support.corpus.people import NEEDS

from constrain.compiler.diagnostics import GrammarError
from constrain.compiler.dialects import dialect_of
from constrain.compiler.dialects.ebnf.definitions import read_definitions
from constrain.compiler.dialects.ebnf.foreign import why_unread
from constrain.compiler.frontend import read_checked
from constrain.compiler.grammar.tree import Grammar
from constrain.compiler.options import CompileOptions

RATCHET = ROOT / "tests" / "ratchets" / "people.txt"

Find = Callable[[str], Path]


def read(path: Path, needs: Mapping[str, Any]) -> Grammar:
    """The grammar of a file, as commands read it. Raises ``GrammarError``, and ``ValueError`` for
    a file that is of no dialect."""
    dialect = needs.get("dialect") or dialect_of(path.name)
    if dialect is None:
        raise ValueError(why_unread(path.name.replace("__src_", "/")))
    options = CompileOptions(
        dialect=dialect,
        is_guessed="dialect" not in needs and path.suffix == ".ebnf",
        start=needs.get("start"),
        define=read_definitions(needs.get("define", ())),
        imports=str(path.parent),
    )
    return read_checked(path.read_text(encoding="utf-8"), options, path.name)


def files(data: Find) -> list[Path]:
    """All grammars of the collection."""
    paths = sorted(data("grammars/people").iterdir())
    return [path for path in paths if path.name != "INDEX.md"]


def test_the_ratchet_is_in_order() -> None:
    """Sorted, each name once, each with a reason."""
    assert_in_order(RATCHET)


def test_all_are_read_but_those_of_the_ratchet(data: Find) -> None:
    """And all of those are not; every definition is of use."""
    failed, unused, paths = {}, {}, files(data)
    for path in paths:
        try:
            grammar = read(path, NEEDS.get(path.name, {}))
        except (GrammarError, ValueError) as error:
            failed[path.name] = str(error)
        else:
            unused[path.name] = [n.message for n in grammar.notes if "changes nothing" in n.message]

    assert 107 == len(paths)
    known = reasons(RATCHET)
    assert {} == {name: text for name, text in failed.items() if name not in known}
    assert [] == [name for name in known if name not in failed]
    assert {} == {name: notes for name, notes in unused.items() if notes}


def test_nothing_is_said_in_vain(data: Find) -> None:
    """Without what ``NEEDS`` says of a file it is not read, or is read as another dialect."""
    for path in files(data):
        needs = NEEDS.get(path.name, {})
        if set(needs) - {"start"}:
            try:
                grammar = read(path, {})
            except GrammarError:
                continue
            assert grammar.source.dialect != needs.get("dialect"), path.name


@pytest.mark.parametrize(
    ("name", "text", "other"),
    [
        ("abnf__rfc3339.abnf", "2024-02-29T12:00:00Z", "2024-02-29"),
        ("chessnote__docs_grammar.ebnf", '[Event"x"]1.e4e5*', "1.e9"),
        ("cool__docs_grammar.ebnf", "a.b_c.d", "a..b"),
        ("wild__relop.ebnf", 'SELECT*FROMtWHEREa="x";', "SELECT*"),
        ("wild__mathic.ebnf", "dff(){returnx;}", "dff(){return}"),
        ("pl0__grammar_en.ebnf", "FUNIDENT()BEGINBREAKEND", "FUN"),
    ],
)
def test_members_are_those_of_the_author_s_grammar(
    data: Find, name: str, text: str, other: str
) -> None:
    """As the rules say, without what a lexer would ignore."""
    from constrain.compiler.frontend import Parser
    from constrain.compiler.pipeline import build_engine

    path, needs = data(f"grammars/people/{name}"), NEEDS.get(name, {})
    found = build_engine(
        path.read_text(encoding="utf-8"),
        dialect=needs.get("dialect") or dialect_of(name) or "",
        is_guessed=True,
        start=needs.get("start"),
        define=read_definitions(needs.get("define", ())),
        engine="earley",
        name=name,
    )
    assert isinstance(found, Parser)
    for each, is_member in ((text, True), (other, False)):
        earley = found.recogniser()
        fed = earley.feed(each.encode())

        assert is_member == (fed == len(each) and earley.is_accepting), each
