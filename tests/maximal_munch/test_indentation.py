"""INDENT and DEDENT against Lark's own ``Indenter``, on random programs and on standard modules."""

import random
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from lark import Lark
from lark.exceptions import UnexpectedInput
from lark.indenter import DedentError, Indenter, PythonIndenter

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.growing import GrowingArtifact
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.tokenset import contains
from constrain.compiler import compile_grammar, load_tokenizer
from constrain.compiler.diagnostics import CheckError, DialectError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.limits import Limits
from constrain.compiler.maximal_munch.lexemes import as_lexed, lexeme_grammar
from constrain.compiler.maximal_munch.lexer_tables import tables_over
from constrain.compiler.maximal_munch.to_dfa import text_machine
from constrain.compiler.network.from_tree import numbered

PYTHON = r"""
start: (_NEWLINE | stmt)*
?stmt: simple_stmt | if_stmt | while_stmt | try_stmt | funcdef | classdef
simple_stmt: small (";" small)* [";"] _NEWLINE
small: expr | NAME "=" expr | "return" [expr] | "pass"
if_stmt: "if" expr ":" suite elifs ["else" ":" suite]
elifs: elif_*
elif_: "elif" expr ":" suite
while_stmt: "while" expr ":" suite ["else" ":" suite]
try_stmt: "try" ":" suite except_clause+ ["else" ":" suite] [finally] | "try" ":" suite finally
finally: "finally" ":" suite
except_clause: "except" [expr] ":" suite
funcdef: "def" NAME "(" [NAME ("," NAME)*] ")" ":" suite
classdef: "class" NAME ":" suite
suite: simple_stmt | _NEWLINE _INDENT stmt+ _DEDENT
expr: term (("+"|"-") term)*
term: atom (("*"|"/") atom)*
atom: NAME trailer* | NUMBER | STRING | "(" expr ")" | "[" [expr ("," expr)*] "]" | "{" "}"
trailer: "." NAME | "(" [expr ("," expr)*] ")"
NAME: /[A-Za-z_][A-Za-z_0-9]*/
NUMBER: /[0-9]+(\.[0-9]+)?/
STRING: /"([^"\\\n]|\\[^\n])*"/
COMMENT: /#[^\n]*/
_NEWLINE: ( /\r?\n[\t ]*/ | COMMENT )+
%ignore /[\t \f]+/
%ignore /\\[\t \f]*\r?\n/
%ignore COMMENT
%declare _INDENT _DEDENT
"""

# An outline, without brackets; comments are no part of its line breaks.
OUTLINE = r"""
start: _NL? item+
item: NAME _NL [_INDENT item+ _DEDENT]
NAME: /[a-z]+/
_NL: /(\r?\n[\t ]*)+/
COMMENT: /#[a-z ]*/
%ignore COMMENT
%ignore " "
%declare _INDENT _DEDENT
"""

# A block may stand wherever a line may, so right after another one.
BLOCKS = r"""
start: (line | block)+
block: INDENT (line | block)+ DEDENT
line: NAME~1..2 NL
NAME: /[a-z]+/
NL: /\n[\t ]*/
%ignore / +/
%declare INDENT DEDENT
"""

# What ends a text needs no line break.
OPEN = r"""
start: item
item: "do" _NL _INDENT item (_NL item)* _DEDENT | NAME | "{" NAME* "}"
NAME: /[a-z]+/
_NL: /(\n *)+/
%ignore " "
%declare _INDENT _DEDENT
"""


class Outline(Indenter):
    """An indenter as grammars without brackets have it."""

    NL_type, INDENT_type, DEDENT_type, tab_len = "_NL", "_INDENT", "_DEDENT", 8
    OPEN_PAREN_types, CLOSE_PAREN_types = ["LBRACE"], ["RBRACE"]


class Blocks(Outline):
    """With other names."""

    NL_type, INDENT_type, DEDENT_type, tab_len = "NL", "INDENT", "DEDENT", 4


class Ours:
    """A grammar as it is compiled here."""

    def __init__(self, grammar: str, **options: Any) -> None:
        self.tokenizer = load_tokenizer()
        given: dict[str, Any] = {"dialect": "lark", "tokenization": "any", "prewarm": 0}
        self.made: Artifact = compile_grammar(grammar, tokenizer=self.tokenizer, **given | options)

    def read(self, text: str) -> int:
        """How many characters of a text are those of a member's beginning; one more than there are
        if it is one."""
        matcher = self.made.matcher()
        count = matcher.accept([self.tokenizer.encode(letter)[0] for letter in text])
        return count + (count == len(text) and matcher.is_accepting)

    def accepts(self, text: str) -> bool:
        """Whether a text is a member."""
        return self.read(text) > len(text)


def refusal(parser: Lark, text: str) -> Exception | None:
    """Why Lark refuses a text."""
    try:
        parser.parse(text)
    except (UnexpectedInput, DedentError) as error:
        return error
    return None


def where_refused(parser: Lark, text: str) -> int:
    """What stands after the blanks that no block has."""
    place = 0
    with suppress(DedentError):
        for token in parser.lex(text):
            place = token.end_pos or place
    return place


def gap(rng: random.Random) -> str:
    """Now and then lines that do not count."""
    lines = ["\n", "   \n", "# note\n", "  # note\n", "\t\n"]
    return "".join(rng.choices(lines, k=rng.choice([0, 0, 0, 1, 2])))


def expression(rng: random.Random, depth: int = 2) -> str:
    """With line breaks inside brackets."""
    if not depth or rng.random() < 0.4:
        return rng.choice(["a", "bc", "12", '"# ( x"', "{}"])
    inside = [expression(rng, depth - 1) for _ in range(rng.randint(1, 3))]
    comma = rng.choice([", ", ",\n", ",  # why\n  ", ",\n\n      "])
    end = rng.choice(["", "\n", "\n# c\n  "])
    form = rng.choice(["f({})", "({}", "[{}]", "{} + {}", "f.g({})"])
    if form == "{} + {}":
        return f"{inside[0]} {rng.choice(['+', '*', chr(92) + chr(10) + ' -'])} {inside[-1]}"
    if form == "({}":
        return f"({end}{inside[0]}{end})"
    return form.format(f"{end}{comma.join(inside)}{end}")


def suite(rng: random.Random, before: str, depth: int) -> Iterator[str]:
    """A block below a line; of blanks and tabs, one as wide as eight or less."""
    if rng.random() < 0.2:
        yield f" a = {expression(rng, 1)}\n"
        return
    yield rng.choice(["\n", " # why\n", "\r\n"]) + gap(rng)
    if len(before.expandtabs()) < 20:
        before += rng.choice([" ", "  ", "    ", "\t"])
    else:
        before += " "
    for _ in range(rng.randint(1, 3)):
        yield from statement(rng, before, depth - 1)


def statement(rng: random.Random, before: str, depth: int) -> Iterator[str]:
    """One statement, by lines."""
    heads = [["if a:"], ["if a:", "elif b:", "else:"], ["while a:", "else:"], ["def f(a, b):"]]
    heads += [["try:", "except a:", "finally:"], ["class A:"], ["try:", "finally:"]]
    if not depth or rng.random() < 0.5:
        yield f"{before}{rng.choice(['x = ', '', 'return '])}{expression(rng)}\n{gap(rng)}"
        return
    for head in rng.choice(heads):
        yield before + head
        yield from suite(rng, before, depth)


def program(rng: random.Random) -> str:
    """A few statements."""
    return gap(rng) + "".join(
        part for _ in range(rng.randint(1, 3)) for part in statement(rng, "", 3)
    )


def broken(rng: random.Random, text: str) -> str:
    """A text in which one line begins elsewhere."""
    lines = text.split("\n")
    number = rng.randrange(len(lines))
    line = lines[number].lstrip(" \t")
    blanks = lines[number][: len(lines[number]) - len(line)]
    other = rng.choice([blanks + " ", blanks + "\t", blanks[:-1], "", "   ", "\t "])
    return "\n".join([*lines[:number], other + line, *lines[number + 1 :]])


@pytest.fixture(scope="module")
def python() -> tuple[Ours, Lark]:
    return (
        Ours(PYTHON, define=(("widest_indent", "40"),)),
        Lark(PYTHON, parser="lalr", postlex=PythonIndenter()),
    )


def test_random_programs_are_those_of_lark(python: tuple[Ours, Lark], full: bool) -> None:
    """Right ones and ones with a line that begins elsewhere: the same are members, and where no
    block is as wide as that line, it is not read any further."""
    ours, theirs = python
    rng, counts = random.Random(1), [0, 0, 0]
    for _ in range(2_000 if full else 20):
        text = program(rng)
        assert ours.accepts(text), text
        assert refusal(theirs, text) is None, text
        changed = broken(rng, text)
        if changed != changed.rstrip(" \t"):
            continue  # As of short texts.
        why, read = refusal(theirs, changed), ours.read(changed)

        assert (why is None) == (read > len(changed)), changed
        counts[0] += why is None
        if isinstance(why, DedentError):
            place = where_refused(theirs, changed)
            assert changed.rindex("\n", 0, place) < read <= place, changed
            counts[1] += 1
        counts[2] += why is not None
    assert min(counts) > 2, counts


@pytest.mark.parametrize(
    ("grammar", "indenter", "marks", "define"),
    [
        (OUTLINE, Outline(), "ab\n\n    \t# ", ()),
        (BLOCKS, Blocks(), "ab\n\n    \t", (("tab_len", "4"),)),
        (OPEN, Outline(), "ab\n\n   {}", ()),
    ],
)
def test_random_texts_are_those_of_lark(
    grammar: str, indenter: Indenter, marks: Sequence[str], define: Any, full: bool
) -> None:
    """Of short texts, which are mostly none, and of lines that begin somewhere."""
    ours = Ours(grammar, define=(*define, ("widest_indent", "20")))
    theirs = Lark(grammar, parser="lalr", postlex=indenter)
    rng, members = random.Random(2), 0
    for number in range(6_000 if full else 120):
        text = "".join(rng.choices(marks, k=rng.randint(1, 9)))
        if number % 4:
            words = ["a", "b a"] if "do" not in grammar else ["do", "a", "{a\n b}", "do"]
            wide = [0, 0, 2, 2, 4, 6, 8]
            lines = [" " * rng.choice(wide) + rng.choice(words) for _ in range(rng.randint(1, 5))]
            text = "\n".join(lines).lstrip() + rng.choice(["\n", ""])
        if text != text.rstrip(" \t") and "\n" in text:
            continue  # Lark takes a last line of blanks that are as wide as some block.
        if grammar == OUTLINE and re.search(r"\n[ \t]*#[a-z \t]*\n", text):
            continue  # After a line of a comment alone Lark begins a line break of its own.
        try:
            why = refusal(theirs, text)
        except IndexError:  # A text whose last line break has no line feed.
            continue
        assert (why is None) == ours.accepts(text), text
        members += why is None
    assert members > (20 if full else 5)


def test_masks_follow_the_widths_of_blocks(python: tuple[Ours, Lark]) -> None:
    """All tokens of a program are allowed where they stand; after a line break the blanks of a
    block that is open, and no others before something."""
    ours, _ = python
    rng = random.Random(3)
    for _ in range(10):
        matcher = ours.made.matcher()
        for token in ours.tokenizer.encode(program(rng)):
            assert contains(matcher.mask(), token)
            matcher.advance(token)
        assert matcher.is_accepting


def test_masks_when_met_are_those_of_the_file(python: tuple[Ours, Lark], full: bool) -> None:
    """Which has the states of all widths."""
    ours, _ = python
    rng = random.Random(4)
    assert isinstance(ours.made, GrowingArtifact)
    for _ in range(60 if full else 3):
        met, stored = ours.made.matcher(), ours.made.completed.matcher()
        for token in ours.tokenizer.encode(program(rng)):
            mask = met.mask()
            assert np.array_equal(mask, stored.mask())
            others = tokenset.to_ids(mask)
            token = int(rng.choice(others)) if rng.random() < 0.02 else token
            if not contains(mask, token):
                break
            met.advance(token)
            stored.advance(token)


@pytest.mark.parametrize("grammar", [PYTHON, OUTLINE, BLOCKS, OPEN])
def test_one_copy_for_all_widths_has_the_texts_of_a_copy_for_each(grammar: str, full: bool) -> None:
    """Within the widest one, in which no block has a copy that begins another, as Lark's may."""
    tree = read_grammar(grammar, "lark", define=(("widest_indent", "4"),))
    limits = Limits().started()
    machines = []
    for is_once in (False, True):
        found = lexeme_grammar(as_lexed(tree, limits, of_any_width=is_once), limits)
        assert is_once == (found.widths is not None)
        tables = tables_over(found, numbered(found.grammar, limits), limits)
        machines.append(text_machine(tables))
    rng, members = random.Random(6), 0
    words = {PYTHON: ["a\n", "if a:", "else:", "f(\n a)\n"], OPEN: ["do", "a", "{a\n b}"]}
    for _ in range(5_000 if full else 82):
        lines = rng.choices(words.get(grammar, ["a", "b a"]), k=rng.randint(1, 6))
        width, text = 0, ""
        for line in lines:
            text += " " * width + line + "\n" * (not line.endswith("\n"))
            width = max(0, width + rng.choice([-2, -1, 0, 0, 1, 1, 2]))
        text = text[: len(text) - (grammar == OPEN)]
        read = [each.follow(each.start, text.encode()) for each in machines]
        ends = [m.is_accepting(after) for m, (_, after) in zip(machines, read, strict=True)]
        is_whole = [length == len(text) for length, _ in read]
        if " " * 4 not in text:
            assert read[0][0] == read[1][0], text
            assert (is_whole[0] and ends[0]) == (is_whole[1] and ends[1]), text
        members += is_whole[0] and ends[0]
    assert members > 5


@pytest.mark.parametrize("many", ["NAME~0..3000", "(NAME NAME)~2..9000"])
def test_long_repetitions_are_counted_beside_blocks(many: str) -> None:
    """In copies for each width, as frames that count have the numbers of states."""
    rules = OUTLINE.replace("item: NAME _NL", f'item: NAME ":" {many} _NL')
    ours = Ours(rules, define=(("widest_indent", "5"),))

    assert ours.made.manifest.counts["counters"]
    assert ours.accepts("a: b b b b\n  c: d d d d\n    a: b b b b\n  a: a a a a\na: a a a a\n")
    assert not ours.accepts("a: b b b b\n  c: d d d d\n    a: b b b b\n   a: a a a a\na: a a a a\n")


def test_how_wide_and_what_a_tab_is_are_options() -> None:
    """With numbers that are none refused; a note says which hold."""
    texts = ["do\n   a", "do\n    a", "do\n    do\n      a"]
    for widest, expected in (("3", [True, False, False]), ("5", [True, True, False])):
        ours = Ours(OPEN, define=(("widest_indent", widest),))
        assert expected == [ours.accepts(text) for text in texts]
    for tab, wide in (("2", "  "), ("4", "    ")):
        ours = Ours(OUTLINE, define=(("tab_len", tab), ("widest_indent", "9")))
        assert ours.accepts(f"a\n\tb\n{wide}c\n")
        assert not ours.accepts(f"a\n\tb\n{wide[1:]}c\n")
    (note,) = read_grammar(OPEN, "lark").notes
    assert "tab_len=8, widest_indent=64" in note.message
    with pytest.raises(DialectError, match="expected a number from 1 to 999"):
        read_grammar(OPEN, "lark", define=(("tab_len", "x"),))


def test_what_is_defined_from_outside_is_no_indentation() -> None:
    """Then the names are terminals as others are."""
    grammar = "start: _INDENT NAME _DEDENT\nNAME: /[a-z]/\n%declare _INDENT _DEDENT\n"
    ours = Ours(grammar, define=(("_DEDENT", "<"), ("_INDENT", ">")))

    assert ours.accepts(">a<")


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("start: NAME NL INDENT start\n", "INDENT stands alone"),
        ("start: NAME NL (INDENT | NAME) start DEDENT\n", "INDENT stands alone"),
        ('start: NAME "(" NL INDENT start DEDENT\n', "a bracket stands alone"),
        ('start: NAME NL INDENT start ")" DEDENT\n', "a bracket stands alone"),
        ("start: NAME INDENT start DEDENT | NL INDENT DEDENT\n", "here NAME and NL"),
        ("start: NAME | NAME NAME INDENT start DEDENT\n", "NAME is not made of lines"),
        ("start: (NL NAME)~2000 | NL INDENT start DEDENT\n", "at most 1,000"),
    ],
)
def test_what_is_not_indented_so_is_refused(rules: str, message: str) -> None:
    """By name, with what to write."""
    grammar = f"{rules}NAME: /[a-z]/\nNL: /(\\n[ \\t]*)+/\n%declare INDENT DEDENT\n"
    with pytest.raises(CheckError, match=message):
        Ours(grammar)
    with pytest.raises(CheckError, match="the terminal INDENT is for --meaning maximal-munch"):
        Ours(grammar, meaning="exact")
