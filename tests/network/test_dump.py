"""Networks as text."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import pytest
from support.network import minimal_tables

from constrain.compiler.frontend import Parser
from constrain.compiler.network.dump import network_text
from constrain.compiler.pipeline import build_engine


def test_a_network_as_text() -> None:
    """States, edges and calls, with the rule that is called and where it goes on."""
    tables = minimal_tables("s ::= '[' s ']' | 'x';")
    assert (
        "network: 4 states, 1 calls, 1 frames, start 1, final 3\n"
        "  rule s starts in 1\n"
        '  1 -- "[" -> 2\n'
        '  1 -- "x" -> 3\n'
        "  2 -- call s from 1, then 4\n"
        '  4 -- "]" -> 3\n'
    ) == network_text(tables)


@pytest.mark.parametrize("most", ["90000", ""])
def test_counts_as_text(most: str) -> None:
    """A call that is repeated says how often, with an end or without one."""
    found = build_engine(
        f'root ::= "[" root "]" | item{{2000,{most}}}\nitem ::= [a-z] "," | "(" root ")"',
        dialect="gbnf",
        tokenization="any",
        parser="network",
    )
    assert isinstance(found, Parser)
    assert found.network is not None
    assert f"{{2000,{most}}}" in network_text(found.network)
