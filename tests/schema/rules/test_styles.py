"""Schemas in the styles of people's tools: verdicts on valid instances and mutants of them."""

import json
import random
from collections.abc import Callable
from typing import Any

import jsonschema
import jsonschema_rs
from support import sampled
from support.schema import members, random_schemas, styles


def _instances(rng: random.Random, value: Any, is_valid: Callable[[Any], bool]) -> list[Any]:
    """Ten valid ones, if so many are found by changing one."""
    found = [value]
    for _ in range(300):
        changed = random_schemas.mutated(rng, rng.choice(found))
        if len(found) < 10 and is_valid(changed):
            found.append(changed)
    return found


@sampled("seed", range(16), range(200))
def test_verdicts_are_those_of_two_validators(seed: int) -> None:
    """Valid instances of each, however they are spelled, and as many mutants; what is left out is
    noted."""
    rng = random.Random(seed)
    style = styles.STYLES[seed % len(styles.STYLES)]
    schema, value = styles.made(rng, style)
    while "properties" not in schema:
        schema, value = styles.made(rng, style)
    found = members(schema, order="any", escapes="any", integer="decimal", whitespace="flexible")
    is_exact = not any("[narrowed]" in note for note in found.notes)
    validators = jsonschema.Draft202012Validator(schema), jsonschema_rs.validator_for(schema)
    assert validators[0].is_valid(value)
    valid = _instances(rng, value, validators[0].is_valid)
    for each in (*valid, *(random_schemas.mutated(rng, rng.choice(valid)) for _ in range(10))):
        text = styles.spelled(rng, each)
        verdicts = {each.is_valid(json.loads(text)) for each in validators}
        allowed = found.accepts(text)

        assert (text, {allowed}) == (text, verdicts) or not (is_exact or allowed)
