"""Masks along random walks are those that are recorded, bit by bit.

The record is of forty grammars, with two tokenizers, under each meaning and tokenization; what is
computed lazily and what is precomputed have one record. ``pytest --full --update`` of this file
writes it again: for a change that is meant to change masks, and for no other.
"""

import json
import random
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from support import EXAMPLES, ROOT, sampled
from support.matcher import allowed as allowed_of

from constrain.artifacts import Artifact
from constrain.artifacts.errors import ConstrainError
from constrain.compiler import Limits, Tokenizer, compile_grammar
from constrain.compiler.dialects import dialect_of

RECORD = ROOT / "tests" / "corpus" / "recorded_masks.json"

# Grammars of this repository, and of the test data, by dialect where the suffix does not say it.
OWN = [
    "code.lark",
    "date.ebnf",
    "ipv4.regex",
    "json.ebnf",
    "json.lark",
    "person.ebnf",
    "tool_call.schema.json",
    "words.ebnf",
    "agents/issue_tracker.tools.json",
    "agents/think_then_call.structural-tag.json",
    "agents/think_then_json.structural-tag.json",
    "arithmetic/python.iso",
    "chess/game.gbnf",
    "csv/rfc4180.gbnf",
    "logs/access.regex",
    "mail/header.ebnf",
    "schemas/chat_request.schema.json",
    "schemas/order.schema.json",
    "schemas/tree.schema.json",
    "sql/select.lark",
    "xml/drawing.w3c",
]
OTHERS = [
    "gbnf/arithmetic.gbnf",
    "gbnf/c.gbnf",
    "gbnf/chess.gbnf",
    "gbnf/english.gbnf",
    "gbnf/japanese.gbnf",
    "gbnf/json.gbnf",
    "gbnf/json_arr.gbnf",
    "gbnf/list.gbnf",
    "people/hcl__grammar.gbnf",
    "people/llg__sample_parser_data_from-llama.cpp_vllm-sql.gbnf",
    "people/paperless__grammar.gbnf",
    "people/pocket__grammar.gbnf",
    "people/xgr__01.gbnf",
    "people/xgr__04.gbnf",
    "people/xgr__10.gbnf",
    "people/xgr__12.gbnf",
    "people/xgr__15.gbnf",
    "people/xgr__16.gbnf",
    "people/xgr__17.gbnf",
]
TOKENIZERS = ["default", "gpt2"]

# What a grammar is compiled for, each lazily and with rows that are precomputed.
MODES = {
    "any": {"tokenization": "any", "meaning": "exact"},
    "canonical": {"tokenization": "canonical", "meaning": "exact"},
    "maximal munch": {"tokenization": "any", "meaning": "maximal-munch"},
}
LAZILY, PRECOMPUTED = {"prewarm": 0}, {"prewarm": None}

# Walks of each, and tokens of one at most.
WALKS, LONGEST = 3, 30

# A clock would make the record one of the machine.
LIMITS = Limits(seconds=3600)


def digests(artifact: Artifact, seed: str) -> list[str]:
    """The hash of all masks of each walk, whose tokens are random ones of the masks."""
    found = []
    for number in range(WALKS):
        rng, matcher, digest = random.Random(f"{seed} {number}"), artifact.matcher(), sha256()
        for _ in range(LONGEST):
            digest.update(matcher.mask().tobytes())
            allowed = [i for i in allowed_of(matcher) if i not in artifact.manifest.eos]
            if not allowed:
                break
            matcher.advance(rng.choice(allowed))
        found.append(digest.hexdigest())
    return found


def recorded_of(path: Path, tokenizer: Tokenizer, mode: str, **options: object) -> list[str]:
    """The digests of a grammar, or the name of the error that it is refused with."""
    text, dialect = path.read_text(encoding="utf-8"), dialect_of(path.name)
    asked = {"dialect": dialect, "limits": LIMITS, **MODES[mode], **options}
    try:
        artifact = compile_grammar(text, tokenizer=tokenizer, **asked)  # type: ignore[arg-type]
    except ConstrainError as error:
        return [type(error).__name__]
    return digests(artifact, path.name)


CASES = [(name, tokenizer) for name in [*OWN, *OTHERS] for tokenizer in TOKENIZERS]


@sampled("name, tokenizer", CASES[4::16], CASES)
def test_masks_are_those_that_are_recorded(
    name: str,
    tokenizer: str,
    default_tokenizer: Tokenizer,
    request: pytest.FixtureRequest,
    update: bool,
) -> None:
    """Under each meaning and tokenization, lazily and precomputed."""
    data: Callable[[str], Path] = request.getfixturevalue("data") if name in OTHERS else None
    path = data(f"grammars/{name}") if data else EXAMPLES / name
    made = default_tokenizer if tokenizer == "default" else request.getfixturevalue("gpt2")
    found = {mode: recorded_of(path, made, mode, **LAZILY) for mode in MODES}
    if update:
        record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
        record[f"{name}, {tokenizer}"] = found
        RECORD.write_text(json.dumps(dict(sorted(record.items())), indent=1) + "\n")

    expected = json.loads(RECORD.read_text())[f"{name}, {tokenizer}"]
    assert expected == found
    assert expected == {mode: recorded_of(path, made, mode, **PRECOMPUTED) for mode in MODES}
