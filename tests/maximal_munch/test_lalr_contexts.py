"""The contextual lexer of Lark's LALR parser, by its definition; against Lark itself it is tested
with the other parsers of Lark (``tests/dialects/test_lark_earley.py``)."""

import random
from collections.abc import Iterator
from itertools import product

import pytest
from support.maximal_munch import members_of, random_lark, vocabulary_of
from support.oracles.lalr import LalrOracle

from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.frontend import Automaton, MaximalMunchGrammar
from constrain.compiler.limits import Limits
from constrain.compiler.maximal_munch.exact_network import exact_network
from constrain.compiler.maximal_munch.one_reading import SeveralReadingsError
from constrain.compiler.options import CompileOptions, options_of
from constrain.compiler.pipeline import build_engine

# In brackets no "to" can follow a word; the state after the word knows nothing of brackets.
KEYWORDS = """
start: "(" word* ")" | word* "to" word
word: NAME
NAME: /[a-z]+/
%ignore " "
"""

INDENTED = """
%declare _INDENT _DEDENT
start: ("a" _NL _INDENT start _DEDENT | "a" _NL)+
_NL: /\\n */
"""


def grammars(count: int, seed: int) -> Iterator[tuple[str, LalrOracle, MaximalMunchGrammar]]:
    """Random ones that are LALR(1) and have lexemes that some state allows and some stack does not,
    with their oracle."""
    rng = random.Random(seed)
    while count:
        text = random_lark(rng)
        try:
            oracle = LalrOracle(read_grammar(text, "lark"))
        except (CheckError, ValueError):
            continue
        found = build_engine(text, dialect="lark", engine="greedy", lexer="contextual")
        assert isinstance(found, MaximalMunchGrammar)
        if any(lexeme.refused for lexeme in found.lexed.lexemes):
            count -= 1
            yield text, oracle, found


def test_masks_are_those_of_the_definition(full: bool) -> None:
    """Whole masks along random texts, with tokens that complete up to eight lexemes."""
    rng = random.Random(3)
    for text, oracle, found in grammars(*((150, 77) if full else (4, 204))):
        words = {bytes(rng.choice(b"abc #") for _ in range(rng.randint(2, 8))) for _ in range(40)}
        tokens = [b"a", b"b", b"c", b" ", b"#", *sorted(words)]
        vocabulary, end = vocabulary_of(tokens), len(tokens)
        trie = Trie.from_vocabulary(vocabulary)
        masks = MaximalMunchMasks(found.tables, lambda t=trie: t, vocabulary, [end], end + 1)
        for _ in range(4):
            state, reading = masks.start, oracle.begin()
            for _ in range(7):
                behind = [oracle.read(reading, token) for token in tokens]
                expected = [
                    i for i, t in enumerate(tokens) if behind[i].length == reading.length + len(t)
                ]
                ends = [end] * oracle.may_end(reading)
                assert [*expected, *ends] == tokenset.to_ids(masks.row(state)).tolist(), text
                if not expected:
                    break
                token = rng.choice(expected)
                state, reading = masks.step(state, token), behind[token]


def test_members_are_those_of_the_definition(full: bool) -> None:
    """By the DFA where nothing nests, and by the network over bytes where each text has one
    reading."""
    texts = [bytes(t) for length in range(5) for t in product(b"abc #", repeat=length)]
    automata = networks = 0
    for text, oracle, found in grammars(*((150, 9) if full else (6, 210))):
        expected = {each for each in texts if oracle.accepts(each)}
        try:
            other = build_engine(text, dialect="lark", lexer="contextual")
        except CheckError as error:
            assert "there is no member" in str(error)
            assert expected == set()
            continue
        if isinstance(other, Automaton):
            automata += 1
            assert expected == {each for each in texts if other.dfa.accepts(each)}, text
        try:
            network = exact_network(found.tables, Limits().started())
        except SeveralReadingsError:
            continue
        networks += 1
        assert expected == members_of(network, texts), text
    assert automata > 1
    assert networks > 1


@pytest.mark.quick
def test_a_keyword_is_read_where_none_can_follow(default_tokenizer: Tokenizer) -> None:
    """By the state of the parser; by what the text so far allows it is a name."""
    found = {}
    for lexer in (None, "contextual"):
        options = CompileOptions(dialect="lark", lexer=lexer, tokenization="any", engine="greedy")
        artifact = load_bytes(
            compile_grammar(KEYWORDS, options=options, tokenizer=default_tokenizer).to_bytes()
        )
        assert options_of(artifact.manifest).lexer == lexer
        found[lexer] = [artifact.viable_bytes(text) for text in (b"(a to)", b"a to b", b"a a to")]
        assert artifact.manifest.parser is not None
        assert {"start", "word"} >= {*artifact.manifest.parser.called}
    assert found == {None: [6, 6, 6], "contextual": [5, 6, 6]}


@pytest.mark.quick
@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        ('start: a | b\na: "x"\nb: "x"\n', r"no LALR\(1\) parser.*Reduce/Reduce"),
        (INDENTED, "indenter"),
    ],
)
def test_refused(grammar: str, message: str) -> None:
    """Where Lark has no parser, and where lines are read otherwise."""
    with pytest.raises(CheckError, match=message):
        build_engine(grammar, dialect="lark", lexer="contextual")


@pytest.mark.quick
@pytest.mark.parametrize("others", [{"meaning": "exact"}, {"dialect": "gbnf"}])
def test_it_is_larks(others: dict[str, str]) -> None:
    """Another meaning or dialect has no such lexer."""
    with pytest.raises(ValueError, match="Lark"):
        CompileOptions(lexer="contextual", **others)
