"""How byte-pair encoding makes each token: the effective merges in an order that is proper.

A real tokenizer applies the possible merge of lowest rank, leftmost first, until there is none
left. Tran-Thien's definition applies each merge of the list to the whole text in turn. Both give
the same tokens if the list is *proper*: each token is made by one merge only, and its parts are
letters or made by earlier merges. Real lists need not be: many name every decomposition of each
token, of which one is ever used. So each token's own text is encoded, the last merge made is the
token's derivation, and only derivations count:

    letters of each token  ->  derive: its last merge  ->  order by rank, else by tau  ->  merges

where tau(t) = max(rank of t's merge, tau(left part), tau(right part)) is the moment at which rank
order can first make t. Where even tau leaves the order open the merges are *tied*, and the pairs of
tokens that they concern are encoded one by one (``forbidden_pairs``).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.errors import visible

from ..diagnostics import TokenizerError
from ..tokenizers import Tokenizer, byte_alphabet
from .last_merges import last_merges


@dataclass(frozen=True, eq=False)
class MergeList:
    """``merges``: int32 (n, 3), left, right and result, in rank order."""

    merges: NDArray[np.int32]

    @cached_property
    def ranks(self) -> Mapping[tuple[int, int], tuple[int, int]]:
        """From a pair of ids its rank and result."""
        return {(a, b): (k, t) for k, (a, b, t) in enumerate(self.merges.tolist())}

    def encode(self, letters: Sequence[int]) -> tuple[list[int], int]:
        """Merge the leftmost pair of lowest rank until no pair has one: the tokens, and the rank of
        the last merge made, -1 for none.

        Quadratic in the number of letters: tokens are short.
        """
        ids, last = list(letters), -1
        find = self.ranks.get
        while True:
            lowest, result, place = -1, -1, -1
            for i, pair in enumerate(pairwise(ids)):
                found = find(pair)
                if found is not None and (place < 0 or found[0] < lowest):
                    (lowest, result), place = found, i
            if place < 0:
                return ids, last
            last = lowest
            ids[place : place + 2] = [result]


@dataclass(frozen=True, slots=True, eq=False)
class Derivations:
    """The tokens that merging can produce, and how it makes each of them.

    ``spelled``: the letters of each token's text. ``listed``: the tokenizer's own merges.
    ``letters``: ids of the tokens that merging begins with. ``merges``: int32 (n, 3), left, right
    and result of the effective merges, parts before results, each result once.
    ``tied``: ranges of ``merges`` with one tau that no order is exact for. ``unreachable``: tokens
    that merging produces from no text, each with the ids that it gives for the token's text.
    """

    spelled: Mapping[int, Sequence[int]]
    listed: MergeList
    letters: tuple[int, ...]
    merges: NDArray[np.int32]
    tied: tuple[tuple[int, int], ...]
    unreachable: Mapping[int, tuple[int, ...]]

    def encode(self, tokens: Iterable[int]) -> list[int]:
        """The encoding of the text of ``tokens``, as one pre-token."""
        return self.listed.encode([letter for t in tokens for letter in self.spelled[t]])[0]


def derive(spelled: Mapping[int, Sequence[int]], merges: NDArray[np.int32]) -> Derivations:
    """The last merge that is made of every token's own text is its derivation.

    ``spelled``: the letters of each token. ``merges``: int32 (n, 3), left, right and result, in
    rank order.
    """
    listed = MergeList(merges)

    def one_by_one(token: int) -> int:
        ids, last = listed.encode(spelled[token])
        return last if ids == [token] else -1

    lengths = np.zeros(max(merges.max(initial=-1), max(spelled, default=-1)) + 1, dtype=np.int64)
    lengths[[*spelled]] = [len(text) for text in spelled.values()]
    letters = [token for token, text in spelled.items() if len(text) == 1 and text[0] == token]
    last = last_merges(lengths, np.array(letters, dtype=np.int64), merges, one_by_one)
    is_made = last >= 0
    ordered, tied = _in_proper_order(np.sort(last[is_made]), merges, last)
    effective = merges[ordered].astype(np.int32).reshape(-1, 3)
    others = spelled.keys() - {*letters, *np.flatnonzero(is_made).tolist()}
    unreachable = {token: tuple(listed.encode(spelled[token])[0]) for token in sorted(others)}
    return Derivations(spelled, listed, tuple(letters), effective, tied, unreachable)


def _in_proper_order(
    made: NDArray[np.int64], merges: NDArray[np.int32], last: NDArray[np.int64]
) -> tuple[NDArray[np.int64], tuple[tuple[int, int], ...]]:
    """The merges that are made last, ``made``, parts before results, and the ranges whose order is
    left open. ``last``: by token the one that makes it, -1 for none.

    The order by rank if parts come before results in it; else the order by tau. The latter is
    exact wherever, for each improper token, (i) its right part is not the left part of another
    token of its tau, and (ii) its parts do not both have its tau; all tokens of a tau for which
    that fails are tied (``README.md`` has counterexamples).
    """
    if (last[merges[made, :2]] < made[:, None]).all():
        return made, ()
    parts = {
        t: (k, a, b) for k, (a, b, t) in zip(made.tolist(), merges[made].tolist(), strict=True)
    }
    tau, depth = _taus(parts)
    # Not only those with a part of higher rank: also what is made of them out of turn.
    improper = [t for t, (k, _, _) in parts.items() if tau[t] > k]
    ordered = sorted(parts, key=lambda t: (tau[t], depth[t], parts[t][0]))
    lefts = {(tau[t], left) for t, (_, left, _) in parts.items()}
    tied_taus = set()
    for t in improper:
        _, left, right = parts[t]
        if (tau[t], right) in lefts or tau.get(left, -1) == tau.get(right, -1) == tau[t]:
            tied_taus.add(tau[t])
    taus = [tau[t] for t in ordered]
    tied = tuple((bisect_left(taus, k), bisect_right(taus, k)) for k in sorted(tied_taus))
    return last[ordered], tied


def _taus(made: Mapping[int, tuple[int, int, int]]) -> tuple[dict[int, int], dict[int, int]]:
    """tau of each made token, and its depth among its own parts with the same tau."""
    tau: dict[int, int] = {}
    depth: dict[int, int] = {}
    for token in made:
        pending = [token]
        while pending:
            t = pending[-1]
            k, left, right = made[t]
            missing = [part for part in (left, right) if part in made and part not in tau]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            tau[t] = max(k, tau.get(left, -1), tau.get(right, -1))
            below = [depth[p] + 1 for p in (left, right) if tau.get(p, -1) == tau[t]]
            depth[t] = max(below, default=0)
    return tau, depth


def spelled(tokenizer: Tokenizer) -> dict[int, Sequence[int]]:
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
    found = special_spelled(tokenizer)
    letters_of = _speller(tokenizer)
    for token, octets in tokenizer.tokens.items():
        letters = letters_of(octets)
        if letters and token not in byte_tokens:
            found[token] = letters
    return found


def special_spelled(tokenizer: Tokenizer) -> dict[int, Sequence[int]]:
    """The letters of each special token that is a letter or the result of a merge."""
    made = {*tokenizer.base, *tokenizer.characters.values(), *tokenizer.merges[:, 2].tolist()}
    found, letters_of = {}, _speller(tokenizer)
    for token in sorted(made & tokenizer.special):
        letters = letters_of(special_text(tokenizer, token))
        if letters:
            found[token] = letters
    return found


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


def _speller(tokenizer: Tokenizer) -> Callable[[bytes], Sequence[int]]:
    """What gives the letters of a token's text; empty where a part of it is none."""
    base = tokenizer.base
    if tokenizer.byte_level:
        if 0 <= min(base) <= max(base) < len(base):
            # The ids of letters are bytes themselves.
            table = bytes(base)
            return lambda octets: octets.translate(table)
        return lambda octets: _known([base[octet] for octet in octets])
    known = {**tokenizer.characters, " ": base[ord(" ")]}

    def letters_of(octets: bytes) -> list[int]:
        try:
            return _known([known.get(char, -1) for char in octets.decode("utf-8")])
        except UnicodeDecodeError:
            return []

    return letters_of


def _known(letters: list[int]) -> list[int]:
    return [] if -1 in letters else letters


def proper_merges(tokenizer: Tokenizer) -> NDArray[np.int32]:
    """The merges in an order in which DirectMerge can apply each to the whole text in turn.

    int32 (n, 3): the tokenizer's list itself if it is proper, else its effective merges by tau.
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
    if derivations.tied:
        raise TokenizerError(f"{visible(tokenizer.name)}: {problem}, and no other order is exact")
    return derivations.merges


def whole_pieces(tokenizer: Tokenizer) -> dict[int, bytes]:
    """The tokens that are given for whole pre-tokens only, and by no merge, with their bytes.

    There are such tokens with ``ignore_merges`` alone. Raises ``TokenizerError`` where another byte
    than theirs has no token.
    """
    if not (tokenizer.ignore_merges and tokenizer.byte_level):
        return {}
    found = spelled(tokenizer)
    unspelled = [token for token, octets in tokenizer.tokens.items() if octets]
    if not found.keys() >= set(unspelled):
        raise TokenizerError(
            f"{visible(tokenizer.name)}: with 'ignore_merges' canonical masks need a token for "
            "each byte; use --tokenization any"
        )
    derivations = derive(found, tokenizer.merges)
    tokens = tokenizer.tokens
    return {token: tokens[token] for token in derivations.unreachable if token in tokens}


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
