"""No damage to an artifact of maximal munch gets past the reader, or does harm."""

# Tests here say `expected == actual`.

import numpy as np
import pytest
from support import encoded, opened, sealed
from support.container import (
    Change,
    changed,
    check_every_bit_counts,
    check_flipped_bits_do_no_harm,
    refused,
    walk_two_deep,
)
from support.maximal_munch import compiled_lark, tokenizer_over

from constrain.artifacts import Artifact, ArtifactError
from constrain.artifacts.prefix import boundaries
from constrain.artifacts.read import load_bytes
from constrain.compiler.explain.maximal_munch import explain_maximal_munch

# Calls, frames that may return, ignored text, tokens of several lexemes, and one that ends others.
TEXT = """
start: "(" start ")" | "i" start ["e" start] | NAME | head start
head[lazy]: /ba?b/
NAME: /[ab]+/
%ignore " "
"""
TOKENS = [b"(", b")", b"i", b"e", b"a", b"b", b" ", b"ab", b"i(", b"a)", b"))", b"ae", b"a e"]


@pytest.fixture(scope="module")
def tiny() -> dict[str, Artifact]:
    """An artifact small enough to try much with, precomputed as a whole and in part."""
    return {
        name: compiled_lark(TEXT, tokenizer_over(TOKENS), prewarm=prewarm)
        for name, prewarm in (("whole", None), ("part", 60))
    }


def exercise(artifact: Artifact) -> None:
    """All that a matcher does, with every id there is, two tokens deep; and a verdict."""
    walk_two_deep(artifact)
    boundaries(artifact, b"(iab e")
    explain_maximal_munch(artifact.machine().configurations, b"((a) e")


@pytest.mark.parametrize("name", ["whole", "part"])
def test_whole_files_work(tiny: dict[str, Artifact], name: str) -> None:
    """What the other tests damage is sound; one holds the trie, and the other needs none."""
    assert (name == "part") == ("trie.octets" in tiny[name].arrays)
    exercise(load_bytes(tiny[name].to_bytes(), verify=True))


def test_truncated_files_are_refused(tiny: dict[str, Artifact]) -> None:
    """Wherever the file ends."""
    data = tiny["part"].to_bytes()
    for length in {*range(0, len(data), 97), len(data) - 1}:
        refused(data[:length], verify=False)


def test_flipped_bits_are_found(tiny: dict[str, Artifact], full: bool) -> None:
    """Checksums cover every bit."""
    check_every_bit_counts(tiny["part"], 3000 if full else 75)


@pytest.mark.parametrize("name", ["whole", "part"])
def test_flipped_bits_do_no_harm_unverified(
    tiny: dict[str, Artifact], name: str, full: bool
) -> None:
    """A section with a flipped bit is refused, or it can be walked to an ``ArtifactError`` at
    worst: no other error, and no walk without end."""
    check_flipped_bits_do_no_harm(tiny[name], exercise, 3000 if full else 21)


DAMAGE: list[tuple[str, Change]] = [
    ("network.table", changed((0, 0), 1)),
    ("network.table", changed((1, -1), 99)),
    ("network.classes", changed(97, 1)),
    ("network.accepting", changed(0, 1)),
    ("network.call_offsets", changed(-1, 9)),
    ("network.call_starts", changed(0, 0)),
    ("network.call_returns", changed(0, 99)),
    ("network.entries", changed(0, 99)),
    ("lexer.table", changed((0, 0), 1)),
    ("lexer.columns", changed(97, 200)),
    ("lexer.accepting", changed(0, 1)),
    ("lexer.starts", changed(0, 0)),
    ("lexer.starts", lambda a, n: a[n][::-1]),
    ("lexer.priorities", lambda a, n: a[n][1:]),
    ("lexer.ignored", lambda a, n: a[n][1:]),
    ("greedy.stacks", changed((0, 0), 1)),
    ("greedy.stacks", changed((1, 0), 0)),
    ("greedy.stacks", changed((-1, 1), 99)),
    ("greedy.stacks", changed((-1, 0), 99)),
    ("greedy.stacks_offsets", changed(1, 0)),
    ("greedy.heads", changed((-1, 0), 99)),
    ("greedy.heads", changed((-1, 1), 99)),
    ("greedy.heads_offsets", changed(1, 1)),
    ("greedy.lexer", changed(0, 99)),
    ("greedy.lexer_offsets", changed(1, 1)),
    ("greedy.steps", changed((0, 0), 1)),
    ("greedy.steps", changed((-1, 0), 99)),
    ("greedy.codes", lambda a, n: a[n][:, :0]),
    ("greedy.codes", lambda a, n: a[n][:0]),
    ("greedy.block_offsets", changed(-1, 99)),
    ("greedy.exits", changed(0, -1)),
    ("greedy.exits_offsets", changed(1, 1)),
    ("greedy.exits_offsets", changed(-1, 99)),
    ("greedy.known", changed(0, 99)),
    ("greedy.pending", changed((0, 0), 99)),
    ("greedy.pending", changed((0, 1), 999)),
    ("greedy.pending_offsets", changed(-1, 99)),
    ("greedy.firsts", lambda a, n: a[n][1:]),
    ("greedy.firsts", changed(-1, 9999)),
    ("greedy.feeds", lambda a, n: a[n][1:]),
    ("greedy.feeds", changed(-1, -1)),
    ("transitions.targets", lambda a, n: a[n][1:]),
    ("transitions.targets", changed(-1, 99)),
    ("transitions.table", lambda a, n: a[n][:, 1:]),
    ("transitions.table", changed((-1, 0), 99)),
    ("transitions.table", changed((-1, 3), 99)),
    ("transitions.table", changed((slice(None), 1), 1)),
    ("transitions.frames", changed(-1, 99)),
    ("transitions.frames_offsets", changed(-1, 99)),
    ("trie.first", changed(0, 0)),
    ("trie.first", changed(-1, 99)),
    ("trie.held", changed(-1, 99)),
    ("trie.ids", changed(0, 99)),
    ("vocab.kinds", changed(0, 9)),
]


@pytest.mark.parametrize(("name", "change"), DAMAGE)
def test_values_that_do_not_fit_are_refused(
    tiny: dict[str, Artifact], name: str, change: Change
) -> None:
    """Right checksums, wrong contents: the section is named, also without verifying."""
    artifact = tiny["whole" if name.startswith("transitions") else "part"]
    damaged = encoded(artifact, {name: change(dict(artifact.arrays), name)})
    assert name.split(".")[0] in refused(damaged, False)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("greedy.codes", changed((slice(None), 0), 9999)),
        ("greedy.blocks", changed((slice(None), 0), -1 & 0xFFFFFFFF)),
        ("greedy.exits", changed(slice(1, None), 9999)),
    ],
)
def test_what_is_checked_when_it_is_read(
    tiny: dict[str, Artifact], name: str, change: Change
) -> None:
    """Rows and suspended trie nodes are checked when they are decoded."""
    artifact = tiny["part"]
    damaged = load_bytes(encoded(artifact, {name: change(dict(artifact.arrays), name)}))
    with pytest.raises(ArtifactError, match="is damaged"):
        exercise(damaged)


def test_each_section_is_needed(tiny: dict[str, Artifact]) -> None:
    """Without one of them, or with another type, the file is refused by its name; without the mark
    of lexemes that end others it is another grammar's."""
    artifact = tiny["part"]
    for name, array in artifact.arrays.items():
        if name not in ("trie.octets", "lexer.shortest"):
            assert f"section {name!r} is missing" in refused(encoded(artifact, {name: None}))
        other = array.astype("<u4" if array.dtype != np.dtype("<u4") else "<i4")
        assert f"section {name!r} is damaged" in refused(encoded(artifact, {name: other}))


@pytest.mark.parametrize(
    "fields",
    [
        {"parser": None},
        {"parser": {"start": 0, "nullable_start": 1, "rules": [], "texts": [], "called": []}},
        {"parser": {"start": 0, "nullable_start": False, "rules": [], "texts": [], "called": []}},
        {"meaning": "greedy"},
        {"meaning": 3},
        {"byte_start": 99},
        {"kind": "network"},
    ],
)
def test_manifests_that_make_no_sense_are_refused(
    tiny: dict[str, Artifact], fields: dict[str, object]
) -> None:
    """The manifest is checked as closely as the arrays."""
    manifest, described, body = opened(tiny["part"].to_bytes())
    refused(sealed({**manifest, **fields}, described, body))
