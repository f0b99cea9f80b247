"""The LALR states that Lark makes of a grammar over lexemes.

    start: NAME "=" NAME   ->   r0: T0 T1 T0   ->   0 -T0-> 1, 1 -T1-> 2, 2 -T0-> 3, at 3 r0 ends

The rules are written as Lark reads them, so that its states are those of the grammar as its author
gave it to Lark: these depend on how Lark takes repetitions and alternatives apart.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..automata.folding import fold
from ..diagnostics import CheckError, Diagnostic
from ..grammar.tree import Choice, Expr, Grammar, Literal, Reference, Repetition, Token, children
from ..grammar.tree import Sequence as Concatenation

# What matches nothing.
_NEVER = "NEVER"

# Rules and lexemes as they are written, and the rules that Lark makes of repetitions of them.
_WRITTEN = re.compile(r"\br(\d+)\b|\bT(\d+)\b")
_MADE = re.compile(r"__r(\d+)_(.*)")

HINT = "leave --lexer out: any grammar can be read by maximal munch"


@dataclass(frozen=True, eq=False)
class States:
    """``productions``: by rule what it may be, of numbers of lexemes and names of rules; Lark's
    rules for repetitions stand beside the author's. ``moves``: of each state where a symbol leads.
    ``ended``: of each state the lexemes before which some rule ends there. ``start``: the first
    state."""

    productions: Mapping[str, Sequence[Sequence[int | str]]]
    moves: Sequence[Mapping[int | str, int]]
    ended: Sequence[frozenset[int]]
    start: int


def lalr_states(grammar: Grammar) -> States:
    """The states of a grammar over lexemes. Raises ``CheckError`` where Lark finds that it is not
    LALR(1)."""
    from lark import Lark
    from lark.exceptions import GrammarError
    from lark.parsers.lalr_analysis import Shift

    names, text = _written(grammar)
    try:
        made: Any = Lark(text, parser="lalr", lexer="basic", start="r0")
    except GrammarError as error:
        said = _WRITTEN.sub(
            lambda m: names[int(m[1])] if m[1] else m[0], str(error).splitlines()[0]
        )
        message = f"Lark makes no LALR(1) parser of this grammar: {said.split(' in ')[0]}"
        raise CheckError(grammar.source, [Diagnostic(message, help=HINT)]) from None

    def symbol(name: str) -> int | str:
        if found := _MADE.fullmatch(name):
            return f"{names[int(found[1])]} {found[2]}"
        found = _WRITTEN.fullmatch(name)
        if found is None:
            return name
        return names[int(found[1])] if found[1] else int(found[2])

    productions: dict[str, list[list[int | str]]] = {}
    for rule in made.rules:
        body = [each.name for each in rule.expansion]
        of = productions.setdefault(str(symbol(rule.origin.name)), [])
        if _NEVER not in body:
            of.append([symbol(name) for name in body])
    table = made.parser.parser.parser.parse_table
    rows = [table.states[state] for state in range(len(table.states))]
    moves = [{symbol(n): to for n, (does, to) in row.items() if does is Shift} for row in rows]
    ended = [{symbol(n) for n, (does, _) in row.items() if does is not Shift} for row in rows]
    lexemes = [frozenset(each for each in row if isinstance(each, int)) for row in ended]
    (start,) = table.start_states.values()
    return States(productions, moves, lexemes, start)


def _written(grammar: Grammar) -> tuple[Sequence[str], str]:
    """The names of the rules, the start's first, and all rules as Lark reads them."""
    lexemes, bodies = dict[str, int](), {grammar.start: list[Expr]()}
    for rule in grammar.rules:
        if isinstance(rule.body, Token):
            lexemes[rule.name] = rule.body.ids[0][0]
        else:
            bodies.setdefault(rule.name, []).append(rule.body)
    numbers = {name: i for i, name in enumerate(bodies)}
    priorities = {rule.name: rule.priority for rule in grammar.rules}

    def written(expr: Expr, parts: Sequence[str]) -> str:
        match expr:
            case Reference(name):
                return f"T{lexemes[name]}" if name in lexemes else f"r{numbers[name]}"
            case Concatenation():
                return f"({' '.join(parts)})"
            case Choice():
                return f"({' | '.join(parts)})"
            case Repetition(_, least, most):
                return _repeated(parts[0], least, most)
            case Literal():
                return "()"
            case _:
                return _NEVER

    lines = [f'T{i}: "{i} "' for i in lexemes.values()] + [f'{_NEVER}: "never"']
    for name, parts in bodies.items():
        texts = [fold(body, _inside, written) for body in parts]
        lines.append(f"r{numbers[name]}.{priorities.get(name, 0)}: {' | '.join(texts)}")
    return [*bodies], "\n".join(lines) + "\n"


def _inside(expr: Expr) -> tuple[Expr, ...]:
    return children(expr) if isinstance(expr, Concatenation | Choice | Repetition) else ()


def _repeated(item: str, least: int, most: int | None) -> str:
    """A repetition as its author wrote it, as far as Lark tells such apart."""
    if most is None:
        if least < 2:
            return f"({item}{'*+'[least]})"
        return f"({item}~{least} {item}*)"
    return f"({item}?)" if (least, most) == (0, 1) else f"({item}~{least}..{most})"
