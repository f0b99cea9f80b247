"""The LALR tables that Lark makes of the dialects' grammars, kept in files beside them.

    kbnf.lark -> (Lark) -> kbnf.lalr.json -> tables for the loop in ``lalr_driver.py``

Lark makes them at once where the file is missing or damaged, or was made of another text.
``tests.generators.make_lalr_tables`` writes the files. What stands in one:

    made_of  the text of the grammar, and the terminal of line breaks
    lark     the version of Lark
    rules    [symbol, its expansion, whether one child alone stands for it] of each rule
    states   of each state: where a symbol leads, or -1 - i where rule i is reduced before it
    end      the state in which the text may end; 0 is the one that it begins in
    lexers   a regex each: what is ignored, and after it the terminals that may stand there
    lexer    of each state its lexer, and at the end the one of all terminals
"""

import json
import re
from collections.abc import Callable, Sequence
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from constrain.artifacts.tokens.memo import Made, Numbered

from .builder import Builder

if TYPE_CHECKING:
    from lark import Lark
    from lark.lexer import BasicLexer

# Ignored pieces in a row that one match reads: Python keeps the way to each until the match ends.
_MOST_IGNORED = 100


class Reduction(NamedTuple):
    """A rule of ``size`` symbols, which make one ``symbol``.

    ``call``: what makes one value of theirs; None where they are values of the rule around it.
    ``is_one``: the rule is one terminal. ``once``: one value alone is left as it is.
    """

    size: int
    symbol: str
    call: Callable[[Any, list[Any]], Any] | None
    is_one: bool
    once: bool


# Where a terminal leads, or what is reduced before it.
Action: TypeAlias = int | Reduction
# The match method of a regex whose groups are terminals.
Matcher: TypeAlias = Callable[[str, int], re.Match[str]]


class Tables:
    """Those of one grammar, for builders of one class. ``rows`` are those of each state, None until
    they are first needed. ``folder``: where the grammar is. ``is_flat``: no builder is called, so
    that all tokens stay as they are."""

    def __init__(
        self, folder: Traversable, builder: type[Builder], *, is_flat: bool = False
    ) -> None:
        grammar = folder.joinpath(builder.grammar_file).read_text("utf-8")
        data = _kept(folder, builder, grammar) or made(builder, grammar)
        self.rules: list[tuple[str, list[str], bool]] = data["rules"]
        self.states: list[dict[str, int]] = data["states"]
        self.end: int = data["end"]
        self.rows: list[dict[str, Action] | None] = [None] * len(self.states)
        self._lexers, self._lexer = data["lexers"], data["lexer"]
        self._matchers = Made[str, Matcher](lambda each: cast(Matcher, re.compile(each).match))
        # Symbols that builders do not know: their values are those of the rule around them.
        self.is_flat = is_flat
        inlined = {symbol for symbol, _, _ in self.rules if is_flat or symbol.startswith("_")}
        self._reductions: list[Reduction] = []
        for symbol, expansion, once in self.rules:
            call = None if symbol in inlined else getattr(builder, symbol)
            is_one = len(expansion) == 1 and expansion[0].isupper() and not once and call
            self._reductions.append(Reduction(len(expansion), symbol, call, bool(is_one), once))

    def row(self, state: int) -> dict[str, Action]:
        """The actions of a state, by terminal."""
        found = self.rows[state] = {
            kind: action if action >= 0 else self._reductions[-1 - action]
            for kind, action in self.states[state].items()
        }
        return found

    def matcher(self, state: int) -> Matcher:
        """What reads the next token in a state, after all that is ignored, or in state -1 any. It
        always matches: without a group, if no token stands there."""
        return self._matchers[self._lexers[self._lexer[state]]]

    def accepts(self, states: Sequence[int], kind: str) -> bool:
        """Whether a terminal may stand where the parser is."""
        stack = list(states)
        while (action := self.states[stack[-1]].get(kind)) is not None:
            if action >= 0:
                return True
            origin, expansion, _ = self.rules[-1 - action]
            del stack[len(stack) - len(expansion) :]
            stack.append(self.states[stack[-1]][origin])
        return kind == "$END" and stack[-1] == self.end


def tables_name(grammar_file: str) -> str:
    """``kbnf.lark -> kbnf.lalr.json``"""
    return grammar_file.removesuffix(".lark") + ".lalr.json"


def _kept(folder: Traversable, builder: type[Builder], grammar: str) -> Any:
    """What the file holds; None if it is none of this grammar's."""
    try:
        data = json.loads(folder.joinpath(tables_name(builder.grammar_file)).read_text("utf-8"))
        return data if data["made_of"] == [grammar, builder.line_break_token] else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


# --- made by Lark


class AcceptLineBreaks:
    """Tells Lark that line breaks may stand everywhere: the loop drops those that mean nothing."""

    def __init__(self, builder: type[Builder]) -> None:
        self.always_accept = (builder.line_break_token,) if builder.line_break_token else ()

    def process(self, stream: Any) -> Any:
        """All tokens."""
        return stream


def built(builder: type[Builder], grammar: str, transformer: Any = None) -> "Lark":
    """The parser that Lark makes of the grammar of a class of builders. Raises ``LarkError``."""
    from lark import Lark

    line_breaks: Any = AcceptLineBreaks(builder)
    return Lark(
        grammar,
        parser="lalr",
        transformer=transformer,
        keep_all_tokens=True,
        maybe_placeholders=False,
        postlex=line_breaks,
    )


def made(builder: type[Builder], grammar: str) -> dict[str, Any]:
    """What a file of tables holds; the same for the same text and version of Lark. Raises
    ``LarkError``, and ``ValueError`` on terminals that one regex a state cannot read."""
    import lark
    from lark.parsers.lalr_analysis import Shift

    frontend: Any = built(builder, grammar).parser
    table = frontend.parser.parser.parse_table
    (start,), (end,) = table.start_states.values(), table.end_states.values()
    # Rules by what they say, states breadth-first: Lark's own order depends on hashes.
    rules: dict[str, Any] = {}
    order, states = Numbered[Any]([start]), []
    for state in order:
        row: dict[str, Any] = {}
        for symbol, (action, target) in sorted(table.states[state].items()):
            if action is Shift:
                row[symbol] = order.number(target)
            else:
                text = f"{target.origin.name}: {[each.name for each in target.expansion]}"
                rules.setdefault(text, target)
                row[symbol] = text
        states.append(row)
    texts = sorted(rules)
    contextual = frontend.lexer.lexer
    regexes = [*(_regex(contextual.lexers[s]) for s in order), _regex(contextual.root_lexer)]
    lexers = sorted(set(regexes))
    return {
        "made_of": [grammar, builder.line_break_token],
        "lark": lark.__version__,
        "rules": [
            [rule.origin.name, [each.name for each in rule.expansion], rule.options.expand1]
            for rule in map(rules.__getitem__, texts)
        ],
        "states": [
            {
                symbol: -1 - texts.index(to) if isinstance(to, str) else to
                for symbol, to in row.items()
            }
            for row in states
        ],
        "end": order.find(end),
        "lexers": lexers,
        "lexer": [lexers.index(regex) for regex in regexes],
    }


def _regex(lexer: "BasicLexer") -> str:
    """What reads the next token, in Lark's order of terminals, after all that is ignored."""
    scanner = lexer.scanner
    if lexer.callback:
        raise ValueError(f"strings that a regex of the same state matches: {[*lexer.callback]}")
    parts: dict[bool, list[str]] = {True: [], False: []}
    for terminal in scanner.terminals:
        regex = terminal.pattern.to_regexp()
        if terminal.name in lexer.ignore_types:
            parts[True].append(f"(?:{regex})")
        else:
            parts[False].append(f"(?P<{terminal.name}>{regex})")
    if not parts[False]:
        return ""  # Another lexer makes the tokens.
    ignored = "|".join(parts[True])
    # Python's groups inside of repetitions are not to be trusted.
    if re.compile(ignored).groups:
        raise ValueError(f"a group in ignored terminals: write (?:…) in {ignored}")
    # Nothing fails after it, so nothing is tried twice; the next match goes on where it ends.
    return f"(?:{ignored}){{0,{_MOST_IGNORED}}}(?:{'|'.join(parts[False])})?"
