"""Ignored text of grammars that are read without a lexer, each piece as long as it can be: as
Lark's own Earley parser reads it."""

import random
from collections.abc import Callable

import pytest
from lark import Lark
from lark.exceptions import LarkError
from support.automata import build_automaton
from support.maximal_munch import tokenizer_over

from constrain.compiler import Compiler
from constrain.compiler.automata.dfa import DEAD, Dfa
from constrain.compiler.automata.minimize import minimal
from constrain.compiler.diagnostics import CheckError, LimitError, NotRegularError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.frontend import Automaton
from constrain.compiler.grammar.weave_ignored import weave_ignored
from constrain.compiler.limits import Limits
from constrain.compiler.lnf import longest_ignored, normalize
from constrain.compiler.lnf.automaton import to_nfa
from constrain.compiler.lnf.longest_ignored import weave_longest
from constrain.compiler.lnf.resolve_exclusions import resolve_exclusions
from constrain.compiler.pipeline import build_engine
from constrain.compiler.writers import WRITERS

# Terminals that begin as ignored text does, or as it goes on, and others; none has an alternative
# that begins a longer one, of which Python's regexes would take the shorter.
TERMINALS = ['"a"', '"b"', '":"', '"/"', '"*"', "/[ab]+/", "/[a:]+/", "/a b/", r"/[^;#\n]+;/"]
TERMINALS += ["/ x?/", r"/\/a/", "/x+/", r'"\n"', "/#a/", '"- "', "/é/", "/[é-ü]x/", "/[à-öx]+/"]
IGNORED = [r"/[ \n]+/", '" "', "/ +/", r"/\n/", r"/\/\/[^\n]*/", r"/#[^\n]*/", r"/#[^\n]*\n/"]
IGNORED += [r"/\/\*(.|\n)*?\*\//", r"/\/\*[^*]*\*+([^\/*][^*]*\*+)*\//", "/-+/", '"--"']
IGNORED += ["/#(a b)?/", "/;[ab]*x/", "/- ?/", "/[à-é]+/", "/é ?/"]
LETTERS = "ab:/*;# \nx-()éàü"
PIECES = [" ", "\n", "//a", "#a", "#", "/*", "*/", "/* a */", "- ", "--", "a b", "a", "b", ":", "é"]


def random_expression(rng: random.Random, depth: int, names: list[str]) -> str:
    """An expression over names."""
    kind = rng.random()
    if depth == 0 or kind < 0.45:
        return rng.choice(names)
    if kind < 0.7:
        count = rng.randint(2, 3)
        return " ".join(random_expression(rng, depth - 1, names) for _ in range(count))
    if kind < 0.8:
        return f"({' | '.join(random_expression(rng, depth - 1, names) for _ in range(2))})"
    return f"({random_expression(rng, depth - 1, names)}){rng.choice('?*+')}"


def random_grammar(rng: random.Random) -> str:
    """One or two rules, some of which nest, over some terminals; and ignored text, comments too."""
    some = rng.sample(TERMINALS, rng.randint(2, 4))
    names = [f"T{i}" for i in range(len(some))]
    rules = [f"{name}: {text}" for name, text in zip(names, some, strict=True)]
    used = names + [text for text in some if text.startswith('"')]
    if rng.random() < 0.5:
        nested = rng.choice(["", ' | "(" x ")"'])
        rules.append(f"x: {random_expression(rng, 1, names)}{nested}")
        used.append("x")
    start = f"start: {random_expression(rng, 2, used)} {rng.choice(names)}"
    ignored = [f"%ignore {text}" for text in rng.sample(IGNORED, rng.randint(1, 3))]
    return "\n".join([start, *rules, *ignored]) + "\n"


def behind(dfa: Dfa, state: int, letter: str) -> int:
    """The state after a letter."""
    for octet in letter.encode():
        state = int(dfa.table[state, dfa.classes[octet]])
    return state


def random_texts(grammar: str, rng: random.Random, count: int) -> list[str]:
    """Texts of the grammar in which ignored text may end anywhere, where that is small; and any."""
    dfa = None
    try:
        woven = resolve_exclusions(weave_ignored(read_grammar(grammar, "lark")))
        dfa = minimal(to_nfa(normalize(woven))[0], Limits(states=2_000))
    except (NotRegularError, LimitError):
        pass
    found = []
    for _ in range(count):
        text = "".join(rng.choice(PIECES) for _ in range(rng.randint(0, 8)))
        if dfa is not None and rng.random() < 0.85:
            text, state = "", dfa.start
            for _ in range(40):
                letters = [c for c in LETTERS if behind(dfa, state, c) != DEAD]
                if not letters or (dfa.accepting[state] and rng.random() < 0.25):
                    break
                letter = rng.choice(letters)
                text, state = text + letter, behind(dfa, state, letter)
        found.append(text)
    return found


def accepts_of(grammar: str, compiler: Compiler) -> Callable[[str], bool]:
    """What says of texts whether they are members: the DFA, or masks of single bytes."""
    found = build_engine(grammar, dialect="lark", meaning="exact")
    if isinstance(found, Automaton):
        return lambda text: found.dfa.accepts(text.encode())
    options = {"dialect": "lark", "meaning": "exact", "tokenization": "any"}
    artifact = compiler.compile(grammar, **options, prewarm=0)

    def accepts(text: str) -> bool:
        matcher, ids = artifact.matcher(), list(text.encode())
        return matcher.accept(ids) == len(ids) and matcher.is_accepting

    return accepts


def is_parsed(parser: Lark, text: str) -> bool:
    """Whether Lark parses a text."""
    try:
        parser.parse(text)
    except LarkError:
        return False
    return True


def test_members_are_what_larks_earley_parser_reads(
    full: bool, record_property: Callable[[str, object], None]
) -> None:
    """Random grammars with comments, in which terminals may have any of their texts."""
    rng, members, tried = random.Random(7), 0, 0
    compiler = Compiler(tokenizer_over([bytes([octet]) for octet in range(256)]), cache=None)
    for _ in range(50 if full else 4):
        accepts = None
        while accepts is None:
            grammar = random_grammar(rng)
            try:
                accepts = accepts_of(grammar, compiler)
            except CheckError as error:
                assert "empty language" in str(error)
        parser = Lark(grammar, parser="earley", lexer="dynamic_complete")
        for text in random_texts(grammar, rng, 200 if full else 50):
            expected = is_parsed(parser, text)
            assert accepts(text) == expected, (grammar, text)
            members += expected
            tried += 1

    assert 0.2 < members / tried < 0.8
    record_property(f"texts, {members:,} of them members", tried)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("dialect", "grammar"),
    [
        ("lark", 'start: "a" ":" "b"\nNOTE: /\\/\\/[^\\n]*/\n%ignore NOTE\n%ignore /[ \\n]+/\n'),
        ("w3c", "s ::= 'a' ':' 'b'\nNOTE ::= '//' [^#xA]*\n@pass NOTE | [ #xA]+\n"),
    ],
)
def test_a_comment_ends_with_its_line(dialect: str, grammar: str) -> None:
    """In every dialect that ignores text, and written in others."""
    once = read_grammar(grammar, dialect)
    # In ISO's notation there are no classes of so many characters.
    targets = {name: write(once) for name, write in WRITERS.items() if name != "iso14977"}
    for name, text in {dialect: grammar, **targets}.items():
        dfa = build_automaton(text, dialect=name).dfa
        for member in ("a:b", "a // x\n:b", "// \na : b // x :b", "a:b//"):
            assert dfa.accepts(member.encode()), (name, member)
        for other in ("a // x :b", "a//:b", "a:// b"):
            assert not dfa.accepts(other.encode()), (name, other)


def test_only_what_ignored_text_excludes_is_divided() -> None:
    """White space and names need one rule of ignored text; a terminal that begins with a blank, or
    is empty, is divided."""
    grammar = 'start: NAME "=" TEXT\nNAME: /[a-z]+/\nTEXT: /[^;]*/\n%ignore / +/\n'
    woven = weave_longest(read_grammar(grammar, "lark"))

    assert [rule.name for rule in woven.rules] == [
        "start",
        "NAME",
        "TEXT",
        "whole",
        "ignored",
        "ignored2",
    ]
    assert woven.notes == ()


def test_where_ignored_text_is_not_followed_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too large automata, texts that several terminals decide on, and JSON, which nests."""
    note = "may end before its longest match"
    for grammar, what in (
        ('start: "a" "b" "c"\n%ignore /;(bc)?/\n', "what is read after it decides"),
        ('start: "a" %json {}\n%ignore / +/\n', "not known to be regular"),
    ):
        found = build_engine(grammar, dialect="lark", meaning="exact").grammar.notes
        assert any(note in each.message and what in each.message for each in found)
    monkeypatch.setattr(longest_ignored, "_MOST_STATES", 100)
    large = 'start: "a" "b"\n%ignore /;[ab]{0,500}c?/\n'
    woven = weave_longest(read_grammar(large, "lark"), Limits())
    assert [note in each.message for each in woven.notes] == [True]
    assert "100 states" in woven.notes[0].message
    compiler = Compiler(tokenizer_over([bytes([octet]) for octet in range(256)]), cache=None)
    artifact = compiler.compile(large, dialect="lark", meaning="exact", tokenization="any")
    assert any(note in each for each in artifact.notes)
