"""What `explain` says of the commonest errors of models: a table that was written down before."""

import tomllib
from functools import cache
from pathlib import Path

import pytest

from constrain.compiler.explain.explainer import Explainer, explainer_of_grammar
from constrain.compiler.explain.report import Status
from constrain.compiler.options import CompileOptions
from constrain.compiler.schema.options import SchemaOptions

TABLE = tomllib.loads((Path(__file__).parent / "sentences.toml").read_text())
ERRORS = [(name, text, said) for name, row in TABLE.items() for text, said in row["errors"]]


@cache
def explainer(name: str) -> Explainer:
    """Of one of the table's schemas."""
    row = TABLE[name]
    schema = SchemaOptions(**row.get("options", {}))
    options = CompileOptions(dialect=row.get("dialect", "json-schema"), schema=schema)
    return explainer_of_grammar(row["schema"], options)


@pytest.mark.parametrize(("name", "text", "said"), ERRORS)
def test_an_error_is_explained_by_the_sentence_of_the_table(
    name: str, text: str, said: str
) -> None:
    """The first sentence, with its place."""
    verdict = explainer(name).verdict(text.encode())
    assert verdict.sentences, verdict
    first = verdict.sentences[0]

    assert verdict.status is not Status.ACCEPTED
    assert said == f"{verdict.status.value} {first.place}".rstrip() + f": {first}"
