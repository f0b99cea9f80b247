"""Infinite languages: each allowed token has a member, and a refused one none of bounded length."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from test_cartesian import Case

from constrain.artifacts import tokenset
from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.pipeline import build_automaton

# Few letters, so that all ways on can be encoded; spaces and digits are cut off.
INFINITE = {
    "words": "[te]+( [te]+)*",
    "spaces": "( |t|\n)*",
    "letters": "(th|he|in|er)*(s|!)?",
    "numbers": "[1e]*(, ?[1e]+)*",
}
# Bytes behind the tokens so far.
_MORE = 7


@pytest.mark.parametrize("regex", INFINITE.values(), ids=INFINITE)
@pytest.mark.parametrize("name", ["tiny-bpe-300", "tiny-bpe-1000", "tiny-bpe-4000"])
def test_a_token_is_allowed_iff_it_has_a_witness(
    name: str, regex: str, data: Callable[[str], Path], full: bool
) -> None:
    """Behind prefixes of encodings the mask holds the next tokens of all members that go on by
    seven bytes or less, and no other token that fits into five."""
    case = Case(data(f"tokenizers/{name}/tokenizer.json"))
    artifact = case.compiled(regex, "cartesian")
    plain = build_automaton(regex, dialect="regex").dfa
    rng = random.Random(12)
    eos = artifact.manifest.eos[0]
    refused = 0
    for _ in range(40 if full else 4):
        matcher, ids = artifact.matcher(), []
        for _ in range(rng.randrange(4)):
            token_id = int(rng.choice(tokenset.to_ids(matcher.mask())))
            if token_id == eos or len(b"".join(map(artifact.vocabulary.token, ids))) > 8:
                break
            matcher.advance(token_id)
            ids.append(token_id)
        before = b"".join(map(artifact.vocabulary.token, ids))
        state = plain.run(before)
        expected = set()
        for more in continuations(plain, state):
            found = case.encode((before + more).decode())
            if found[: len(ids)] == ids:
                expected.add([*found, eos][len(ids)])
        allowed = set(tokenset.to_ids(matcher.mask()).tolist())
        assert expected <= allowed
        short = {t for t in allowed if len(artifact.vocabulary.token(t)) <= _MORE - 2}
        assert short <= expected | {eos}
        assert (eos in allowed) == (eos in expected)
        texts = case.tokenizer.tokens.items()
        refused += sum(t not in allowed and plain.run(b, state) != 0 for t, b in texts if b)
    assert refused > 0 or name == "tiny-bpe-300"  # Which has few merges of these letters.


def continuations(dfa: Dfa, state: int) -> list[bytes]:
    """The ways from ``state`` to an end in up to ``_MORE`` bytes."""
    pending, found = [(state, b"")], []
    used = [octet for octet in range(256) if dfa.used_bytes()[octet]]
    for at, text in pending:
        if dfa.accepting[at]:
            found.append(text)
        if len(text) < _MORE:
            for octet in used:
                target = dfa.run([octet], at)
                if target:
                    pending.append((target, text + bytes([octet])))
    return found
