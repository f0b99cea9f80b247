"""Whole masks of finite languages on real tokenizers, against all encodings of their library."""

from collections.abc import Callable

import pytest
from support.canonical import following
from support.cartesian import FINITE, SAMPLED, TINY, TOKENIZERS, Case, check_masks, members_of

_METHODS = [(name, method) for name in TINY for method in ("cartesian", "direct")]
_METHODS += [(name, "cartesian") for name in TOKENIZERS]


@pytest.mark.parametrize("regex", FINITE.values(), ids=FINITE)
@pytest.mark.parametrize(("name", "method"), _METHODS)
def test_masks_of_finite_languages_are_those_of_all_encodings(
    name: str,
    regex: str,
    method: str,
    case: Callable[[str], Case],
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """After each prefix of a member's encoding exactly the tokens that some member's encoding
    goes on with, and EOS where one ends."""
    if not full and name not in (*TINY, *SAMPLED):
        pytest.skip("sampled: --full runs all tokenizers")
    here = case(name)
    artifact = here.of(regex, method)
    texts = members_of(regex)
    encodings = [
        ids
        for text, ids in zip(texts, here.encode_all(texts), strict=True)
        if here.gives_back(text, ids)
    ]
    expected = following(encodings, artifact.manifest.eos)
    assert len(expected) > 10
    record_property("masks", len(expected))
    record_property("tokens", check_masks(artifact.matcher(), expected))
