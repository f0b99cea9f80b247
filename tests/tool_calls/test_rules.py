"""Rules of schemas: each has a name of its own."""

import json
import random

from support.schema.plain_schemas import document

from constrain.compiler.diagnostics import CheckError, Source
from constrain.compiler.schema import SchemaOptions, schema_grammar


def test_rules_have_names_of_their_own_where_keys_end_as_names_of_rules_do(full: bool) -> None:
    """A rule of two definitions would be either of them."""
    for number in range(10_000 if full else 150):
        text = json.dumps(document(random.Random(number), 0))
        try:
            grammar = schema_grammar(Source(text, "s", "json-schema"), SchemaOptions())
        except CheckError:
            continue
        assert len(grammar.rules) == len({rule.name for rule in grammar.rules}), text
