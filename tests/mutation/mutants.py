"""Small changes of meaning in Python source: the places where one can be made, and each made.

A *mutant* is a module in which one expression or statement is another one: a comparison off by one
or turned round, a whole number one more or less, a branch that is always or never taken, a check
that is dropped, a call whose result nobody needs left out.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

# What each comparison becomes.
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}

# What each operator of numbers and of sets becomes.
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: ``new`` stands for ``old``, the bytes ``begin`` to ``end`` of a file."""

    line: int
    begin: int
    end: int
    old: str
    new: str

    def applied(self, source: bytes) -> bytes:
        """The module with this change."""
        return source[: self.begin] + self.new.encode() + source[self.end :]


def mutants_of(source: bytes) -> list[Mutant]:
    """All mutants of a module, in the order of the text.

    None is in what is only read or shown: annotations, decorators, defaults of the module's own
    constants that are strings, messages of errors, docstrings.
    """
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node, new in _changes(ast.parse(source)):
        begin = starts[node.lineno - 1] + node.col_offset
        assert node.end_lineno is not None and node.end_col_offset is not None
        end = starts[node.end_lineno - 1] + node.end_col_offset
        old = source[begin:end].decode()
        found.append(Mutant(node.lineno, begin, end, old, new))
    return sorted(found, key=lambda mutant: (mutant.begin, mutant.end, mutant.new))


def _changes(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Each node that can be another, and its text then."""
    for node in _executed(tree):
        match node:
            case ast.Compare(ops=[operator]) if type(operator) in COMPARISONS:
                other = COMPARISONS[type(operator)]()
                yield node, _text(ast.Compare(node.left, [other], node.comparators))
            case ast.BinOp() if type(node.op) in OPERATORS and not _is_text(node):
                yield node, _text(ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right))
            case ast.BoolOp(values=values):
                swapped = ast.Or() if isinstance(node.op, ast.And) else ast.And()
                yield node, _text(ast.BoolOp(swapped, values))
                yield from ((node, _text(_without(node, at))) for at in range(len(values)))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield node, _text(operand)
            case ast.Constant(value=bool(value)):
                yield node, str(not value)
            case ast.Constant(value=int(value)):
                yield node, f"({value + 1})"
                yield node, f"({value - 1})"
            case ast.Call(func=ast.Name(id="min" | "max" as name)):
                other_name = ast.Name("max" if name == "min" else "min")
                yield node, _text(ast.Call(other_name, node.args, node.keywords))
            case ast.If() | ast.IfExp() if not _is_for_types(node.test):
                yield node.test, "True"
                yield node.test, "False"
            case ast.Raise() | ast.Continue() | ast.Expr(value=ast.Call()):
                yield node, "pass"
            case ast.Break():
                yield node, "continue"


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes below one but those that are only read or shown."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "bases", "type_params"):
                continue
            # Messages: what is wrong is said, but tests hold that it is, not each word.
            if isinstance(node, ast.Raise) or isinstance(value, ast.JoinedStr):
                continue
            children = value if isinstance(value, list) else [value]
            stack.extend(child for child in children if isinstance(child, ast.AST))


def _without(node: ast.BoolOp, at: int) -> ast.expr:
    """A condition without one of its parts."""
    rest = [*node.values[:at], *node.values[at + 1 :]]
    return rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def _is_for_types(test: ast.expr) -> TypeGuard[ast.Name]:
    """Whether a branch is for type checkers alone."""
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def _is_text(node: ast.BinOp) -> bool:
    """Whether texts are joined, or types."""
    return any(
        isinstance(side, ast.JoinedStr)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes | None))
        for side in (node.left, node.right)
    )


def _text(node: ast.expr) -> str:
    """An expression as text that keeps its meaning wherever it stands."""
    return f"({ast.unparse(ast.fix_missing_locations(node))})"
