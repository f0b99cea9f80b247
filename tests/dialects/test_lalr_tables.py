"""The LALR tables in the package are those that Lark makes of the grammars beside them."""

import json
from typing import Any

import lark
import pytest

from constrain.compiler.dialects import lalr_tables
from constrain.compiler.dialects.builder import Builder
from constrain.compiler.dialects.table import DIALECTS

pytestmark = pytest.mark.quick

BUILDERS = [row.builder for row in DIALECTS.values() if row.builder is not None]
GRAMMARS = {builder.grammar_file: builder.postlex for builder in BUILDERS}


@pytest.mark.parametrize("name", GRAMMARS)
def test_the_tables_are_those_of_the_grammar(name: str) -> None:
    """Letter for letter with the version of Lark that they were made with."""
    folder = Builder.folder()
    text = folder.joinpath(lalr_tables.tables_name(name)).read_text("utf-8")
    if json.loads(text)["lark"] != lark.__version__:
        pytest.skip(f"the tables are not those of Lark {lark.__version__}, which builds its own")

    made = lalr_tables.encoded(folder.joinpath(name).read_text("utf-8"), GRAMMARS[name])

    assert made == text, "run python -m tests.generators.make_lalr_tables"


@pytest.mark.parametrize("name", GRAMMARS)
def test_another_version_of_lark_builds_its_own(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables' form belongs to one version; the parser is the same without them."""
    read = lalr_tables.parser_of(Builder.folder(), name, None, GRAMMARS[name])
    monkeypatch.setattr(lark, "__version__", "0")

    made = lalr_tables.parser_of(Builder.folder(), name, None, GRAMMARS[name])

    assert _forms(made) == _forms(read)


def _forms(parser: lark.Lark) -> list[Any]:
    terminals = [(t.name, t.pattern.to_regexp(), t.priority) for t in parser.terminals]
    return [terminals, [(str(rule), rule.alias) for rule in parser.rules]]
