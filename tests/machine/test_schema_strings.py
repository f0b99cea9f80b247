"""Strings of JSON Schemas with an automaton and a length: their states are made while decoding."""

import json
from collections.abc import Mapping

import pytest
from support import grows
from support.matcher import check_random_texts

from constrain.artifacts import Artifact
from constrain.compiler import Compiler, Tokenizer, thresholds
from constrain.compiler.schema.notes import SPELLINGS

DIGIT = "^(?=.*[0-9])"
SMALL = {
    "escapes": {"pattern": DIGIT + "[^x]*$", "minLength": 2, "maxLength": 5},
    "controls": {"pattern": '[\\n"]', "maxLength": 3},
    "two": {"allOf": [{"pattern": "[0-9]"}, {"pattern": "[a-z\\\\]$"}], "maxLength": 6},
    "beyond": {"pattern": "^(é|😀|/|a)*$", "minLength": 3, "maxLength": 4},
    "hostname": {"format": "hostname", "maxLength": 12},
}


def compiled(compiler: Compiler, string: Mapping[str, object], **given: object) -> Artifact:
    """An object with such a string, another one of many characters, and such objects inside."""
    items = {"type": "array", "items": {"$ref": "#"}}
    free = {"type": "string", "maxLength": 30}
    properties = {"a": {"type": "string", **string}, "b": free, "c": items}
    schema = {"type": "object", "properties": properties, "required": ["a"]}
    wanted = {"tokenization": "any", "prewarm": 0} | given
    return compiler.compile(json.dumps(schema), dialect="json-schema", **wanted)


@pytest.mark.parametrize("name", SMALL)
def test_masks_are_those_of_the_product(
    name: str,
    default_tokenizer: Tokenizer,
    gpt2: Tokenizer,
    full: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(thresholds, "LARGE_STATES", 0)
    for tokenizer in (default_tokenizer, gpt2):
        lazy = compiled(Compiler(tokenizer), SMALL[name])
        eager = compiled(Compiler(tokenizer), SMALL[name], engine="network")
        assert grows(lazy)
        assert eager.manifest.kind == "network"
        assert lazy.manifest.counts["lazy_terminals"] == 2
        check_random_texts([lazy, eager], 60 if full else 2, 40, seed=7, short=0.7)


def test_products_of_any_length_are_kept_whole(default_tokenizer: Tokenizer) -> None:
    """The texts that are left out where the product is built are not, and the size is the same."""
    compiler, sizes = Compiler(default_tokenizer), set()
    for most in (2_048, 1_000_000):
        artifact = compiled(compiler, {"format": "uri", "maxLength": most})
        assert grows(artifact)
        left_out = [note for note in artifact.manifest.notes if "left out" in note]
        assert all(note.startswith(SPELLINGS) for note in left_out)
        sizes.add(artifact.manifest.counts["dfa_states"])
        begun = b'{"a": "http:' + b"x" * (2_048 - 5)
        assert artifact.viable_bytes(begun + b'x"') == len(begun) + (2 if most > 2_048 else 0)
    assert len(sizes) == 1
