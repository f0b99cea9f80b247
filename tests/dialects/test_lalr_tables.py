"""The LALR tables in the package are those that Lark makes of the grammars beside them."""

import json

import lark
import pytest
from generators.make_lalr_tables import BUILDERS, encoded

from constrain.compiler.dialects.lalr_tables import tables_name

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("name", BUILDERS)
def test_the_tables_are_those_of_the_grammar(name: str) -> None:
    """Letter for letter with the version of Lark that they were made with."""
    text = BUILDERS[name].folder().joinpath(tables_name(name)).read_text("utf-8")
    if json.loads(text)["lark"] != lark.__version__:
        pytest.skip(f"the tables are not those of Lark {lark.__version__}")

    assert encoded(BUILDERS[name]) == text, "run python -m tests.generators.make_lalr_tables"
