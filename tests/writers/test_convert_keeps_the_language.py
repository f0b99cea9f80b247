"""`convert` never changes the language in silence: maximal munch, ignored text, every dialect."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from support import EXAMPLES
from support.corpus.recorded import FOLDERS, grammar_of

from constrain.artifacts.errors import ConstrainError
from constrain.cli.app import run
from constrain.compiler.automata.compare import are_equal
from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.dialects import dialect_of
from constrain.compiler.frontend import Automaton, read_checked
from constrain.compiler.options import CompileOptions
from constrain.compiler.pipeline import build_engine
from constrain.compiler.writers import WRITERS
from constrain.compiler.writers.convert import Conversion, convert
from constrain.compiler.writers.printer import WriterError

KEYWORDS = """start: ("if" NAME | NAME "=" NUMBER) ";"
NAME: /[a-z]+/
NUMBER: /[0-9]+/
%ignore " "
"""
NESTED = 'start: "(" start? ")" | NAME\nNAME: /[a-z]+/\n%ignore / +/\n'


def conversion(text: str, dialect: str, target: str, loosen: bool = False) -> Conversion:
    """What `convert` makes of a text."""
    options = CompileOptions(dialect=dialect)
    return convert(read_checked(text, options, "g"), target, options, loosen=loosen)


@cache
def language(text: str, dialect: str, meaning: str | None = None) -> Dfa | None:
    """The automaton of a text in its own meaning; None where it nests or is none."""
    try:
        found = build_engine(text, dialect=dialect, meaning=meaning)
    except ConstrainError:
        return None
    return found.dfa if isinstance(found, Automaton) else None


@pytest.mark.parametrize("target", sorted(WRITERS))
def test_a_regular_grammar_read_by_maximal_munch_is_written_as_its_language(target: str) -> None:
    """`ifa;` of the README's grammar is no member in any dialect."""
    before = language(KEYWORDS, "lark")
    found = conversion(KEYWORDS, "lark", target)
    after = language(found.text, target)
    assert before is not None
    assert after is not None
    assert are_equal(before, after)
    assert [after.accepts(text) for text in (b"ifa;", b"if a;", b"if=1;")] == [False, True, False]
    assert bool(found.notes) == (target != "lark")


@pytest.mark.parametrize("target", sorted(set(WRITERS) - {"lark"}))
def test_a_grammar_that_nests_is_refused_without_loosen(target: str) -> None:
    """With the place of %ignore, and how to have it all the same."""
    with pytest.raises(WriterError, match="gain members") as caught:
        conversion(NESTED, "lark", target)
    (found,) = caught.value.diagnostics
    assert found.span is not None
    assert NESTED[found.span.start : found.span.end] == "/ +/"
    assert found.help is not None
    assert "--loosen" in found.help


def test_loosen_writes_the_rules_and_says_what_was_lost() -> None:
    """The example is a member of the text written, and of the grammar not."""
    found = conversion(KEYWORDS, "lark", "gbnf", loosen=True)
    assert "such as 'ifa;'" in found.notes[0]
    after = language(found.text, "gbnf")
    assert after is not None
    assert after.accepts(b"ifa;")
    nested = conversion(NESTED, "lark", "gbnf", loosen=True)
    assert "texts that maximal munch excludes are members now" in nested.notes[0]
    assert "has no effect" not in nested.notes[0]


def test_loosen_without_effect_is_noted() -> None:
    """Where nothing would be lost."""
    for text, dialect, target in (
        ("[a-z]", "regex", "gbnf"),
        (KEYWORDS, "lark", "lark"),
    ):
        assert "--loosen changes nothing" in conversion(text, dialect, target, loosen=True).notes[0]


def test_a_lazy_terminal_is_written_as_what_it_takes() -> None:
    """In another dialect a lazy quantifier would say nothing."""
    text = 'start: (C | "x")+\nC: /#.*?;/\n%ignore " "\n'
    after = language(conversion(text, "lark", "gbnf").text, "gbnf")
    assert after is not None
    assert after.accepts(b"#a;x")
    assert not after.accepts(b"#a;b;")


def test_ignored_text_that_is_read_exactly_is_written_out_for_lark() -> None:
    """With %ignore, Lark's text would be read by a lexer."""
    text = "s ::= 'if' name ';'\n@terminals\nname ::= [a-z]+\n@pass ' '\n"
    before, found = language(text, "w3c"), conversion(text, "w3c", "lark")
    after = language(found.text, "lark")
    assert before is not None
    assert after is not None
    assert are_equal(before, after)
    assert after.accepts(b"ifa;")
    assert "%ignore" in found.notes[0]


def grammars() -> Iterator[tuple[str, str, str]]:
    """Name, text and dialect of the examples and the recorded cases."""
    paths = [p for folder in FOLDERS if (p := grammar_of(folder)) is not None]
    for path in [*sorted(Path(EXAMPLES).iterdir()), *paths]:
        dialect = dialect_of(path.name)
        if dialect is not None:
            yield f"{path.parent.name}/{path.name}", path.read_text(encoding="utf-8"), dialect


@pytest.mark.parametrize("target", sorted(WRITERS))
def test_every_case_is_converted_to_the_same_language_or_refused(target: str, full: bool) -> None:
    """Each in its own meaning, read again in the meaning of the text that was written."""
    wrong, converted = [], 0
    for name, text, dialect in list(grammars())[:: 1 if full else 28]:
        before = language(text, dialect)
        if before is None or before.table.shape[1] > before.byte_columns:
            continue
        try:
            written = conversion(text, dialect, target).text
        except ConstrainError:
            continue
        after = language(written, target)
        converted += 1
        if after is None or not are_equal(before, after):
            wrong.append(name)
    assert not wrong
    assert converted > (50 if full else 3)


def test_the_command_refuses_and_loosens(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Exit code 2 with the place; 0 and a note on stderr."""
    path = tmp_path / "nested.lark"
    path.write_text(NESTED, encoding="utf-8")
    assert run(["convert", str(path), "--to", "gbnf"]) == 2
    assert b"nested.lark:3:9: error: gbnf has no lexer" in capsysbinary.readouterr().err
    assert run(["convert", str(path), "--to", "gbnf", "--loosen"]) == 0
    captured = capsysbinary.readouterr()
    assert captured.out.startswith(b"root ::=")
    assert captured.err.startswith(b"note: gbnf has no lexer: texts that")
    assert run(["convert", str(path), "--to", "gbnf", "--meaning", "exact"]) == 0
