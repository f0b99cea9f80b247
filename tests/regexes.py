"""What the tests of regular expressions share."""

from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.automata.minimize import minimize
from constrain.compiler.automata.nfa import Nfa
from constrain.compiler.automata.regex import Node
from constrain.compiler.automata.resolve import resolved
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.diagnostics import Source
from constrain.compiler.dialects.parse import parse
from constrain.compiler.dialects.regex import RegexBuilder
from constrain.compiler.grammar.tree import Pattern
from constrain.compiler.limits import Limits


def node_of(text: str, flags: str = "", *, extended: bool = False) -> Node:
    """The expression's node."""
    source = Source(text, "<regex>", "regex")
    (rule,) = parse(RegexBuilder(source, Limits(), flags, extended=extended))
    assert isinstance(rule.body, Pattern)
    return rule.body.node


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
