"""A made tokenizer with tokens of whole pre-tokens (``ignore_merges``), from a seed."""

import random
from typing import Any

from constrain.compiler.tokenizers import byte_alphabet

from .. import tokenizer_json

_CONSONANTS, _VOWELS = "bcdfghjklmnprstvwz", "aeiou"
_SPACE = "Ġ"


def whole_piece_model(seed: int, size: int, *, whole: int) -> dict[str, Any]:
    """A byte-level ``tokenizer.json`` of ``size`` tokens, the last of which ends a text.

    ``whole`` of them are words that no merge makes: they stand for a whole pre-token only. The
    others are all bytes, and what random merges make.
    """
    rng = random.Random(seed)
    names = list(byte_alphabet.characters())
    known = set(names)
    merges: list[str] = []
    pool = [c for c in _CONSONANTS + _VOWELS for _ in range(3)]
    pool += [_SPACE, *'0123456789.,"-ABCDEÃ©']
    while len(known) < size - whole - 1:
        # A space begins a pre-token: nothing is merged before it.
        left, right = rng.choice(pool), rng.choice(pool)
        made = left + right
        if _SPACE in right or made in known or len(made) > 12:
            continue
        merges.append(f"{left} {right}")
        names.append(made)
        known.add(made)
        pool.append(made)
    while len(known) < size - 1:
        syllables = (
            rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in range(rng.randint(2, 5))
        )
        word = "".join(syllables)
        word = rng.choice([word, word.capitalize()]) + rng.choice(["", "s"])
        word = rng.choice(["", _SPACE]) + word
        if word not in known:
            names.append(word)
            known.add(word)
    value = tokenizer_json("", merges, added=[(size - 1, "<eos>", True)], splits=True)
    value["model"]["vocab"] = {name: i for i, name in enumerate(names)}
    value["model"]["ignore_merges"] = True
    # The library wants every field.
    flags = ("single_word", "lstrip", "rstrip", "normalized")
    value["added_tokens"][0].update(dict.fromkeys(flags, False))
    value["pre_tokenizer"]["trim_offsets"] = True
    return value
