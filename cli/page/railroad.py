"""Railroad diagrams of a grammar's rules: shapes for a page.

    s = "a", { b };      >>--("a")--+-------+--><
                                    +--[b]--+
                                    |  <--  |

``diagram`` lays one rule out. Its shapes are lists of numbers and text, so that the page draws them
by its DOM, with text as text. Same grammar, same bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..quoting import quoted
from .layout import text_width

if TYPE_CHECKING:
    from constrain.compiler.grammar.tree import Expr, Grammar, Pattern, Rule

# Pixels: of a box's height, between boxes, between rows, of a corner.
_BOX, _GAP, _ROW, _TURN = 22, 12, 8, 8

# Characters of a box; levels and boxes of a diagram.
_MOST_TEXT, _MOST_DEPTH, _MOST_BOXES = 48, 24, 400

# Pixels from which a sequence goes on in a row below.
_WRAP = 760

LITERAL, PATTERN, RULE, TOKEN, NOTE, FRAME = "literal", "pattern", "rule", "token", "note", "frame"

# ["p", path] for a line, ["b", kind, x, y, width, height, text, rule or ""] for a box.
Shape = list[Any]


@dataclass(frozen=True)
class Part:
    """A laid-out expression. The line enters and leaves at the height 0; ``up`` and ``down``: what
    is above and below it."""

    width: int
    up: int
    down: int
    shapes: tuple[Shape, ...]

    def at(self, x: int, y: int) -> list[Shape]:
        """The shapes with the line's beginning at a place."""
        return [_moved(shape, x, y) for shape in self.shapes]


def _moved(shape: Shape, x: int, y: int) -> Shape:
    if shape[0] == "p":
        return ["p", [(c, *(v + (x, y)[i % 2] for i, v in enumerate(a))) for c, *a in shape[1]]]
    return [*shape[:2], shape[2] + x, shape[3] + y, *shape[4:]]


def diagram(rule: "Rule") -> dict[str, Any]:
    """The diagram of a rule: ``width``, ``height`` and ``shapes``, as ``Shape`` has them; paths are
    SVG's."""
    inner = _Drawer().part(rule.body, 0)
    x, y = 14, inner.up + 6
    shapes = [
        _line(2, y, 14, y),
        ["p", [("M", 2, y - 6), ("L", 2, y + 6)]],
        *inner.at(x, y),
        _line(x + inner.width, y, x + inner.width + 12, y),
        ["p", [("M", x + inner.width + 12, y - 6), ("L", x + inner.width + 12, y + 6)]],
    ]
    return {
        "width": inner.width + 30,
        "height": y + inner.down + 6,
        "shapes": [["p", _path(s[1])] if s[0] == "p" else s for s in shapes],
    }


def railroads(grammar: "Grammar", most: int) -> list[dict[str, Any]]:
    """The diagrams of the rules that the start needs, at most so many, the start's first."""
    from constrain.compiler.automata.graphs import reached
    from constrain.compiler.lazy_dfa.expression import bodies_of

    rules = bodies_of(grammar)

    def uses(name: str) -> list[str]:
        return [use.name for rule in rules.get(name, ()) for use in rule.uses]

    names = islice(reached([grammar.start], uses), most)
    return [{"rule": name, **diagram(rule)} for name in names for rule in rules.get(name, ())]


class _Drawer:
    """Lays expressions out until there are too many boxes."""

    def __init__(self) -> None:
        self._boxes = 0

    def part(self, expr: "Expr", depth: int) -> Part:
        """The layout of an expression; what is too deep or too much is a box with an ellipsis."""
        from constrain.compiler.grammar import tree

        self._boxes += 1
        if depth > _MOST_DEPTH or self._boxes > _MOST_BOXES:
            return _box(NOTE, "…")
        inner = depth + 1
        match expr:
            case tree.Literal():
                return _box(LITERAL, quoted(expr.data)) if expr.data else _straight()
            case tree.Pattern():
                return _box(PATTERN, expr.text or _pattern(expr))
            case tree.Token():
                return _box(TOKEN, expr.text)
            case tree.Reference():
                return _box(RULE, expr.name, expr.name)
            case tree.Sequence():
                return _rows([self.part(item, inner) for item in expr.items])
            case tree.Choice():
                return _choice([self.part(option, inner) for option in expr.options])
            case tree.Repetition():
                return _repeated(self.part(expr.item, inner), expr.min_times, expr.max_times)
            case tree.Difference():
                parts = self.part(expr.left, inner), self.part(expr.right, inner)
                return _framed(_series([parts[0], _box(NOTE, "but not"), parts[1]]), "except")
            case tree.Excluding():
                most = "" if expr.at_most is None else f" (at most {expr.at_most})"
                return _framed(self.part(expr.item, inner), f"characters{most} without")
            case tree.Permutation():
                items = [self.part(part.item, inner) for part in expr.parts]
                return _framed(_choice(items), "in any order")


def _box(kind: str, text: str, rule: str = "") -> Part:
    text = text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"
    text = "".join(char if char.isprintable() else "\ufffd" for char in text)
    width = text_width(text) + 14
    shape: Shape = ["b", kind, 0, -_BOX // 2, width, _BOX, text, rule]
    return Part(width, _BOX // 2, _BOX // 2, (shape,))


def _pattern(expr: "Pattern") -> str:
    """A pattern that nobody has written, as those of schemas."""
    from constrain.compiler.writers.printer import NoCounterpart, node_text
    from constrain.compiler.writers.regex import RegexStyle

    try:
        return node_text(expr.node, RegexStyle()).text
    except NoCounterpart:
        return "…"


def _straight(width: int = 16) -> Part:
    return Part(width, 2, 2, (_line(0, 0, width, 0),))


def _line(x: int, y: int, x2: int, y2: int) -> Shape:
    return ["p", [("M", x, y), ("L", x2, y2)]]


def _path(steps: Sequence[tuple[Any, ...]]) -> str:
    return "".join(f"{command}{' '.join(map(str, places))}" for command, *places in steps)


def _series(parts: Sequence[Part]) -> Part:
    shapes: list[Shape] = []
    x = 0
    for place, part in enumerate(parts):
        if place:
            shapes.append(_line(x, 0, x + _GAP, 0))
            x += _GAP
        shapes += part.at(x, 0)
        x += part.width
    ups, downs = [p.up for p in parts], [p.down for p in parts]
    return Part(x, max(ups), max(downs), tuple(shapes))


def _rows(parts: Sequence[Part]) -> Part:
    """A sequence; one that is too wide goes on below, its line led back to the left."""
    rows: list[list[Part]] = [[]]
    width = 0
    for part in parts:
        if rows[-1] and width + part.width > _WRAP:
            rows.append([])
            width = 0
        rows[-1].append(part)
        width += part.width + _GAP
    if len(rows) == 1:
        return _series(parts)
    series = [_series(row) for row in rows]
    widest = max(row.width for row in series) + 2 * _TURN
    shapes: list[Shape] = []
    y = bottom = end = above = 0
    for place, row in enumerate(series):
        if place:
            middle = bottom + _ROW
            y = middle + _ROW + row.up
            shapes.append(["p", _turn_back(end, above, middle, y)])
        shapes += row.at(_TURN, y)
        end, above, bottom = _TURN + row.width, y, y + row.down
    shapes += [_line(0, 0, _TURN, 0), _line(end, y, widest, y)]
    # It leaves where it entered.
    shapes.append(["p", [("M", widest, y), ("L", widest + _TURN, y), ("L", widest + _TURN, 0)]])
    return Part(widest + _TURN, series[0].up, bottom, tuple(shapes))


def _turn_back(end: int, above: int, middle: int, y: int) -> list[tuple[Any, ...]]:
    """From the end of a row around to the beginning of the next."""
    return [
        ("M", end, above),
        ("Q", end + _TURN, above, end + _TURN, above + _TURN),
        ("L", end + _TURN, middle),
        ("L", 0, middle),
        ("L", 0, y - _TURN),
        ("Q", 0, y, _TURN, y),
    ]


def _choice(parts: Sequence[Part]) -> Part:
    inner = max(part.width for part in parts)
    width = inner + 4 * _TURN
    shapes: list[Shape] = []
    y = bottom = 0
    for place, part in enumerate(parts):
        if place:
            y = bottom + _ROW + max(part.up, 2 * _TURN - _ROW)
            shapes += [["p", way] for way in _branch(y, width)]
        left = 2 * _TURN
        shapes += part.at(left, y)
        right = left + part.width
        if right < left + inner:
            shapes.append(_line(right, y, left + inner, y))
        bottom = y + part.down
    shapes += [_line(0, 0, 2 * _TURN, 0), _line(width - 2 * _TURN, 0, width, 0)]
    return Part(width, parts[0].up, bottom, tuple(shapes))


def _branch(y: int, width: int) -> list[list[tuple[Any, ...]]]:
    """The line down to another branch, and back up after it."""
    return [
        [
            ("M", 0, 0),
            ("Q", _TURN, 0, _TURN, _TURN),
            ("L", _TURN, y - _TURN),
            ("Q", _TURN, y, 2 * _TURN, y),
        ],
        [
            ("M", width - 2 * _TURN, y),
            ("Q", width - _TURN, y, width - _TURN, y - _TURN),
            ("L", width - _TURN, _TURN),
            ("Q", width - _TURN, 0, width, 0),
        ],
    ]


def _repeated(part: Part, least: int, most: int | None) -> Part:
    if most != 1:
        part = _looped(part, _times(least, most))
    if least == 0:
        part = _choice([_straight(), part])
    return part


def _times(least: int, most: int | None) -> str:
    """What is written at a loop: nothing for any number of times."""
    if most is None:
        return f"{least} or more times" if least > 1 else ""
    return f"{least} times" if least == most else f"{max(least, 1)} to {most} times"


def _looped(part: Part, text: str) -> Part:
    width = max(part.width, text_width(text) + 8) + 2 * _TURN
    y = part.down + _ROW
    shapes = part.at(_TURN, 0)
    shapes.append(_line(0, 0, _TURN, 0))
    shapes.append(_line(_TURN + part.width, 0, width, 0))
    back = [
        ("M", width - _TURN, 0),
        ("Q", width, 0, width, min(_TURN, y)),
        ("L", width, y - _TURN if y > _TURN else y),
        ("Q", width, y, width - _TURN, y),
        ("L", _TURN, y),
        ("Q", 0, y, 0, y - _TURN if y > _TURN else y),
        ("L", 0, min(_TURN, y)),
        ("Q", 0, 0, _TURN, 0),
    ]
    shapes.append(["p", back])
    middle = width // 2
    shapes.append(["p", [("M", middle + 4, y - 4), ("L", middle - 2, y), ("L", middle + 4, y + 4)]])
    down = y + 5
    if text:
        note: Shape = ["b", NOTE, (width - text_width(text)) // 2 - 7, y, 0, _BOX, text, ""]
        shapes.append(note)
        down += 18
    return Part(width, part.up, down, tuple(shapes))


def _framed(part: Part, title: str) -> Part:
    width = max(part.width + 2 * _GAP, text_width(title) + 14)
    up, down = part.up + 6, part.down + 6
    frame: Shape = ["b", FRAME, 0, -up, width, up + down, title, ""]
    shapes = part.at(_GAP, 0)
    shapes += [_line(0, 0, _GAP, 0), _line(_GAP + part.width, 0, width, 0)]
    return Part(width, up + 16, down, (frame, *shapes))
