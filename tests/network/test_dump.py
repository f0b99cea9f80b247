"""Networks as text."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from support.grammars import nullable_lnf_of

from constrain.compiler.network.build import network
from constrain.compiler.network.dump import network_text


def test_a_network_as_text() -> None:
    """States, edges and calls, with the rule that is called and where it goes on."""
    tables = network(nullable_lnf_of("s ::= '[' s ']' | 'x';"))
    assert (
        "network: 4 states, 1 calls, 1 frames, start 1, final 3\n"
        "  rule s starts in 1\n"
        '  1 -- "[" -> 2\n'
        '  1 -- "x" -> 3\n'
        "  2 -- call s from 1, then 4\n"
        '  4 -- "]" -> 3\n'
    ) == network_text(tables)
