"""The LALR tables of the dialects' grammars as data of the package, so that no run builds them.

    kbnf.lark -> kbnf.lalr.json -> a parser, in a tenth of the time that Lark takes to build it

``tests.generators.make_lalr_tables`` writes the files; a test compares them with what
Lark makes of the grammars. They depend on Lark's version: with another one the grammar is used.
"""

import json
from importlib.resources.abc import Traversable
from typing import Any

import lark
from lark import Lark
from lark.grammar import Rule
from lark.lark import PostLex
from lark.lexer import TerminalDef

# The key of a dictionary whose keys are numbers, which JSON has not: a list of pairs.
_PAIRS = "#"


def parser_of(folder: Traversable, name: str, transformer: Any, postlex: PostLex | None) -> Lark:
    """The parser of the grammar in the file ``name`` of ``folder``, from its tables if they fit."""
    tables = json.loads(folder.joinpath(tables_name(name)).read_text("utf-8"), object_hook=_dict)
    if tables["lark"] != lark.__version__:
        return built(folder.joinpath(name).read_text("utf-8"), transformer, postlex)
    # The way that Lark's own stand-alone parsers take.
    parser: Lark = Lark._load_from_dict(  # type: ignore[no-untyped-call]
        tables["data"], tables["memo"], transformer=transformer, postlex=postlex
    )
    return parser


def tables_name(grammar_file: str) -> str:
    """``kbnf.lark -> kbnf.lalr.json``"""
    return grammar_file.removesuffix(".lark") + ".lalr.json"


def built(text: str, transformer: Any = None, postlex: PostLex | None = None) -> Lark:
    """The parser that Lark builds of a grammar's text."""
    return Lark(
        text,
        parser="lalr",
        transformer=transformer,
        keep_all_tokens=True,
        maybe_placeholders=False,
        postlex=postlex,
    )


def encoded(text: str, postlex: PostLex | None) -> str:
    """The tables of a grammar's text as JSON; the same for the same text and version of Lark."""
    data, memo = built(text, postlex=postlex).memo_serialize([TerminalDef, Rule])
    data["options"]["postlex"] = None  # An object, which a parser is given with its tables.
    data["parser"]["parser"] = _renumbered(data["parser"]["parser"])
    return (
        json.dumps(
            _plain({"lark": lark.__version__, "data": data, "memo": memo}), separators=(",", ":")
        )
        + "\n"
    )


# Shift and reduce, as Lark numbers the actions of its tables.
_SHIFT = 0


def _renumbered(table: dict[str, Any]) -> dict[str, Any]:
    """A parse table with symbols numbered by name and states breadth-first from the start ones;
    Lark's own numbers depend on hashes and addresses."""
    names, states = table["tokens"], table["states"]
    symbols = sorted(names.values())
    starts = dict(sorted(table["start_states"].items()))
    order = list(starts.values())
    number = {state: i for i, state in enumerate(order)}
    rows = []
    for state in order:
        row = sorted(((names[symbol], *action) for symbol, action in states[state].items()))
        for _, action, target in row:
            if action == _SHIFT and target not in number:
                number[target] = len(order)
                order.append(target)
        rows.append(row)
    return {
        "tokens": dict(enumerate(symbols)),
        "states": {
            i: {
                symbols.index(name): [action, number[of] if action == _SHIFT else of]
                for name, action, of in row
            }
            for i, row in enumerate(rows)
        },
        "start_states": {name: number[state] for name, state in starts.items()},
        "end_states": {name: number[state] for name, state in table["end_states"].items()},
    }


def _plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value):
            return {key: _plain(inner) for key, inner in value.items()}
        return {_PAIRS: [[key, _plain(inner)] for key, inner in value.items()]}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _dict(read: dict[str, Any]) -> dict[Any, Any]:
    """The dictionary that ``_plain`` made ``read`` of."""
    return dict(read[_PAIRS]) if _PAIRS in read else read
