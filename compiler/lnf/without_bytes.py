r"""The members of a grammar that hold none of some bytes: for tokenizers that cannot spell these.

"ab" | #"[a-z]+", without "b"   ->   nothing | [ac-z]+
"""

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
from ..grammar.tree import Expr, Grammar, Literal, Pattern, children, with_children
from ..limits import Limits, blaming


def without_bytes(grammar: Grammar, missing: NDArray[np.bool_], limits: Limits) -> Grammar:
    """The grammar with terminals that hold none of the bytes ``missing``, bool (256,).

    ``grammar`` without exceptions and ignored text, as ``frontend.normal_form`` gives it. Raises
    ``LimitError``.
    """
    rules = []
    for rule in grammar.rules:
        with blaming([rule.name]):
            body = fold(
                rule.body, children, lambda expr, parts: _spelled(expr, parts, missing, limits)
            )
        rules.append(replace(rule, body=body))
    return replace(grammar, rules=tuple(rules))


def _spelled(expr: Expr, parts: list[Expr], missing: NDArray[np.bool_], limits: Limits) -> Expr:
    if parts:
        return with_children(expr, tuple(parts))
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
