"""The lint over a tokenizer's added tokens: literals with their text."""

from collections.abc import Iterator, Mapping

from ..grammar.added_text import added_text
from ..grammar.tree import Grammar
from .finding import Finding


def added_tokens(grammar: Grammar, added: Mapping[int, str]) -> Iterator[Finding]:
    """``"<tool_call>" [a-z]+`` where that is an added token. ``added``: id to text."""
    for rule, found in added_text(grammar, added):
        assert found.span is not None
        yield Finding("added-token-text", found.message, found.span, rule, found.help or "")
