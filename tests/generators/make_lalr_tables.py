"""Write the LALR tables of the dialects' grammars, ``kbnf.lalr.json`` beside ``kbnf.lark``.

    python -m tests.generators.make_lalr_tables

Run this again after a change of a grammar, or to move to another version of Lark.
"""

from pathlib import Path

from constrain.compiler.dialects.builder import Builder
from constrain.compiler.dialects.lalr_tables import encoded, tables_name
from constrain.compiler.dialects.table import DIALECTS


def main() -> None:
    """Write the file of each grammar."""
    folder = Path(str(Builder.folder()))
    builders = [row.builder for row in DIALECTS.values() if row.builder is not None]
    for grammar_file, postlex in {b.grammar_file: b.postlex for b in builders}.items():
        text = (folder / grammar_file).read_text(encoding="utf-8")
        (folder / tables_name(grammar_file)).write_text(encoded(text, postlex), encoding="utf-8")


if __name__ == "__main__":
    main()
