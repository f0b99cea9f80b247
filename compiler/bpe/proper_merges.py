"""TODO."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..diagnostics import TokenizerError
from ..tokenizers import Tokenizer
from ..tokenizers.definition import ByteLevel
from .derivations import derive
from .tokenizer_tables import spelled


def proper_merges(tokenizer: Tokenizer) -> NDArray[np.int32]:
    """int32 (n, 3): the list itself if it is proper, else its effective merges by tau.

    Raises ``TokenizerError`` if the tokenizer merges characters, gives tokens for whole pieces
    alone, or has merges that no order is exact for.
    """
    if not tokenizer.byte_level:
        raise TokenizerError(f"{tokenizer.name}: it merges characters, DirectMerge bytes")
    problem = _disorder(tokenizer)
    if problem is None and not tokenizer.ignore_merges:
        return tokenizer.merges
    derivations = derive(spelled(tokenizer), tokenizer.merges)
    if tokenizer.ignore_merges and derivations.unreachable:
        raise TokenizerError(f"{tokenizer.name}: it gives some tokens for whole pieces alone")
    if derivations.tied:
        raise TokenizerError(f"{tokenizer.name}: {problem}, and no other order is exact")
    return derivations.merges


def _disorder(tokenizer: Tokenizer) -> str | None:
    """The first merge that is out of order."""
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


def not_followed(tokenizer: Tokenizer) -> Iterator[str]:
    """What the tokenizer does beside merging, which canonical masks do not know of."""
    if tokenizer.splits:
        yield (
            "this tokenizer cuts text into pieces before it merges, which the masks do not "
            "follow yet: where a merge could cross a cut they differ from its own encoding"
        )
    if any(isinstance(s, ByteLevel) and s.add_prefix_space for s in tokenizer.pre_tokenizers):
        yield (
            "this tokenizer puts a space before a text, which the masks do not follow: its own "
            "tokens spell a space before each member"
        )
    if tokenizer.normalizers:
        yield (
            "this tokenizer rewrites text before it merges, which the masks do not follow: "
            "members that it would rewrite have other tokens"
        )
    if tokenizer.ignore_merges:
        yield (
            "this tokenizer looks up whole pieces before it merges, which the masks do not "
            "follow: tokens that no merge makes are never allowed"
        )


def _name(tokenizer: Tokenizer, token_id: int) -> str:
    return repr(tokenizer.tokens.get(token_id, b"").decode("utf-8", "replace"))
