"""Token terminals on real tokenizers, whose own encodings are the members' sequences."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support import sampled, written

from constrain.artifacts import Artifact
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar, load_tokenizer

# Bytes, as they are.
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}


@pytest.fixture
def merging(data: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Tokenizer]:
    """The vocabulary, merges and added tokens of a tokenizer, nothing before merging; tool calls
    are among its added tokens."""

    def load(name: str) -> Tokenizer:
        value = json.loads(data(f"tokenizers/{name}/tokenizer.json").read_bytes())
        value["normalizer"] = None
        value["pre_tokenizer"] = BYTES
        known, last = value["added_tokens"], value["added_tokens"][-1]
        missing = {"<tool_call>", "</tool_call>"} - {token["content"] for token in known}
        for number, content in enumerate(sorted(missing), last["id"] + 1):
            known.append({**last, "id": number, "content": content})
        return load_tokenizer(written(tmp_path, value))

    return load


def compiled(text: str, tokenizer: Tokenizer, kind: str) -> Artifact:
    return compile_grammar(text, dialect="gbnf", tokenizer=tokenizer, tokenization=kind)


def follow(artifact: Artifact, ids: list[int]) -> None:
    """Take all of them and be done."""
    matcher = artifact.matcher()
    for token_id in ids:
        matcher.advance(token_id)
    assert matcher.is_accepting


def test_encodings_of_gpt2_with_its_end_of_text(gpt2: Tokenizer, full: bool) -> None:
    """Words around added tokens are encoded as the tokenizer encodes them there."""
    most = 8 if full else 5
    text = f'root ::= ([a-z]{{1,{most}}} <|endoftext|>){{2}} "the" [a-z]*'
    artifact = compiled(text, gpt2, "any")
    rng = random.Random(3)
    letters = "etaoinshrdlu"
    for _ in range(100):
        words = ["".join(rng.choices(letters, k=rng.randint(1, most))) for _ in range(3)]
        ids = gpt2.encode("<|endoftext|>".join([*words[:2], f"the{words[2]}"]))
        assert 2 == ids.count(50256)
        follow(artifact, ids)


@sampled(
    ("name", "kind"),
    [("gpt2", "canonical"), ("qwen2_5", "any")],
    [(name, kind) for name in ("gpt2", "qwen2_5") for kind in ("canonical", "any")],
)
def test_tool_calls(merging: Callable[[str], Tokenizer], name: str, kind: str) -> None:
    """Added tokens by name; any tokens but one until that one comes."""
    tokenizer = merging(name)
    names = {name: i for i, name in tokenizer.added.items()}
    call, end = names["<tool_call>"], names["</tool_call>"]
    text = 'root ::= !<tool_call>{0,2} <tool_call> "{" [a-z]+ "}" </tool_call>'
    artifact = compiled(text, tokenizer, kind)
    matcher = artifact.matcher()
    mask = tokenset.to_flags(matcher.mask())
    present = np.zeros(len(mask), dtype=np.bool_)
    present[[*tokenizer.tokens, *tokenizer.added]] = True
    present[list(tokenizer.eos)] = False
    assert present.tolist() == mask.tolist()
    follow(
        artifact,
        [end, *tokenizer.encode("hello")[:1], *tokenizer.encode("<tool_call>{abc}</tool_call>")],
    )
    follow(artifact, [call, *tokenizer.encode("{weather}"), end])
