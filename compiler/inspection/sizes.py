"""Bytes of an artifact's file: of each section, by what it depends on.

A section is the grammar's own if another tokenizer leaves it as it is, the tokenizer's own if
another grammar does (but for sentinels of tokens that a grammar names), and else of both, as masks
are.
"""

from dataclasses import dataclass

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.sections import encode
from constrain.artifacts.container.sparse import filled_cells, sparse_names

GRAMMAR, TOKENIZER, BOTH = "grammar", "tokenizer", "both"
OWNERS = (GRAMMAR, TOKENIZER, BOTH)

# Names of sections, or how they begin where these end with a dot; the longest that fits counts.
_SECTIONS = {
    GRAMMAR: "count. dfa. earley. lazy. lexer. network. origins. positions. set.",
    TOKENIZER: "apart_trie. cuts. pairs.bound pairs.part pieces. stable.classes stable.start "
    "stable.table trie. vocab. words.indicator words.longest words.normalizer",
    BOTH: "dfa.token_ids dfa.token_offsets",
}
_OWNERS = {name: owner for owner, names in _SECTIONS.items() for name in names.split()}


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the file. ``owner``: ``grammar``, ``tokenizer`` or ``both``."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    owner: str


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of a file: all of it, of its header with the manifest, and of the sections by what they
    depend on. ``sections``: the largest first, then by name."""

    file: int
    header: int
    grammar: int
    tokenizer: int
    both: int
    sections: tuple[Section, ...]


def sizes_of(artifact: Artifact) -> Sizes:
    """The sizes of the file that ``artifact.save`` writes. What is left for later is made first."""
    whole = artifact.completed
    start, header, *chunks = encode(whole.manifest.to_json(), whole.arrays)
    sparse = set(sparse_names(whole.arrays))
    found = [
        Section(
            name,
            str(array.dtype),
            tuple(array.shape),
            sum(part.nbytes for part in filled_cells(name, array).values())
            if name in sparse
            else array.nbytes,
            owner_of(name),
        )
        for name, array in whole.arrays.items()
    ]
    of = {owner: sum(s.bytes for s in found if s.owner == owner) for owner in OWNERS}
    before = len(start) + len(header)
    return Sizes(
        before + sum(map(len, chunks)),
        before,
        of[GRAMMAR],
        of[TOKENIZER],
        of[BOTH],
        tuple(sorted(found, key=lambda section: (-section.bytes, section.name))),
    )


def owner_of(section: str) -> str:
    """What a section depends on."""
    fitting = [
        name
        for name in _OWNERS
        if section == name or (name.endswith(".") and section.startswith(name))
    ]
    return _OWNERS[max(fitting, key=len)] if fitting else BOTH
