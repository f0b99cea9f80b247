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
from dataclasses import replace
from typing import TYPE_CHECKING

from ..grammar.expand_permutations import expand_permutations, uses_of_parts
from ..limits import Limits
from ..lnf.longest_ignored import weave_longest
from .abnf import write_abnf
from .gbnf import write_gbnf
from .iso14977 import write_iso14977
from .kbnf import write_kbnf
from .lark import write_lark
from .one_regex import write_regex
from .w3c import write_w3c

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..grammar.tree import Grammar, Permutation

# A permutation is written as rules for all its orders if these use its parts so often: seven parts.
_MOST_USES = 500


def _for_lark(grammar: "Grammar") -> str:
    """With %ignore if it is Lark's own; by others it is meant to be read without a lexer."""
    if grammar.source.dialect not in ("antlr", "lark"):
        woven = weave_longest(grammar)
        # In Lark the case of a name says whether it is a terminal.
        rules = tuple(replace(rule, terminal=False) for rule in woven.rules)
        grammar = replace(woven, rules=rules)
    return write_lark(grammar)


def _woven(write: "Callable[[Grammar], str]") -> "Callable[[Grammar], str]":
    return lambda grammar: write(weave_longest(grammar))


WRITERS: "Mapping[str, Callable[[Grammar], str]]" = {
    "abnf": _woven(write_abnf),
    "gbnf": _woven(write_gbnf),
    "iso14977": _woven(write_iso14977),
    "kbnf": _woven(write_kbnf),
    "lark": _for_lark,
    "regex": _woven(write_regex),
    "w3c": write_w3c,
}


def write(grammar: "Grammar", dialect: str, limits: "Limits | None" = None) -> str:
    """The grammar in another dialect. Raises ``WriterError``; for ``regex``, which builds
    automata, also ``NotRegularError`` and ``LimitError``."""
    grammar = _in_orders(grammar, dialect, limits or Limits())
    if dialect == "regex":
        return write_regex(weave_longest(grammar), limits)
    return WRITERS[dialect](grammar)


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
