"""How byte-pair encoding makes each token, and an order of merges that Algorithm 1 can follow.

A real tokenizer applies the possible merge of lowest rank, leftmost first, until there is none
left. Tran-Thien's definition applies each merge of the list to the whole text in turn. Real lists
name many decompositions of each token, of which one is ever used. So each token's own text is
encoded, the last merge made is the token's derivation, and only derivations count:

    letters of each token  ->  derive: its last merge  ->  forbidden_pairs.py: what follows it
                                                       ->  proper_merges: the list for DirectMerge
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.errors import visible

from ..diagnostics import TokenizerError
from ..tokenizers import Tokenizer, byte_alphabet
from ..tokenizers.encoding.bpe import Bpe
from ..tokenizers.tokenizer import TokenTable
from .last_merges import LastMerges, last_merges


@dataclass(frozen=True, slots=True, eq=False)
class Spelled(Mapping[int, Sequence[int]]):
    """The letters of tokens: those of token t are ``data[begin[t]:end[t]]``; ``end`` is 0 for a
    token that is not spelled. ``data``: int32; the others int64 (V,)."""

    data: NDArray[np.int32]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]

    @classmethod
    def of(cls, letters: Mapping[int, Sequence[int]]) -> "Spelled":
        """Those of a mapping; none is empty."""
        nothing = np.zeros(max(letters, default=-1) + 1, dtype=np.int64)
        return cls(np.zeros(0, dtype=np.int32), nothing, nothing).with_others(letters)

    def with_others(self, letters: Mapping[int, Sequence[int]]) -> "Spelled":
        """The same with the letters of more tokens."""
        if not letters:
            return self
        more = max(max(letters) + 1 - len(self.end), 0)
        begin, end = np.pad(self.begin, (0, more)), np.pad(self.end, (0, more))
        tokens, ends = [*letters], np.cumsum([0, *map(len, letters.values())]) + len(self.data)
        begin[tokens], end[tokens] = ends[:-1], ends[1:]
        joined = np.fromiter(chain.from_iterable(letters.values()), dtype=np.int32)
        return Spelled(np.concatenate((self.data, joined)), begin, end)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Of how many letters each token is, 0 for one that is not spelled; int64 (V,)."""
        return self.end - self.begin

    def __getitem__(self, token: int) -> list[int]:
        if not (0 <= token < len(self.end) and self.end[token]):
            raise KeyError(token)
        letters: list[int] = self.data[self.begin[token] : self.end[token]].tolist()
        return letters

    def __iter__(self) -> Iterator[int]:
        return iter(np.flatnonzero(self.end).tolist())

    def __len__(self) -> int:
        return int(np.count_nonzero(self.end))


@dataclass(frozen=True, slots=True, eq=False)
class Derivations:
    """The tokens that merging can produce, and how it makes each of them.

    ``spelled``: the letters of each token's text. ``letters``: ids of the tokens that merging
    begins with. ``last``: the last merge of each token.
    ``merges``: int32 (n, 3), left, right and result of these merges, by rank, each result once.
    ``unreachable``: the tokens that merging produces from no text, ascending.
    """

    spelled: Spelled
    letters: tuple[int, ...]
    last: LastMerges
    merges: NDArray[np.int32]
    unreachable: tuple[int, ...]


def derive(letters: Mapping[int, Sequence[int]], merges: NDArray[np.int32]) -> Derivations:
    """The last merge that is made of every token's own text is its derivation.

    ``letters``: of each token, at least one. ``merges``: int32 (n, 3), left, right and result, in
    rank order.
    """
    spelled = letters if isinstance(letters, Spelled) else Spelled.of(letters)
    bpe = Bpe(merges)

    def one_by_one(token: int) -> int:
        ids = spelled[token]
        last = bpe.merge_via_scan(ids)
        return last if ids == [token] else -1

    size = max(int(merges.max(initial=-1)) + 1, len(spelled.end))
    lengths = np.pad(spelled.lengths, (0, size - len(spelled.end)))
    single = np.flatnonzero(lengths == 1)
    first = single[spelled.data[spelled.begin[single]] == single]
    last = last_merges(lengths, first, merges, one_by_one)
    is_made = last.merge >= 0
    effective = merges[np.sort(last.merge[is_made])].astype(np.int32).reshape(-1, 3)
    is_other = (lengths > 0) & ~is_made
    is_other[first] = False
    unreachable = tuple(np.flatnonzero(is_other).tolist())
    return Derivations(spelled, tuple(first.tolist()), last, effective, unreachable)


def spelled(tokenizer: Tokenizer) -> Spelled:
    """The letters of each token that merging could produce, also of the special ones that it makes:
    others are made of these.

    Byte tokens and tokens with a byte or character that is no letter are left out. Raises
    ``TokenizerError`` where byte tokens are merged.
    """
    byte_tokens = set(tokenizer.byte_fallback)
    if not byte_tokens.isdisjoint(tokenizer.merges.reshape(-1).tolist()):
        raise TokenizerError(
            f"{visible(tokenizer.name)}: its merges make or join tokens of single bytes, such as "
            "<0x41>, which canonical masks do not follow; use --tokenization any"
        )
    found = _letters_of(tokenizer, TokenTable.of(tokenizer.tokens))
    bytewise = [token for token in byte_tokens if 0 <= token < len(found.end)]
    found.begin[bytewise] = found.end[bytewise] = 0
    return found.with_others(special_spelled(tokenizer))


def special_spelled(tokenizer: Tokenizer) -> Spelled:
    """The letters of each special token that is a letter or the result of a merge."""
    special = np.array(sorted(tokenizer.special), dtype=np.int64)
    made = {*tokenizer.base, *tokenizer.characters.values()}
    made.update(special[np.isin(special, tokenizer.merges[:, 2])].tolist())
    texts = {token: special_text(tokenizer, token) for token in made & tokenizer.special}
    return _letters_of(tokenizer, TokenTable.of(texts))


def _letters_of(tokenizer: Tokenizer, table: TokenTable) -> Spelled:
    """The letters of texts, but of empty ones and those of which a part is no letter."""
    if tokenizer.byte_level:
        letters = np.array(tokenizer.base, dtype=np.int32)[table.data]
        offsets = table.offsets
    else:
        letters, offsets = _of_characters(tokenizer, table)
    begin, end = offsets[:-1].copy(), offsets[1:].copy()
    without = np.append(0, np.cumsum(letters < 0))
    is_left_out = (begin == end) | (without[begin] < without[end])
    begin[is_left_out] = end[is_left_out] = 0
    return Spelled(letters, begin, end)


def _of_characters(
    tokenizer: Tokenizer, table: TokenTable
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The letters of all tokens of characters, -1 for none, and where each token begins. Bytes
    outside characters are such letters by themselves."""
    codes, begins = table.characters()
    letter_of = np.full(0x110000, -1, dtype=np.int32)
    known = {c: i for c, i in tokenizer.characters.items() if len(c) == 1}
    letter_of[[ord(char) for char in known]] = [*known.values()]
    letter_of[ord(" ")] = tokenizer.base[ord(" ")]
    return letter_of[codes], np.searchsorted(begins, table.offsets)


def special_text(tokenizer: Tokenizer, token: int) -> bytes:
    """What a special token would stand for if it stood for text: its name is its entry in the
    vocabulary. Empty for a name that is no text there."""
    name = tokenizer.added[token]
    if tokenizer.byte_level:
        return byte_alphabet.decode(name) or b""
    space = tokenizer.base[ord(" ")]
    return "".join(
        " " if tokenizer.characters.get(char) == space else char for char in name
    ).encode()


def proper_merges(tokenizer: Tokenizer) -> NDArray[np.int32]:
    """The merges in an order in which DirectMerge can apply each to the whole text in turn.

    int32 (n, 3): the tokenizer's list itself if it is proper, else its effective merges by moments.
    Raises ``TokenizerError`` if the tokenizer merges characters, gives tokens for whole pre-tokens
    only (``ignore_merges``), or has merges that no order is exact for.
    """
    if not tokenizer.byte_level:
        raise TokenizerError(f"{visible(tokenizer.name)}: it merges characters, DirectMerge bytes")
    problem = _disorder(tokenizer)
    if problem is None and not tokenizer.ignore_merges:
        return tokenizer.merges
    derivations = derive(spelled(tokenizer), tokenizer.merges)
    if tokenizer.ignore_merges and derivations.unreachable:
        raise TokenizerError(
            f"{visible(tokenizer.name)}: it gives some tokens for whole pre-tokens only"
        )
    merges = by_moments(derivations)
    if merges is None:
        raise TokenizerError(f"{visible(tokenizer.name)}: {problem}, and no other order is exact")
    return merges


def by_moments(derivations: Derivations) -> NDArray[np.int32] | None:
    """The merges by the moments tau at which they are made, parts before results; None where that
    order is not exact.

    It is exact if, for each token t with tau(t) above the rank of its merge, (i) its right part is
    not the left part of another token of its tau, and (ii) its parts do not both have its tau
    (``README.md`` has a counterexample).
    """
    merges, tau = derivations.merges, derivations.last.tau
    ranks = derivations.last.merge[merges[:, 2]]
    left, right, made = tau[merges.T]
    depth = np.zeros(len(tau), dtype=np.int64)
    while True:
        # Parts that are made in the same moment come first.
        below = np.maximum(
            np.where(left == made, depth[merges[:, 0]] + 1, 0),
            np.where(right == made, depth[merges[:, 1]] + 1, 0),
        )
        if (below == depth[merges[:, 2]]).all():
            break
        depth[merges[:, 2]] = below
    is_late = made > ranks
    size = np.int64(len(tau))
    begins = np.isin(made * size + merges[:, 1], made * size + merges[:, 0])
    if (is_late & (begins | ((left == made) & (right == made)))).any():
        return None
    ordered: NDArray[np.int32] = merges[np.lexsort((ranks, below, made))]
    return ordered


def whole_pieces(tokenizer: Tokenizer, derivations: Callable[[], Derivations]) -> dict[int, bytes]:
    """The tokens that are given for whole pre-tokens only, and by no merge, with their bytes.

    ``derivations``: gives those of the tokenizer, where they are needed. There are such tokens with
    ``ignore_merges`` alone. Raises ``TokenizerError`` where another byte than theirs has no token.
    """
    if not (tokenizer.ignore_merges and tokenizer.byte_level):
        return {}
    found, tokens = derivations(), tokenizer.tokens
    has_text = np.flatnonzero(np.diff(TokenTable.of(tokens).offsets))
    if not (found.spelled.lengths[has_text] > 0).all():
        raise TokenizerError(
            f"{visible(tokenizer.name)}: with 'ignore_merges' canonical masks need a token for "
            "each byte; use --tokenization any"
        )
    return {token: tokens[token] for token in found.unreachable if token in tokens}


def _disorder(tokenizer: Tokenizer) -> str | None:
    """Which merge is the first that is out of order, and why; None if the list is proper."""
    made = {token_id for token_id in tokenizer.base if token_id >= 0}
    for number, (left, right, result) in enumerate(tokenizer.merges.tolist()):
        if left not in made or right not in made:
            part = left if left not in made else right
            reason = f"its part {_name(tokenizer, part)} is made by a later merge or by none"
        elif result in made:
            reason = f"an earlier merge makes {_name(tokenizer, result)} already"
        else:
            made.add(result)
            continue
        return f"merge {number} is out of order ({reason})"
    return None


def _name(tokenizer: Tokenizer, token_id: int) -> str:
    return repr(tokenizer.decode_bytes([token_id]).decode("utf-8", "replace"))
