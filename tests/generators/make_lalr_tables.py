"""Write the LALR tables of the dialects' grammars, ``kbnf.lalr.json`` beside ``kbnf.lark``.

    python -m tests.generators.make_lalr_tables

Run this again after a change of a grammar, so that Lark need not make them in each run, or to move
to another version of Lark.
"""

import json
from pathlib import Path

from constrain.compiler.dialects.builder import Builder
from constrain.compiler.dialects.lalr_tables import made, tables_name
from constrain.compiler.dialects.regex import RegexBuilder
from constrain.compiler.dialects.table import DIALECTS

BUILDERS = {
    row.builder.grammar_file: row.builder
    for row in DIALECTS.values()
    if row.builder and not issubclass(row.builder, RegexBuilder)
}


def text_of(builder: type[Builder]) -> str:
    """The text of the ``.lark`` file of a class of builders."""
    return builder.folder().joinpath(builder.grammar_file).read_text("utf-8")


def encoded(builder: type[Builder]) -> str:
    """The tables of a grammar as JSON; the same for the same text and version of Lark."""
    return json.dumps(made(builder, text_of(builder)), separators=(",", ":")) + "\n"


def main() -> None:
    """Write the file of each grammar."""
    for name, builder in BUILDERS.items():
        path = Path(str(Builder.folder())) / tables_name(name)
        path.write_text(encoded(builder), encoding="utf-8")


if __name__ == "__main__":
    main()
