"""What Lark's grammars import, override and extend, against Lark itself."""

# Tests here say `expected == actual`.

import random
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from lark import Lark
from lark.exceptions import UnexpectedInput
from support import constrain

from constrain.compiler import artifact_key
from constrain.compiler.diagnostics import CheckError, DialectError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.frontend import Automaton
from constrain.compiler.options import CompileOptions
from constrain.compiler.pipeline import build_engine

TEXTS = ["".join(letters) for n in range(5) for letters in product("abcd", repeat=n)]


def members(grammar: str, **options: Any) -> set[str]:
    """Of ``TEXTS``, those that a grammar has."""
    found = build_engine(grammar, dialect="lark", **options)
    assert isinstance(found, Automaton)
    return {text for text in TEXTS if found.dfa.accepts(text.encode())}


def members_by_lark(grammar: str, beside: Path, include: list[str]) -> set[str]:
    """The same, by Lark."""
    parser = Lark(grammar, source_path=str(beside / "main.lark"), import_paths=include)

    def reads(text: str) -> bool:
        try:
            parser.parse(text)
        except UnexpectedInput:
            return False
        return True

    return {text for text in TEXTS if reads(text)}


def written(folder: Path, files: Mapping[str, str]) -> None:
    """The files below a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def test_random_grammars_are_those_of_lark(tmp_path: Path, full: bool) -> None:
    """Relative and absolute imports with and without an alias, lists, and changes of what was
    imported, which what was imported with it sees."""
    rng = random.Random(36)
    written(
        tmp_path,
        {
            "here/near.lark": '%import deep.far (leaf, T)\nnode: leaf node | T\nother: "d" T\n',
            "there/deep/far.lark": 'leaf: A | own\nown: "b"\nA: "a"\nT: "c" | A A\n',
            "there/next.lark": 'node: "dd"\n',
        },
    )
    here, there = tmp_path / "here", [str(tmp_path / "there")]
    imports = {
        "%import .near.node": ["node"],
        "%import .near.node -> item": ["item"],
        "%import .near (node, other)": ["node", "other"],
        "%import deep.far.leaf": ["leaf"],
        "%import deep.far (leaf, own)": ["leaf", "own"],
        "%import deep.far.own -> least": ["least"],
        "%import next.node -> far": ["far"],
    }
    bodies = ['"a"', '"b" "c"', '"d" | "cc"', '"b"? "a"']
    for _ in range(60 if full else 11):
        # Lark takes the names of one import of a file alone.
        lines = rng.sample(sorted(imports), rng.randint(1, 3))
        lines = list({line[8:13]: line for line in lines}.values())
        names = [name for line in lines for name in imports[line]]
        changed = rng.sample(names, rng.randint(0, 2 if len(names) > 1 else 1))
        lines += [
            f"{rng.choice(['%override', '%extend'])} {name}: {rng.choice(bodies)}"
            for name in changed
        ]
        rng.shuffle(lines)
        grammar = "\n".join([f"start: {' | '.join(names)}", *lines]) + "\n"
        theirs = members_by_lark(grammar, here, there)

        assert theirs == members(grammar, imports=str(here), include=tuple(there)), grammar


def test_the_command_line_finds_what_is_included(tmp_path: Path) -> None:
    """For relative and absolute imports, from standard input, too."""
    written(tmp_path, {"lib/a/b.lark": 'x: "ab"\n', "main.lark": "%import a.b.x\nstart: x\n"})
    include = ("--include", str(tmp_path / "lib"))

    assert constrain("sample", str(tmp_path / "main.lark"), *include).stdout == b"ab\n"
    piped = b"%import .a.b.x\nstart: x\n"
    assert constrain("sample", "-d", "lark", "-", *include, stdin=piped).stdout == b"ab\n"
    alone = constrain("check", str(tmp_path / "main.lark"))
    assert alone.returncode == 2
    assert b"--include DIR" in alone.stdout + alone.stderr


def test_links_do_not_lead_out_of_an_included_folder(tmp_path: Path) -> None:
    """As out of the folder beside the grammar."""
    written(tmp_path, {"secret.lark": 'x: "a"\n', "lib/own.lark": 'x: "a"\n'})
    (tmp_path / "lib" / "link.lark").symlink_to(tmp_path / "secret.lark")

    with pytest.raises(DialectError, match="leads out of the folder"):
        members("%import link.x\nstart: x\n", include=(str(tmp_path / "lib"),))


def test_lark_s_own_grammars_are_those_of_the_package() -> None:
    """``unicode`` as it stands there."""
    grammar = "start: WS_INLINE\n%import unicode.WS_INLINE\n"
    dfa = build_engine(grammar, dialect="lark")
    assert isinstance(dfa, Automaton)
    for text in (" ", "\t\xa0", "\xa0 ", "a", "", "\n"):
        theirs = text != "" and not text.strip(" \t\xa0")

        assert theirs == dfa.dfa.accepts(text.encode())


def test_what_is_not_there_cannot_be_changed() -> None:
    """Nor a template."""
    with pytest.raises(DialectError, match="%extend: there is no 'b' to change"):
        members('start: "a"\n%extend b: "c"\n')
    with pytest.raises(DialectError, match="%override of a template"):
        members('start: t{"a"}\nt{x}: x\n%override t{x}: x x\n')


def test_what_a_file_declares_counts_where_it_is_used(tmp_path: Path) -> None:
    """And may be defined from outside."""
    written(tmp_path, {"a.lark": '%declare T\nx: T\ny: "b"\n'})

    assert {"b"} == members("%import .a.y\nstart: y\n", imports=str(tmp_path))
    with pytest.raises((DialectError, CheckError), match="'T' is declared"):
        members("%import .a.x\nstart: x\n", imports=str(tmp_path))
    told = members("%import .a.x\nstart: x\n", imports=str(tmp_path), define=(("T", "cd?"),))
    assert {"c", "cd"} == told


def test_priorities_of_rules_are_noted_once() -> None:
    """They say which derivation a parser takes; those of terminals, which one a lexer takes."""
    grammar = read_grammar('start: a | b | A\na.2: "a"\nb.1: "a"\nA.1: "a"\n', "lark")

    (note,) = grammar.notes
    assert "the priority of a rule says" in note.message
    assert not read_grammar('start: A\nA.1: "a"\n', "lark").notes


def test_keys_go_by_what_is_imported(tmp_path: Path) -> None:
    """Of included folders, too: another file there is another artifact."""
    written(tmp_path, {"a.lark": 'x: "a"\n'})
    options = CompileOptions(dialect="lark", include=(str(tmp_path),))
    first = artifact_key("%import a.x\nstart: x\n", options)
    written(tmp_path, {"a.lark": 'x: "b"\n'})

    assert first != artifact_key("%import a.x\nstart: x\n", options)
