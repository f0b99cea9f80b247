"""What texts llguidance reads by a grammar."""

from collections.abc import Iterable

import pytest


def members_by_llguidance(grammar: str, texts: Iterable[str]) -> set[str]:
    """Those of some texts that are members of a grammar of Lark, or of JSON that lists some. Skips
    the test where llguidance is not there."""
    llguidance = pytest.importorskip("llguidance")
    taken = grammar if grammar.startswith("{") else llguidance.grammar_from("lark", grammar)
    matcher = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), taken)
    assert not matcher.get_error()
    found = set()
    for text in texts:
        matcher.reset()
        if matcher.try_consume_tokens([*text.encode()]) == len(text) and matcher.is_accepting():
            found.add(text)
    return found
