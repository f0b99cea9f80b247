"""What the tests of regular expressions share."""

import random

from constrain.compiler.automata.assertions import resolved
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.automata.minimize import minimize
from constrain.compiler.automata.nfa import Nfa
from constrain.compiler.automata.regex_ir import Node, without_outer_anchors
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.diagnostics import DialectError, Source
from constrain.compiler.grammar.regex_lexer import UnexpectedError
from constrain.compiler.grammar.regex_parser import Parser
from constrain.compiler.limits import Limits


def node_of(text: str, flags: str = "", *, extended: bool = False) -> Node:
    """The expression's node."""
    parser = Parser(text, Limits(), frozenset(flags), extended=extended)
    try:
        node = parser.parse()
    except UnexpectedError as error:
        raise DialectError(Source(text, "<regex>", "regex"), [error.diagnostic]) from None
    if parser.found:
        raise DialectError(Source(text, "<regex>", "regex"), parser.found)
    return without_outer_anchors(node)


def dfa_of(
    text: str, flags: str = "", *, extended: bool = False, limits: Limits | None = None
) -> Dfa:
    """The automaton of the texts that match as a whole."""
    node = resolved(node_of(text, flags, extended=extended), limits)
    return determinize(thompson(node, limits), limits)


def minimal_dfa_of(text: str) -> Dfa:
    """The smallest such automaton."""
    return minimize(dfa_of(text))


def automaton_of(text: str, flags: str = "", *, extended: bool = False) -> Nfa:
    """The NFA, which takes less time than a DFA where few texts are asked about."""
    return thompson(resolved(node_of(text, flags, extended=extended)))


def accepts(text: str, haystack: str | bytes, flags: str = "", *, extended: bool = False) -> bool:
    """Whether the whole of ``haystack`` matches."""
    nfa = automaton_of(text, flags, extended=extended)
    return nfa.accepts(haystack if isinstance(haystack, bytes) else haystack.encode("utf-8"))


ITEMS = ("a", "b", "é", "[a-cé-€]", "[^b]", ".", r"[\x{7F}-\x{10FFFF}]", "😀", r"\d")


def random_regex(rng: random.Random, depth: int) -> str:
    """A regular expression over few characters of all lengths in UTF-8."""
    kind = rng.randrange(5) if depth else 0
    if kind == 0:
        return rng.choice(ITEMS)
    if kind == 1:
        return f"({random_regex(rng, depth - 1)}){rng.choice(('*', '+', '?', '{2}', '{1,3}'))}"
    joiner = "|" if kind == 2 else ""
    return f"({joiner.join(random_regex(rng, depth - 1) for _ in range(rng.randint(2, 3)))})"
