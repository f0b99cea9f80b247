"""Lark's templates and imports, and what llguidance adds: & and ~, lazy, suffix, stop, counts."""

import random
import re
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from support import constrain
from support.automata import build_automaton

from constrain.compiler import compile_grammar, load_tokenizer
from constrain.compiler.coverage.captures import captures_of
from constrain.compiler.diagnostics import CheckError, DialectError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.frontend import Automaton
from constrain.compiler.pipeline import build_engine

pytestmark = pytest.mark.quick

ALPHABET = "ab"
TEXTS = ["".join(letters) for length in range(6) for letters in product(ALPHABET, repeat=length)]


def members(grammar: str, **options: Any) -> set[str]:
    """Which of the texts are members of a grammar, by the exact meaning."""
    try:
        found = build_automaton(grammar, dialect="lark", meaning="exact", **options).dfa
    except CheckError as error:
        assert "is an empty language" in str(error)
        return set()
    return {text for text in TEXTS if found.accepts(text.encode())}


def bodies(seed: int, count: int) -> Iterator[str]:
    """Random regexes over the alphabet."""
    rng = random.Random(seed)

    def body(depth: int) -> str:
        kind = rng.randrange(5 if depth else 1)
        if kind == 0:
            return rng.choice([*ALPHABET, "[ab]", "(?:ab)"])
        if kind == 1:
            return f"(?:{body(depth - 1)}|{body(depth - 1)})"
        if kind == 2:
            return f"(?:{body(depth - 1)}){rng.choice('*+?')}"
        return body(depth - 1) + body(depth - 1)

    return (body(3) for _ in range(count))


def of_regex(regex: str, longest: int = 9) -> set[str]:
    """All members up to a length, by Python's own."""
    compiled = re.compile(regex)
    every = ("".join(t) for n in range(longest + 1) for t in product(ALPHABET, repeat=n))
    return {text for text in every if compiled.fullmatch(text)}


def test_lazy_suffix_and_stop_end_at_the_first_place(full: bool) -> None:
    """On random regexes: the members that no shorter text begins; with what ends them."""
    for body in bodies(5, 25 if full else 4):
        language = of_regex(body)

        def shortest(found: set[str]) -> set[str]:
            return {t for t in found if not any(t[:i] in found for i in range(1, len(t)))}

        assert members(f"start[lazy]: /{body}/") == shortest(language) & set(TEXTS)
        for end in ("a", "ab", "aba"):
            ended = shortest({text + end for text in language})
            for attribute in ("suffix", "stop"):
                assert members(f'start[{attribute}="{end}"]: /{body}/') == ended & set(TEXTS)


def test_ignored_text_stands_around_what_attributes_and_operations_shape() -> None:
    """Read by maximal munch, as such grammars are: between lexemes, not inside of them."""
    tokenizer = load_tokenizer()

    def accepts(grammar: str, text: str) -> bool:
        made = compile_grammar(
            f'{grammar}\n%ignore " "', dialect="lark", tokenizer=tokenizer, tokenization="any"
        )
        ids, matcher = tokenizer.encode(text), made.matcher()
        return matcher.accept(ids) == len(ids) and matcher.is_accepting

    for attribute in ("lazy", 'suffix="b"', 'stop="b"'):
        body = "a*b" if attribute == "lazy" else "a*"
        grammar = f'start: "(" x ")"\nx[{attribute}]: /{body}/'
        assert accepts(grammar, " ( aab ) ")
        assert not accepts(grammar, "(a ab)")
    grammar = 'start: A\nA: /[ab]+/ & ~"ab"'
    assert accepts(grammar, " aba ")
    assert not accepts(grammar, "ab")


def test_operations_on_terminals_are_those_on_sets() -> None:
    """& and ~ of random regexes, references to terminals and brackets; ~ binds tightest."""
    every = set(TEXTS)
    for one, two in zip(bodies(6, 12), bodies(7, 12), strict=True):
        left, right = of_regex(one) & every, of_regex(two) & every
        rest = f"\nA: /{one}/\nB: /{two}/"
        assert members(f"start: C\nC: A & B{rest}") == left & right
        assert members(f"start: C\nC: A & ~B{rest}") == left - right
        assert members(f"start: C\nC: ~A & ~(B | A){rest}") == every - left - right
        assert members(f"start: C\nC: ~A & B | A{rest}") == (right - left) | left
    assert members('start: C\nC: ~"a" & /b*/') == {"b" * n for n in range(6)}


def test_a_template_is_a_rule_for_each_of_its_arguments() -> None:
    """Also inside itself, in templates, and with expressions for arguments."""
    grammar = """
        start: _list{A, "b"} | wrap{pair{"b", A}} | tree{"a"}
        _list{item, sep}: item (sep item)*
        pair{x, y}: x y
        wrap{x}: "b" x "b"
        tree{leaf}: "b" tree{leaf} | leaf
        A: "a"
    """
    of_trees = {"b" * n + "a" for n in range(5)}
    assert members(grammar) == {"aba", "ababa", "bbab", *of_trees}


def test_imported_rules_bring_what_they_use(tmp_path: Path) -> None:
    """Names that both files have stay two; an alias; from standard input there is no folder."""
    (tmp_path / "more").mkdir()
    base = '%import .tail.end -> last\nitem: inner last\ninner: A+\nA: "a"\nB: A "b"\n'
    (tmp_path / "more" / "base.lark").write_text(base, encoding="utf-8")
    (tmp_path / "more" / "tail.lark").write_text('end: A\nA: "bb"\n', encoding="utf-8")
    grammar = (
        '%import .more.base (item, B)\n%import .more.base.A -> X\nstart: item | A B X\nA: ""\n'
    )
    assert members(grammar, imports=str(tmp_path)) == {"abb", "aabb", "aaabb", "aba"}
    with pytest.raises(DialectError, match="not supported here"):
        members(grammar)
    (tmp_path / "g.lark").write_text(grammar, encoding="utf-8")
    told = constrain("explain", "g.lark", "-", stdin=b"aabb", folder=tmp_path)
    assert (told.returncode, told.stderr) == (0, b"")


@pytest.mark.parametrize("char", "kKsſ\u212aaéµσςßǆ1")
def test_a_text_in_all_cases_has_those_of_python_s_re(char: str) -> None:
    """Of one character, and of nothing longer; the two without a dot, or with one, apart."""
    found = build_automaton(f'start: "{char}"i', dialect="lark").dfa
    every = {chr(code) for code in range(0x2200)} - {*"\u0130\u0131"}
    expected = {other for other in every if re.fullmatch(char, other, re.IGNORECASE)}
    assert expected == {other for other in every if found.accepts(other.encode())}


@pytest.mark.parametrize(
    "text",
    [
        'start: t{"a"}\nt{x}: ' + " ".join(f't{{x "{i}"}}' for i in range(300)),
        "start: t\nt{" + ",".join(f"p{i}" for i in range(20_000)) + ',p0}: "a"',
        "start: t\nt[" + ",".join(f"p{i}" for i in range(20_000)) + ']: "a"',
        "start: t\nt[max_tokens=5]: A\nA: B\nB: A",
        "start: A\nA[max_tokens=5]: A",
    ],
    ids=["uses", "parameters", "attributes", "circle", "itself"],
)
def test_templates_and_attributes_are_read_in_linear_time(text: str) -> None:
    """Any number of them, of templates that use themselves too, and of names in a circle."""
    begin = time.process_time()
    with pytest.raises(DialectError):
        read_grammar(text, "lark")
    assert time.process_time() - begin < 3


def test_uses_of_templates_inside_each_other_have_any_depth() -> None:
    """Python's stack does not end there."""
    grammar = read_grammar(f'start: {"t{" * 1_500}"a"{"}" * 1_500}\nt{{x}}: x x?\n', "lark")
    assert len(grammar.rules) == 1_501


def test_rules_of_long_uses_have_short_names() -> None:
    """They are names, and not copies of a text for each use."""
    long = "b" * 50_000
    uses = " ".join(f'u{{"{i}"}}' for i in range(20))
    grammar = read_grammar(f'start: {uses}\nu{{x}}: t{{x,"{long}"}}\nt{{x,y}}: x y\n', "lark")
    names = [rule.name for rule in grammar.rules]
    assert len(set(names)) == 41
    assert max(map(len, names)) < 1_100


def test_files_that_import_each_other_in_any_number_are_read_once_or_refused(
    tmp_path: Path,
) -> None:
    """Each imports two names from the next: read again for each, the last is read 2^18 times. A
    chain too long is refused before Python's stack ends, and so are links that lead back and a file
    of any size. A byte order mark is none of their text."""
    (tmp_path / "loop").symlink_to(".", target_is_directory=True)
    for i in range(300):
        nested = f"%import .f{i + 1}.a -> b\n%import .f{i + 1}.c -> d\n"
        more = nested if i not in (18, 299) else 'b: "a"\nd: "b"\n'
        (tmp_path / f"f{i}.lark").write_bytes(f"\ufeff{more}a: b\nc: d\n".encode())
    (tmp_path / "back.lark").write_text("%import .loop.back.a -> b\na: b\n", encoding="utf-8")
    with (tmp_path / "large.lark").open("wb") as large:
        large.truncate(1 << 33)

    assert members("%import .f0.a\n%import .f0.c\nstart: a c\n", imports=str(tmp_path)) == {"ab"}
    for name, message in {
        "f19": "more than 20 files import each other in a row",
        "back": "back.lark imports itself",
        "large": "it has more than 16,777,216 bytes",
    }.items():
        with pytest.raises(DialectError, match=message):
            members(f"%import .{name}.a\nstart: a\n", imports=str(tmp_path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "base.lark cannot be read"),
        (b"\xff", "it is not UTF-8"),
        (b'x: "a"', "base.lark has no 'item'"),
        (b'%import .base.item -> other\nitem: "a"', "base.lark imports itself"),
        (b"item: )", r"base.lark:1:7: error: unexpected"),
        (b"item: %json {}", "a JSON Schema inside"),
    ],
)
def test_what_cannot_be_imported(tmp_path: Path, content: bytes | None, message: str) -> None:
    """The file and the reason."""
    if content is not None:
        (tmp_path / "base.lark").write_bytes(content)
    with pytest.raises(DialectError, match=message):
        members("%import .base.item\nstart: item", imports=str(tmp_path))


def test_max_tokens_counts_tokens() -> None:
    """Of any text, and of nothing else; what it has read is captured without counting."""
    tokenizer = load_tokenizer()
    grammar = 'start: gen "." \ngen[max_tokens=2, capture]: TEXT\nTEXT: /(.|\\n)*/\n'
    artifact = compile_grammar(
        grammar, dialect="lark", tokenizer=tokenizer, tokenization="any", meaning="exact"
    )
    assert captures_of(artifact, b"the of.") == {"gen": [(0, 6)]}
    (point,) = tokenizer.encode(".")
    word, other = tokenizer.encode("the")[0], tokenizer.encode(" of")[0]
    for taken in ([], [word], [word, other]):
        matcher = artifact.matcher()
        assert matcher.accept([*taken, point]) == len(taken) + 1
        assert matcher.is_accepting
    assert artifact.matcher().accept([word, other, word]) == 2


def test_a_lexer_takes_what_attributes_and_operations_leave() -> None:
    """By maximal munch, beside ignored text: a lazy text ends at its first b, a name is no "ab"."""
    grammar = """
        start: (LAZY | NAME | "ab" NAME)+
        LAZY[lazy]: "x" /.*/ "b"
        NAME: /[a-b]+/ & ~"ab"
        %ignore " "
    """
    recogniser = build_engine(grammar, dialect="lark")
    assert isinstance(recogniser, Automaton)
    wanted = {
        "xab": True,
        "xabb": True,  # xab, then the name b
        "x b": True,
        "xa": False,
        "ab": False,
        "ab b": True,
        "ab ab": False,
        "aba ab a": True,
    }
    assert {text: recogniser.dfa.accepts(text.encode()) for text in wanted} == wanted
