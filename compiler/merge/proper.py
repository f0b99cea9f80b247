"""Whether "merge after merge over the whole text" is what a tokenizer does.

Real tokenizers apply the merge of lowest rank that is possible, again and again. That is
the same as the source document's composition of merges if the list is proper: each token
is made by one merge only, and its parts are bytes or made by earlier merges.
"""

from collections.abc import Iterator

from ..diagnostics import TokenizerError
from ..tokenizers import Tokenizer


def check_proper(tokenizer: Tokenizer) -> None:
    """Raise ``TokenizerError`` naming the first merge that is out of order."""
    if not tokenizer.byte_level:
        raise TokenizerError(
            f"{tokenizer.name}: it merges characters, not bytes; canonical masks for such "
            f"tokenizers are not supported, use --tokenization any"
        )
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
        raise TokenizerError(
            f"{tokenizer.name}: merge {number} is out of order ({reason}); canonical masks for "
            f"such lists are not supported, use --tokenization any"
        )


def not_followed(tokenizer: Tokenizer) -> Iterator[str]:
    """What the tokenizer does beside merging, which canonical masks do not know of."""
    if tokenizer.splits:
        yield (
            "this tokenizer cuts text into pieces before it merges, which the masks do not "
            "follow yet: where a merge could cross a cut they differ from its own encoding"
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
