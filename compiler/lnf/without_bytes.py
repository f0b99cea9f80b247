r"""The members of a grammar that hold none of some bytes, or tokens: for tokenizers without these.

"ab" | #"[a-z]+", without "b"   ->   nothing | [ac-z]+
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..automata import regex_ir as regex
from ..automata.assertions import resolved
from ..automata.boolean import embedded
from ..automata.determinize import determinize
from ..automata.dfa import without_bytes as dfa_without_bytes
from ..automata.folding import fold
from ..automata.minimize import minimize
from ..automata.thompson import thompson
from ..grammar.tree import Expr, Grammar, Literal, Pattern, Token, children, with_children
from ..limits import Limits, blaming


def without_bytes(grammar: Grammar, missing: NDArray[np.bool_], limits: Limits) -> Grammar:
    """The grammar with terminals that hold none of the bytes ``missing``, bool (256,).

    ``grammar`` without exceptions and ignored text, as ``frontend.normal_form`` gives it. Raises
    ``LimitError``.
    """
    return _rewritten(grammar, lambda expr: _spelled(expr, missing, limits))


def without_tokens(grammar: Grammar, missing: Sequence[Token]) -> Grammar:
    """The grammar without some of its token terminals, which keep their numbers."""
    meanings = {token.meaning for token in missing}

    def named(expr: Expr) -> Expr:
        is_missing = isinstance(expr, Token) and expr.meaning in meanings
        return Pattern(regex.NOTHING, "", expr.span) if is_missing else expr

    return _rewritten(grammar, named)


def _rewritten(grammar: Grammar, leaf: Callable[[Expr], Expr]) -> Grammar:
    rules = []
    for rule in grammar.rules:
        with blaming([rule.name]):
            body = fold(
                rule.body,
                children,
                lambda expr, parts: with_children(expr, tuple(parts)) if parts else leaf(expr),
            )
        rules.append(replace(rule, body=body))
    return replace(grammar, rules=tuple(rules))


def _spelled(expr: Expr, missing: NDArray[np.bool_], limits: Limits) -> Expr:
    if isinstance(expr, Literal):
        if not missing[list(expr.data)].any():
            return expr
        return Pattern(regex.NOTHING, expr.data.decode("utf-8", "replace"), expr.span)
    if not isinstance(expr, Pattern):
        return expr
    whole = minimize(determinize(thompson(resolved(expr.node, limits), limits), limits), limits)
    rest = dfa_without_bytes(whole, missing)
    if rest is whole:
        return expr
    return replace(expr, node=regex.NOTHING if rest.is_empty else embedded(minimize(rest)))
