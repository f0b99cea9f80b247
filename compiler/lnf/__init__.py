"""From the tree to Loup's normal form, pass by pass.

    flatten_nested       groups, options and repetitions get names; bodies become flat
    expand_repetitions   items that repeat become left-recursive rules
    remove_useless       what has no finite member, adds no text, or is out of reach
    merge_terminals      neighbouring texts become one
    remove_units         a rule that is another rule takes over its bodies
    deduplicate          equal bodies of one rule become one

The order is forced by what each pass leaves behind. Flattening comes first because all
others need flat bodies. Expanding comes before removing the useless, which must see the
rules that it makes (a repetition of nothing is ε, not nothing). Only then do texts become
neighbours, and only when no unproductive rule is left can units be replaced without
copying dead bodies. Replacing units copies bodies, so equal ones are joined last, and what
is then out of reach is removed once more.

``form`` says what the result is; ``components`` and ``automaton`` turn it into an NFA.
"""

from dataclasses import replace

from ..grammar.tree import Grammar
from ..limits import Limits
from .deduplicate import deduplicate
from .expand_repetitions import expand_repetitions
from .flatten_nested import flatten_nested
from .form import Lnf
from .merge_terminals import merge_terminals
from .remove_units import remove_units
from .remove_useless import remove_useless

__all__ = ["PASSES", "Lnf", "flatten_nested", "normalize"]

PASSES = (
    expand_repetitions,
    remove_useless,
    merge_terminals,
    remove_units,
    deduplicate,
    remove_useless,
)


def normalize(grammar: Grammar, limits: Limits | None = None) -> Lnf:
    """The normal form of a checked grammar.

    Raises ``CheckError`` if the start rule has no finite member, ``LimitError`` on time.
    """
    limits = (limits or Limits()).started()
    lnf = flatten_nested(grammar)
    for normal_pass in PASSES:
        if normal_pass is remove_units:
            lnf = replace(lnf, authored=lnf)
        lnf = normal_pass(lnf)
        limits.check_time(f"the pass {normal_pass.__name__}")
    return lnf
