"""Write the LALR tables of the dialects' grammars, ``kbnf.lalr.json`` beside ``kbnf.lark``.

    python -m tests.generators.make_lalr_tables

Run this again after a change of a grammar, or to move to another version of Lark.
"""

import json
import re
from pathlib import Path
from typing import Any

import lark
from lark import Lark
from lark.lark import PostLex
from lark.lexer import BasicLexer
from lark.parsers.lalr_analysis import Shift

from constrain.compiler.dialects.builder import Builder
from constrain.compiler.dialects.lalr_tables import tables_name
from constrain.compiler.dialects.table import DIALECTS

# Ignored pieces in a row that one match reads: Python keeps the way to each until the match ends.
_MOST_IGNORED = 100

BUILDERS = {row.builder.grammar_file: row.builder for row in DIALECTS.values() if row.builder}


class LineBreaks(PostLex):
    """Line breaks may stand everywhere: the loop drops those that mean nothing."""

    def __init__(self, builder: type[Builder]) -> None:
        self.always_accept = (builder.line_break,) if builder.line_break else ()

    def process(self, stream: Any) -> Any:
        """All tokens."""
        return stream


def built(builder: type[Builder], transformer: Any = None, postlex: Any = None) -> Lark:
    """The parser that Lark makes of the grammar of a class of builders."""
    return Lark(
        builder.folder().joinpath(builder.grammar_file).read_text("utf-8"),
        parser="lalr",
        transformer=transformer,
        keep_all_tokens=True,
        maybe_placeholders=False,
        postlex=postlex or LineBreaks(builder),
    )


def encoded(builder: type[Builder]) -> str:
    """The tables of a grammar as JSON; the same for the same text and version of Lark."""
    frontend: Any = built(builder).parser
    table = frontend.parser.parser.parse_table
    (start,), (end,) = table.start_states.values(), table.end_states.values()
    # Rules by what they say, states breadth-first: Lark's own order depends on hashes.
    rules: dict[str, Any] = {}
    order, states = [start], []
    number = {start: 0}
    for state in order:
        row = {}
        for symbol, (action, target) in sorted(table.states[state].items()):
            if action is Shift:
                if target not in number:
                    number[target] = len(order)
                    order.append(target)
                row[symbol] = number[target]
            else:
                text = f"{target.origin.name}: {[each.name for each in target.expansion]}"
                rules.setdefault(text, target)
                row[symbol] = text
        states.append(row)
    texts = sorted(rules)
    contextual = frontend.lexer.lexer
    regexes = [*(_regex(contextual.lexers[s]) for s in order), _regex(contextual.root_lexer)]
    lexers = sorted(set(regexes))
    data = {
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
        "end": number[end],
        "lexers": lexers,
        "lexer": [lexers.index(regex) for regex in regexes],
    }
    return json.dumps(data, separators=(",", ":")) + "\n"


def _regex(lexer: BasicLexer) -> str:
    """What reads the next token, in Lark's order of terminals, behind all that is ignored."""
    scanner = lexer.scanner
    assert not lexer.callback, "a terminal that is a string for one state and a regex for another"
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
    assert re.compile(ignored).groups == 0, ignored
    # Nothing fails behind it, so nothing is tried twice; the next match goes on where it ends.
    return f"(?:{ignored}){{0,{_MOST_IGNORED}}}(?:{'|'.join(parts[False])})?"


def main() -> None:
    """Write the file of each grammar."""
    for name, builder in BUILDERS.items():
        path = Path(str(Builder.folder())) / tables_name(name)
        path.write_text(encoded(builder), encoding="utf-8")


if __name__ == "__main__":
    main()
