"""What stands between brackets without the empty text, where members stand on lines of their own.

{                    json.dumps(…, indent=2): what has no members is [] or {} on one line, so
  "a": [],           that what may have none is written once more, without it
  "b": [
    1                p  ::= ε | m q            p' ::= m q
  ]                  q  ::= ε | "," m q
}
"""

from dataclasses import replace

from ...grammar import tree
from .writer import Writer


class Lines:
    """Of the rules of a writer, those of goals and terminals match no empty text."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        # Of rules whether they match the empty text, and what else they match, if anything.
        self._known: dict[str, tuple[bool, tree.Expr | None]] = {}

    def split(self, expr: tree.Expr) -> tuple[bool, tree.Expr | None]:
        """Whether an expression matches the empty text, and the expression without it; None where
        nothing is left."""
        writer = self._writer
        match expr:
            case tree.Literal():
                return not expr.data, expr if expr.data else None
            case tree.Reference():
                return self._rule(expr)
            case tree.Choice():
                parts = [self.split(each) for each in expr.options]
                left = [some for _, some in parts if some is not None]
                is_empty = any(each for each, _ in parts)
                return is_empty, writer.choice(left) if left else None
            case tree.Sequence():
                behind = writer.sequence(*expr.items[1:])
                is_empty, first = self.split(expr.items[0])
                left = [] if first is None else [writer.sequence(first, behind)]
                if is_empty:
                    is_empty, some = self.split(behind)
                    left += [] if some is None else [some]
                return is_empty, writer.choice(left) if left else None
            case tree.Repetition():
                # An item is a member, with a comma.
                least = max(expr.min_times, 1)
                return expr.min_times == 0, replace(expr, min_times=least)
            case tree.Permutation():
                is_empty = not expr.least and not any(each.is_required for each in expr.parts)
                return is_empty, replace(expr, least=max(expr.least, 1)) if is_empty else expr
            case _:
                return False, expr

    def _rule(self, use: tree.Reference) -> tuple[bool, tree.Expr | None]:
        """The same of a rule: the rule itself, or one that is written now."""
        writer, name = self._writer, use.name
        if name in writer.of_goals or name not in writer.by_name or writer.by_name[name].terminal:
            return False, use
        if name not in self._known:
            # What leads to itself does so after a member.
            self._known[name] = False, use
            is_empty, some = self.split(writer.by_name[name].body)
            if is_empty and some is not None:
                other = writer.helper()
                writer.rule(other, [some])
                some = writer.reference(other)
            self._known[name] = (True, some) if is_empty else (False, use)
        return self._known[name]
