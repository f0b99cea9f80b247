"""From a tree back to text, in the grammar's own dialect or in another.

    tree  ->  printer (brackets by precedence)  +  a style for each dialect  ->  text

What a dialect has no counterpart for is refused with its place in the source. Only Lark's
grammars are written with ignored text; for the others it is woven into the rules, and the
language is the same where it is read exactly. ``losses`` says what else is lost.
``convert.py`` looks after grammars that are read by maximal munch.

One layout, for text that stays in its dialect (``FORMATTING.md``):

    text -> tokens (of the dialect's parser, without a tree)
         -> statements     tokens and the comments between them
         -> layout         lines, by the row that ``token_styles`` has for the dialect
         -> formatting     tokens again: the same ones, so that the tree is the same

A parser of LALR(1) makes of the same tokens the same tree, spans aside, so no tree is compared.
"""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from ..grammar.expand_permutations import expand_permutations, uses_of_parts
from ..limits import Limits
from ..lnf.longest_ignored import weave_longest
from .abnf import AbnfStyle
from .gbnf import GbnfStyle
from .iso14977 import Iso14977Style
from .kbnf import KbnfStyle
from .lark import LarkStyle
from .one_regex import write_regex
from .w3c import W3cStyle

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..grammar.tree import Grammar, Permutation
    from .printer import Style

# A permutation is written as rules for all its orders if these use its parts so often: seven parts.
_MOST_USES = 500

_STYLES: "Mapping[str, type[Style]]" = {
    "abnf": AbnfStyle,
    "gbnf": GbnfStyle,
    "iso14977": Iso14977Style,
    "kbnf": KbnfStyle,
    "lark": LarkStyle,
    "w3c": W3cStyle,
}


def _written(dialect: str, grammar: "Grammar", limits: "Limits | None" = None) -> str:
    if dialect == "regex":
        return write_regex(weave_longest(grammar), limits)
    return _STYLES[dialect](grammar.source.dialect == dialect).write(grammar)


WRITERS: "Mapping[str, Callable[..., str]]" = {
    dialect: partial(_written, dialect) for dialect in sorted([*_STYLES, "regex"])
}


def write(grammar: "Grammar", dialect: str, limits: "Limits | None" = None) -> str:
    """The grammar in another dialect. Raises ``WriterError``; for ``regex``, which builds
    automata, also ``NotRegularError`` and ``LimitError``."""
    return _written(dialect, _in_orders(grammar, dialect, limits or Limits()), limits)


def _in_orders(grammar: "Grammar", dialect: str, limits: "Limits") -> "Grammar":
    """The grammar without permutations of few parts, where a dialect has none."""

    def stays(permutation: "Permutation") -> bool:
        if uses_of_parts(permutation) > _MOST_USES:
            return True
        return dialect == "kbnf" and not permutation.least and permutation.most is None

    return expand_permutations(grammar, limits, stays)


def losses(grammar: "Grammar", target: str) -> list[str]:
    """What the writer of ``target`` loses, though the language is the same."""
    found = []
    if target not in ("lark", grammar.source.dialect) and grammar.ignored:
        found.append(f"{target} ignores no text: it is written out before each terminal")
    if target != "lark" and any(rule.priority for rule in grammar.rules):
        found.append(f"{target} has no priorities: they are left out")
    return found
