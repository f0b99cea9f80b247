"""Artifacts of networks step by precomputed token effects as reading the tokens' bytes would."""

# Tests here say `expected == actual`.

import random

import pytest
from support import EXAMPLES
from support.grammars import JSON, STATEMENTS
from support.network import made
from support.tokens import EOS, TOKENIZER

from constrain.artifacts import Artifact
from constrain.artifacts.network.configurations import REFUSED
from constrain.artifacts.network.machine import NetworkMasks, readings_of
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar


def masks_of(artifact: Artifact) -> NetworkMasks:
    """The machine of an artifact's matchers."""
    masks = artifact.machine()
    assert isinstance(masks, NetworkMasks)
    return masks


def check_step(masks: NetworkMasks, state: int, token_id: int) -> int:
    """A token leads where its readings lead; how many those are."""
    readings = readings_of(masks._vocabulary, masks._named, token_id)
    expected = masks.network.read(state, *readings)
    assert (None if expected == REFUSED else expected) == masks.take(state, token_id)
    return len(readings)


TERMINALS = [
    'root ::= "a" root "b" | <[6]> root? | "ab"',
    'root ::= (x | "b") root | <[3]> | "c"\nx ::= !<[5]> x? "a" | "ab"',
    'root ::= "a" root? (<[0]> | <[6]> "a") | <t>',
]


@pytest.mark.parametrize("text", TERMINALS)
def test_named_tokens_have_all_readings(text: str) -> None:
    """As terminals, whatever their bytes are, and as texts."""
    artifact = compile_grammar(
        text, dialect="gbnf", tokenizer=TOKENIZER, tokenization="any", engine="network"
    )
    masks = masks_of(artifact)
    rng = random.Random(61)
    both = 0
    for _ in range(30):
        state = masks.start
        for _ in range(8):
            both += sum(check_step(masks, state, i) > 1 for i in range(artifact.vocab_size))
            steps = [masks.take(state, i) for i in range(artifact.vocab_size)]
            ids = set(tokenset.to_ids(masks.row(state)).tolist()) - {EOS}
            assert ids == {i for i, target in enumerate(steps) if target is not None}
            if not ids:
                break
            state = steps[rng.choice(sorted(ids))]
    assert both > 0
    assert masks._lazy_steps.effects is None


@pytest.mark.parametrize("text", [JSON, STATEMENTS], ids=["json", "statements"])
def test_real_tokens_do_what_their_bytes_do(text: str, gpt2: Tokenizer) -> None:
    """GPT-2's tokens, a sample at each place of random texts; nothing is read at run time."""
    artifact = made(text, gpt2, "network")
    masks = masks_of(artifact)
    rng = random.Random(67)
    for _ in range(12):
        state = masks.start
        for _ in range(25):
            ids = tokenset.to_ids(masks.row(state)).tolist()
            fitting = [i for i in ids if i not in artifact.manifest.eos]
            some = rng.sample(fitting, min(40, len(fitting)))
            for token_id in [*some, *(rng.randrange(artifact.vocab_size) for _ in range(40))]:
                check_step(masks, state, token_id)
            if not some:
                break
            state = masks.step(state, rng.choice(some))
    assert masks._lazy_steps.effects is None


CODE = """int total;
void run(int a, char *b) {
    // one line, and if it ends?
    for (i = 0; i < size; i++) { if (a == f(1, b)) { next[a[2]] = (3 + x) * -y; } else return; }
    while (a->b) total = g("text", 'c');
}
"""


# A text in brackets that each of three rules reads.
BRACKETS = """root ::= x | y | z
x ::= "(" (x | y | z)* ")"
y ::= "(" (y | z | "b")* ")"
z ::= "(" (x | "c")* ")"
"""


@pytest.mark.parametrize(
    ("dialect", "text", "least"),
    [("lark", CODE, 2), ("gbnf", "((())(()))", 4)],
    ids=["code", "brackets"],
)
def test_ambiguous_text_is_read_by_many_threads(
    default_tokenizer: Tokenizer, dialect: str, text: str, least: int
) -> None:
    """Over several stacks at once, with a hundred tokens at each place of it."""
    code = (EXAMPLES / "code.lark").read_text(encoding="utf-8")
    artifact = compile_grammar(
        code if dialect == "lark" else BRACKETS,
        dialect=dialect,
        tokenizer=default_tokenizer,
        tokenization="any",
        engine="network",
        meaning="exact" if dialect == "lark" else None,
        prewarm=1,
    )
    masks = masks_of(artifact)
    rng = random.Random(71)
    state, most, stacks = masks.start, 1, 1
    for token_id in default_tokenizer.encode(text):
        for other in [token_id, *(rng.randrange(artifact.vocab_size) for _ in range(100))]:
            check_step(masks, state, other)
        state = masks.step(state, token_id)
        threads = masks.network.threads[state]
        most = max(most, len(threads))
        stacks = max(stacks, *(len(masks.network.stacks.entries[node]) for _, node in threads))
    assert masks.is_accepting(state)
    assert most > 1
    assert stacks >= least


def test_nothing_precomputed_is_the_same(default_tokenizer: Tokenizer) -> None:
    """With nothing precomputed a matcher takes the same tokens."""
    ahead, lazy = (made(JSON, default_tokenizer, "network", prewarm=n) for n in (None, 0))
    assert len(ahead.arrays["effects.classes"]) > len(lazy.arrays["effects.classes"]) == 0
    left, right = ahead.matcher(), lazy.matcher()
    for token_id in default_tokenizer.encode('{"a": [1, {"b": [[2, "x y"]]}], "c": null}'):
        assert left.mask().tolist() == right.mask().tolist()
        left.advance(token_id)
        right.advance(token_id)
    assert left.is_accepting
    assert right.is_accepting
