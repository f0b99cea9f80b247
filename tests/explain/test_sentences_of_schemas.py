"""Sentences beside an independent suite of schemas: nothing is said against a valid instance."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from constrain.artifacts.errors import ConstrainError
from constrain.compiler.diagnostics import Source
from constrain.compiler.explain.instance_sentences import Sentences
from constrain.compiler.explain.instance_text import read_instance
from constrain.compiler.limits import Limits
from constrain.compiler.schema.notes import Notes, Refused
from constrain.compiler.schema.options import SchemaOptions
from constrain.compiler.schema.places import Places
from constrain.compiler.schema.read import read_json

SUITE = "suites/json-schema-test-suite"
DRAFTS = ("draft4", "draft6", "draft7", "draft2019-09", "draft2020-12")

# What schemas refer to that are not given here.
REMOTES = "http://localhost:1234/"

# Of the invalid instances so many of a hundred have a sentence.
EXPLAINED = 75


def cases(suite: Path, draft: str) -> Iterator[tuple[str, bool, int]]:
    """Of each required case its name, whether it is valid, and how many sentences it has."""
    options = SchemaOptions(draft=draft.removeprefix("draft"), order="any", formats="ignore")
    for path in sorted((suite / "tests" / draft).glob("*.json")):
        for group in json.loads(path.read_text(encoding="utf-8")):
            source = Source(json.dumps(group["schema"]), "<schema>", "json-schema")
            if REMOTES in source.text:
                continue
            try:
                places = Places(read_json(source), options, Notes(), Limits())
                root = places.at("#")
                sentences = Sentences(places, options, Limits())
                for case in group["tests"]:
                    part = read_instance(json.dumps(case["data"])).part
                    assert part is not None
                    found = [c for c in sentences.of_text(part, root) if not c.is_spelling]
                    name = f"{path.name}: {group['description']}: {case['description']}"
                    yield name, case["valid"], len(found)
            except (Refused, ConstrainError):
                continue


@pytest.mark.parametrize("draft", DRAFTS)
def test_no_valid_instance_has_a_sentence_and_most_invalid_ones_do(
    data: Callable[[str], Path], draft: str
) -> None:
    """Keywords that are passed over leave some without one."""
    found = list(cases(data(SUITE), draft))
    invalid = [count for _, is_valid, count in found if not is_valid]

    assert [name for name, is_valid, count in found if is_valid and count] == []
    assert len(invalid) > 200
    assert 100 * sum(map(bool, invalid)) > EXPLAINED * len(invalid)
