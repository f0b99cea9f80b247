"""Thompson's construction, determinisation and minimisation."""

import random
import re

import numpy as np
import pytest
from support.automata import build_automaton, words_of
from support.oracles.automata import minimize_via_moore
from support.oracles.utf8 import automaton_via_split, split
from support.regexes import node_of

from constrain.compiler.automata import regex_ir as regex
from constrain.compiler.automata import utf8
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.dfa import Dfa, without_bytes
from constrain.compiler.automata.minimize import minimize
from constrain.compiler.automata.nfa import FIRST_TERMINAL, Arc, Nfa, closure_by
from constrain.compiler.automata.regex_ir import (
    EPSILON,
    NOTHING,
    Alt,
    CharClass,
    Lit,
    Node,
    Optional,
    Repeat,
    Seq,
    TokenTerminal,
)
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.limits import Limits

pytestmark = pytest.mark.quick


def arcs(nfa: Nfa) -> dict[int, list[tuple[int, int, int]]]:
    """The arcs without their origins, of the states that have any."""
    return {s: [a[:3] for a in out] for s, out in enumerate(nfa.arcs) if out}


def epsilons(nfa: Nfa) -> dict[int, set[int]]:
    """The ε edges of the states that have any."""
    return {s: set(out) for s, out in enumerate(nfa.epsilon) if out}


class TestThompson:
    """The textbook's automata, state by state (from "Compiling IR to NFA")."""

    def test_literal(self) -> None:
        """A literal is a path of states."""
        nfa = thompson(Lit(b"user"))
        assert (nfa.start, nfa.finals) == (0, {4})
        assert epsilons(nfa) == {}
        assert arcs(nfa) == {i: [(c, c, i + 1)] for i, c in enumerate(b"user")}

    def test_alternation(self) -> None:
        """An alternation forks and joins by ε."""
        nfa = thompson(Alt((Lit(b"a"), Lit(b"c"))))
        assert (nfa.start, nfa.finals) == (0, {5})
        assert arcs(nfa) == {1: [(97, 97, 2)], 3: [(99, 99, 4)]}
        assert epsilons(nfa) == {0: {1, 3}, 2: {5}, 4: {5}}

    def test_sequence(self) -> None:
        """Parts are linked by one ε each."""
        nfa = thompson(Seq((Lit(b"a"), Lit(b"b"))))
        assert (nfa.start, nfa.finals) == (0, {3})
        assert epsilons(nfa) == {1: {2}}

    def test_optional(self) -> None:
        """An option can be skipped by one ε."""
        nfa = thompson(Optional(Lit(b"a")))
        assert (nfa.start, nfa.finals) == (0, {1})
        assert epsilons(nfa) == {0: {1, 2}, 3: {1}}

    def test_unbounded_repetition(self) -> None:
        """The required copy first, then a loop on its end."""
        nfa = thompson(Repeat(Lit(b"a"), 1, None))
        assert epsilons(nfa) == {0: {1}, 2: {3, 4}, 5: {2}}

    def test_character_class(self) -> None:
        """A class over ASCII is one arc for each of its ranges."""
        nfa = thompson(CharClass(((48, 57), (97, 102))))
        assert arcs(nfa) == {0: [(48, 57, 1), (97, 102, 1)]}

    def test_epsilon_closure_follows_epsilons_only(self) -> None:
        """The closure holds what is reached without reading."""
        nfa = thompson(Alt((Lit(b"a"), Lit(b"c"))))
        assert nfa.epsilon_closure({0}) == {0, 1, 3}
        assert nfa.epsilon_closure({1}) == {1}

    def test_step_reads_one_symbol(self) -> None:
        """A step gives the closure of what one symbol reaches."""
        nfa = thompson(Alt((Lit(b"a"), Lit(b"c"))))
        start = nfa.epsilon_closure({nfa.start})
        assert nfa.step(start, ord("a")) == {2, 5}
        assert nfa.step(start, ord("b")) == set()

    def test_accepts_is_membership_not_viability(self) -> None:
        """A prefix of a member is viable and no member."""
        nfa = thompson(Lit(b"abc"))
        assert nfa.accepts(b"abc")
        assert not nfa.accepts(b"ab")
        assert nfa.run(b"ab")
        assert not nfa.run(b"abcd")

    @pytest.mark.parametrize("empty", [Lit(b""), Seq(()), EPSILON])
    def test_empty_literal_and_sequence_are_epsilon(self, empty: Node) -> None:
        """They match the empty text and nothing else."""
        assert thompson(empty).accepts(b"")
        assert not thompson(empty).run(b"a")
        assert thompson(Seq((Lit(b"a"), empty, Lit(b"b")))).accepts(b"ab")

    def test_empty_language(self) -> None:
        """The alternation of nothing has no member."""
        assert determinize(thompson(NOTHING)).is_empty

    def test_depth_needs_no_python_stack(self) -> None:
        """Twenty thousand nested nodes compile."""
        node: Node = Lit(b"a")
        for _ in range(20_000):
            node = Seq((Optional(node), Lit(b"b")))
        assert thompson(node).states > 20_000

    def test_token_terminals_have_symbols_of_their_own(self) -> None:
        """Terminal k is symbol 256 + k in the NFA and column C + k in the DFA."""
        node = Seq((Lit(b"a"), TokenTerminal(1)))
        nfa = thompson(node)
        dfa = minimize(determinize(nfa, terminals=2))
        for automaton in (nfa, dfa):
            assert automaton.accepts([97, FIRST_TERMINAL + 1])
            assert not automaton.accepts([97, FIRST_TERMINAL])
            assert not automaton.accepts(b"aa")
        assert dfa.table.shape[1] == dfa.byte_columns + 2


class TestConstructors:
    """The simplifying constructors."""

    def test_sequences_unfold_and_literals_join(self) -> None:
        """``a ε (b)`` is the literal ``ab``."""
        joined = regex.seq(Lit(b"a"), EPSILON, Seq((Lit(b"b"),)))
        assert isinstance(joined, Lit)
        assert joined.data == b"ab"

    def test_repetition_simplifies(self) -> None:
        """{1} is the node itself, {0,1} an option, {0} is ε."""
        node = Lit(b"a")
        assert regex.repeat(node, 1, 1) is node
        assert isinstance(regex.repeat(node, 0, 1), Optional)
        assert regex.repeat(node, 0, 0) is EPSILON
        with pytest.raises(ValueError, match="cannot repeat"):
            regex.repeat(node, 3, 2)

    def test_ranges_normalize_and_complement(self) -> None:
        """Ranges are sorted, joined where they touch, and complemented."""
        assert regex.normalized([(5, 9), (1, 4), (20, 20)]) == ((1, 9), (20, 20))
        assert regex.complement([(0, 9), (11, 0x10FFFF)]) == ((10, 10),)


class TestUtf8:
    """Code point ranges as byte automata."""

    def test_every_border(self) -> None:
        """The automaton of a range accepts exactly its code points around all borders."""
        borders = [0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF]
        rng = random.Random(1)
        for _ in range(100):
            low, high = sorted((rng.choice(borders), rng.randrange(0x110000)))
            nfa = thompson(CharClass(((low, high),)))
            for code in (*borders, low, high, low - 1, high + 1, rng.randrange(0x110000)):
                if 0 <= code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
                    assert nfa.accepts(chr(code).encode()) == (low <= code <= high)

    def test_any_is_small(self) -> None:
        """All characters need nine ranges of lead bytes at most, as the standard's table has."""
        assert len(utf8.automaton([(0, 0x10FFFF)])) == 16

    def test_the_automaton_of_a_set_is_that_of_its_pieces(self) -> None:
        """State for state, whether its ranges end inside of a block of a continuation byte, with
        it, or stand for whole ones."""
        rng = random.Random(2)
        for _ in range(200):
            top = rng.choice([0x80, 0x900, 0x11000, 0x110000])
            codes = sorted(rng.sample(range(top), 2 * rng.randint(1, 9)))
            ends = sorted(code & -64 if rng.random() < 0.5 else code for code in codes)
            ranges = utf8.normalized(zip(ends[::2], ends[1::2], strict=True))
            for each in (ranges, utf8.complement(ranges)):
                assert utf8.automaton(each) == automaton_via_split(each)

    def test_split_leaves_out_surrogates(self) -> None:
        """Surrogates have no encoding."""
        assert list(split(0xD800, 0xDFFF)) == []


def random_pattern(rng: random.Random, depth: int) -> str:
    """A pattern that Python's ``re`` reads alike."""
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return rng.choice(["a", "b", "ab", "[ab]", "[^a]", ".", "é", "()", "[a-cé-ü]", r"\n"])
    if kind < 0.5:
        return random_pattern(rng, depth - 1) + random_pattern(rng, depth - 1)
    if kind < 0.7:
        return f"({random_pattern(rng, depth - 1)}|{random_pattern(rng, depth - 1)})"
    times = rng.choice(["*", "+", "?", "{2}", "{1,3}", "{2,}", "{0,2}", "*?", "{0}"])
    return f"({random_pattern(rng, depth - 1)}){times}"


def test_all_stages_agree_with_re(full: bool) -> None:
    """NFA, DFA and both minimal DFAs accept what Python's ``re`` fully matches."""
    rng = random.Random(7)
    for _ in range(3000 if full else 50):
        pattern = random_pattern(rng, 4)
        nfa = thompson(node_of(pattern))
        dfa = determinize(nfa)
        small, oracle = minimize(dfa), minimize_via_moore(dfa)
        assert np.array_equal(small.table, oracle.table)
        assert np.array_equal(small.accepting, oracle.accepting)
        for _ in range(20):
            text = "".join(rng.choice("abéü\n") for _ in range(rng.randrange(7)))
            expected = re.fullmatch(pattern, text) is not None
            found = [a.accepts(text.encode()) for a in (nfa, dfa, small)]
            assert found == [expected] * 3, (pattern, text)


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        (r"\d", ["0", "٣"], ["²", "a", "Ⅷ"]),
        (r"\D", ["²", "a"], ["0"]),
        (r"\w", ["é", "_", "٣", "\u0301", "\u200d"], [" ", "-"]),
        (r"\W", [" "], ["é"]),
        (r"\s", [" ", "\n", "\u2003", "\x85"], ["a", "\x1c", "\u200b"]),
        (".", ["a", "é", "😀", "\r"], ["\n", ""]),
    ],
)
def test_unicode_classes(pattern: str, inside: list[str], outside: list[str]) -> None:
    r"""``\d`` is Nd, ``\s`` White_Space, ``\w`` UTS #18's; a dot is no line feed."""
    nfa = thompson(node_of(pattern))
    assert [t for t in inside if not nfa.accepts(t.encode())] == []
    assert [t for t in outside if nfa.accepts(t.encode())] == []


def test_minimal_automaton_is_canonical() -> None:
    """Two patterns of one language give the same tables, byte for byte."""

    def small(pattern: str) -> Dfa:
        return minimize(determinize(thompson(node_of(pattern))))

    one, other = small("(a|b)*abb"), small("(b|a)*(ab)b|(a*b*)*abb")
    assert one.states == 5  # Four live ones: the textbook's.
    for name in ("table", "classes", "accepting"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


def test_states_are_capped_with_the_rule() -> None:
    """An automaton beyond the cap is refused with its number."""
    with pytest.raises(LimitError, match="more than 50 states"):
        determinize(thompson(node_of("(a|b)*a(a|b){8}")), Limits(states=50))
    with pytest.raises(LimitError, match="--max-states"):
        thompson(node_of("(abcdef){100}"), Limits(states=50))


def test_without_bytes_drops_members() -> None:
    """Only members without the bytes are left, and no state that is not live."""
    dfa = minimize(determinize(thompson(node_of("ab|ac|[x-z]"))))
    missing = np.zeros(256, dtype=np.bool_)
    missing[list(b"by")] = True
    rest = without_bytes(dfa, missing)
    assert sorted(words_of(rest, 3)) == sorted(tuple(w) for w in (b"ac", b"x", b"z"))


def test_closures_pass_over_states_that_only_lead_on() -> None:
    """Of random automata with chains and cycles of ε edges, and in linear time for counts."""
    rng = random.Random(8)
    for _ in range(300):
        states = rng.randrange(1, 12)
        nfa = Nfa([[] for _ in range(states)], [[] for _ in range(states)])
        for state in range(states):
            nfa.epsilon[state] = [rng.randrange(states) for _ in range(rng.choice([0, 1, 1, 2]))]
            if rng.random() < 0.4:
                nfa.arcs[state].append(Arc(97, 98, rng.randrange(states), frozenset()))
        nfa.finals = frozenset(rng.sample(range(states), 1))
        short = nfa.shortened_epsilon()
        for state in range(states):
            matter = [
                {s for s in found if nfa.arcs[s] or s in nfa.finals}
                for found in (nfa.epsilon_closure([state]), closure_by(short, [state]))
            ]
            assert matter[0] == matter[1]
    counted = build_automaton('root ::= (x ","){0,300}\nx ::= "a" | "bc"', dialect="gbnf").nfa
    edges = counted.shortened_epsilon()
    assert max(len(counted.epsilon_closure([state])) for state in range(counted.states)) > 200
    assert max(len(closure_by(edges, [state])) for state in range(counted.states)) < 10
