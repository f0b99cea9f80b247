"""From the tree to Loup's normal form, pass by pass.

    expand_permutations  (of the tree) all orders of their parts become rules
    flatten_nested       groups, options and repetitions get names; bodies become flat
    expand_repetitions   items that repeat become left-recursive rules
    remove_useless       what has no finite member, adds no text, or is out of reach
    merge_terminals      neighbouring texts become one
    remove_units         a rule that is another rule takes over its bodies
    merge_nonterminals   nonterminals with the same productions become one
    deduplicate          equal bodies of one rule become one

and, where no symbol may derive ε (``normalize_without_nullable``), then

    eliminate_nullable   every symbol is there or it is not; a flag says whether ε is a member

with the passes from remove_useless on once again. "Implementing a Constrained Decoding Engine"
lists ten steps. Two more are done on the way: *flatten operators with precedence* by the
parsers, whose trees have sequences and choices of any length, nested as they bind, and by
flatten_nested, which opens a sequence in a sequence and a choice in a choice; *group rules
with the same left-hand side* by flatten_nested, which gives one name one number, and by
``Lnf``, whose productions are sorted by it.

The order is forced by what each pass leaves behind. Flattening comes first because all
others need flat bodies. Expanding comes before removing the useless, which must see the
rules that it makes (a repetition of nothing is ε, not nothing). Only then do texts become
neighbours, and only when no unproductive rule is left can units be replaced without
copying dead bodies. Nonterminals are merged after that, because only bodies that are no
longer hidden behind units can be seen to be equal (B ::= C is C), and the names that stand
between the author's rules are gone. Merging makes bodies equal but no new unit, and replacing units
copies bodies, so equal ones are joined last. None of the last three makes anything useless.

Eliminating comes after all of these, so that it takes each distinct body once. It leaves
texts side by side (what stood between them may be missing), units, rules without a body,
and rules that have become equal to others, in the order in which these are then removed.

``form`` says what the result is; ``components`` and ``automaton`` turn it into an NFA.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from ..grammar.expand_permutations import expand_permutations
from ..grammar.tree import Grammar
from ..limits import Limits, blaming
from .flatten import expand_repetitions, flatten_nested, merge_terminals
from .form import Lnf
from .merge_equal import deduplicate, merge_nonterminals
from .remove_units import eliminate_nullable, remove_units
from .remove_useless import remove_useless

__all__ = [
    "PASSES",
    "PASSES_WITHOUT_NULLABLE",
    "Lnf",
    "check_members",
    "eliminate_nullable",
    "flatten_nested",
    "normalize",
    "normalize_without_nullable",
]

_SIMPLIFY = (remove_useless, merge_terminals, remove_units, merge_nonterminals, deduplicate)

# Flattening goes before both.
PASSES = (expand_repetitions, *_SIMPLIFY)
PASSES_WITHOUT_NULLABLE = (*PASSES, eliminate_nullable, *_SIMPLIFY)


def normalize(grammar: Grammar, limits: Limits | None = None) -> Lnf:
    """The normal form of a checked grammar, conditions 1 to 6: what automata are built from.

    Raises ``CheckError`` if the start rule has no finite member, ``LimitError`` on time,
    ``ValueError`` if ignored text has not been woven into the rules (``weave_ignored``).
    """
    return _run(PASSES, grammar, limits)


def check_members(grammar: Grammar, limits: Limits | None = None) -> None:
    """Raise what ``normalize`` raises, by the passes alone that may."""
    _run(PASSES[: PASSES.index(remove_useless) + 1], grammar, limits)


def normalize_without_nullable(
    grammar: Grammar, limits: Limits | None = None, *, merge: bool = True
) -> Lnf:
    """The normal form of a checked grammar, all conditions. Raises as ``normalize`` does.

    ``merge=False``: all but 6, so that what is left of each rule keeps its name.
    """
    passes = [p for p in PASSES_WITHOUT_NULLABLE if merge or p is not merge_nonterminals]
    return _run(passes, grammar, limits)


def _run(passes: Iterable[Callable[[Lnf], Lnf]], grammar: Grammar, limits: Limits | None) -> Lnf:
    if grammar.ignored:
        raise ValueError("a normal form has no ignored text: weave_ignored goes before it")
    limits = (limits or Limits()).started()
    expanded = expand_permutations(grammar, limits)
    with blaming(grammar.longest_rule()):
        lnf = flatten_nested(expanded, limits)
    for normal_pass in passes:
        if normal_pass is expand_repetitions:
            with blaming(grammar.longest_rule()):
                lnf = expand_repetitions(lnf, limits)
        elif normal_pass is remove_units:
            # The one pass whose result can be much larger than what it is given.
            lnf = remove_units(replace(lnf, authored=lnf.authored or lnf), limits)
        else:
            lnf = normal_pass(lnf)
        limits.check_resources(f"the pass {normal_pass.__name__}", grammar.longest_rule())
    return lnf
