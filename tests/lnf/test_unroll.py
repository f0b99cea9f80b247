"""Unrolling recursion to a depth: which members stay, which are cut, and that it is regular."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from itertools import product

import pytest
from support.grammars import ARITHMETIC, JSON, STATEMENTS, lnf_of, nullable_lnf_of, random_grammars
from support.oracles.earley import PlainEarley

from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.diagnostics import CheckError, LimitError
from constrain.compiler.limits import Limits
from constrain.compiler.lnf.automaton import to_nfa
from constrain.compiler.lnf.unroll import unroll


def dfa_of(text: str, depth: int) -> Dfa:
    """The automaton of a kbnf grammar unrolled to a depth."""
    limits = Limits(states=5000).started()
    nfa, _ = to_nfa(unroll(nullable_lnf_of(text), depth).lnf, limits)
    return determinize(nfa, limits)


def accepts(dfa: Dfa, text: bytes) -> bool:
    """Whether the automaton takes the whole text."""
    return bool(dfa.accepting[dfa.run(text)])


@pytest.mark.parametrize("depth", range(4))
def test_brackets_are_kept_to_the_depth(depth: int) -> None:
    """Members nested at most so deep are kept, and no others, by listing all short texts."""

    def nesting(text: str) -> int | None:
        """How deep a text of brackets is, None if they do not match."""
        level = deepest = 0
        for char in text:
            level += 1 if char == "[" else -1
            if level < 0:
                return None
            deepest = max(deepest, level)
        return deepest if level == 0 else None

    dfa = dfa_of("start ::= '' | start '[' start ']';", depth)
    for length in range(10):
        for chars in product("[]", repeat=length):
            text = "".join(chars)
            found = nesting(text)
            assert (found is not None and found <= depth) == accepts(dfa, text.encode()), text


def test_lists_are_not_cut() -> None:
    """What recurses at one end only may go on for ever, also inside a rule that nests."""
    text = "v ::= 'n' | '[' e ']'; e ::= v | e ',' v;"
    found = unroll(nullable_lnf_of(text), 2)
    dfa = dfa_of(text, 2)
    assert ["e"] == list(found.cut)
    assert accepts(dfa, b"[n" + b",n" * 50 + b"]")
    assert accepts(dfa, b"[[n,n],[n]]")
    assert not accepts(dfa, b"[[[n]]]")


def test_an_operator_counts_one_side() -> None:
    """1+2+3+4 has a derivation that leans to the left; right operands and brackets count."""
    dfa = dfa_of("e ::= e '+' e | 'n' | '(' e ')';", 1)
    assert accepts(dfa, b"n+n+n+n+n")
    assert accepts(dfa, b"(n)+n+(n)") is False
    assert accepts(dfa, b"(n)+n+n")
    assert not accepts(dfa, b"((n))")


@pytest.mark.parametrize("text", [JSON, ARITHMETIC, STATEMENTS], ids=["json", "sum", "code"])
def test_deeper_is_more(text: str) -> None:
    """Each depth keeps what the one before kept; the languages are regular."""
    sizes = [dfa_of(text, depth).states for depth in range(3)]
    assert sorted(set(sizes)) == sizes


def test_json_nests_values() -> None:
    """The depth of JSON is the number of brackets around the innermost value."""
    dfa = dfa_of(JSON, 2)
    assert accepts(dfa, b'[{"a": 1}, [2, 3]]')
    assert not accepts(dfa, b"[[[1]]]")


def test_regular_grammars_stay() -> None:
    """Nothing is counted where nothing nests."""
    lnf = nullable_lnf_of("start ::= 'a' start | b; b ::= b 'c' | 'd';")
    found = unroll(lnf, 0)
    assert found.lnf is lnf
    assert not found.cut


def test_unrolled_members_are_members(full: bool) -> None:
    """On random grammars: only members are kept, and a depth as long as the text keeps all."""
    words = [bytes(w) for n in range(5) for w in product(b"abc", repeat=n)]
    for text, lnf in random_grammars(100 if full else 4, seed=31):
        plain = PlainEarley(lnf)
        members = {word for word in words if plain.accepts(word)}
        try:
            shallow, deeper = (keeps(text, depth, words) for depth in (1, 2))
        except LimitError:
            continue
        assert shallow <= deeper <= members, text


def keeps(text: str, depth: int, words: list[bytes]) -> set[bytes]:
    """Those of ``words`` that are kept; none if nothing is."""
    try:
        dfa = dfa_of(text, depth)
    except CheckError:
        return set()
    return {word for word in words if accepts(dfa, word)}


def test_the_depth_is_reached_by_every_short_member() -> None:
    """A derivation of n symbols nests less than n deep where each level adds a symbol."""
    text = "start ::= 'a' start 'b' | start start | 'c';"
    words = [bytes(w) for n in range(7) for w in product(b"abc", repeat=n)]
    plain = PlainEarley(lnf_of(text))
    assert {word for word in words if plain.accepts(word)} == keeps(text, 6, words)


def test_nothing_left_is_an_error() -> None:
    """A rule that cannot end without nesting has no member at depth 0."""
    with pytest.raises(CheckError):
        unroll(nullable_lnf_of("s ::= s 'x' s | '(' b ')'; b ::= '[' s ']' s;"), 0)


def test_too_many_copies_are_a_limit_error() -> None:
    """Copies are bounded."""
    with pytest.raises(LimitError, match="max-depth"):
        unroll(nullable_lnf_of("start ::= '[' start ']' | 'x';"), 5000, Limits(states=1000))
