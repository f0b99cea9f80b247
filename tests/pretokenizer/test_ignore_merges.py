"""Tokens of whole pre-tokens (``ignore_merges``): masks against the library, all of them."""

import random
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from support import tokenizer_json, written
from support.matcher import accepted_behind_prompts

from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import compile_grammar, load_tokenizer
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.diagnostics import TokenizerError
from constrain.compiler.pipeline import build_automaton

LETTERS, END = "ab '", 99

GRAMMARS = ["(a|b){0,6}", "(a|b| ){0,5}", "(ab?| |b){1,4}a", " ?(a|b){1,3}( (a|b){1,3})?'?"]


def model(rng: random.Random) -> dict[str, Any]:
    """A ``tokenizer.json`` with random merges and tokens of whole pre-tokens."""
    pool = ["a", "b", "Ġ"]
    merges: list[tuple[str, str]] = []
    for _ in range(rng.randrange(1, 6)):
        pair = rng.choice(pool), rng.choice([p for p in pool if "Ġ" not in p])
        if "".join(pair) not in pool:
            merges.append(pair)
            pool.append("".join(pair))
    extra = {}
    for _ in range(rng.randrange(1, 6)):
        text = rng.choice(["", "Ġ", "'"]) + "".join(rng.choices("ab", k=rng.randrange(2, 5)))
        if text not in pool and text not in extra:
            extra[text] = 20 + len(extra)
    value = tokenizer_json(
        LETTERS,
        [" ".join(pair) for pair in merges],
        extra=extra,
        added=[(END, "<eos>", True)],
        splits=True,
    )
    value["model"]["ignore_merges"] = True
    # The library wants every field.
    flags = ("single_word", "lstrip", "rstrip", "normalized")
    value["added_tokens"][0].update(dict.fromkeys(flags, False))
    value["pre_tokenizer"]["trim_offsets"] = True
    return value


engines = pytest.mark.parametrize(
    "options", [{"method": "cartesian"}, {"engine": "network"}], ids=["product", "network"]
)


@engines
@pytest.mark.parametrize("regex", GRAMMARS)
def test_masks_are_those_of_all_encodings(
    regex: str, options: dict[str, Any], tmp_path: Path, full: bool
) -> None:
    """After each prefix of an encoding exactly the tokens that some member's goes on with."""
    rng = random.Random(6)
    words = build_automaton(regex, dialect="regex").dfa.members(9)
    texts = [bytes(word).decode() for word in words]
    given = 0
    for _ in range(300 if full else 8):
        path = written(tmp_path, model(rng))
        library, tokenizer = tokenizers.Tokenizer.from_file(str(path)), load_tokenizer(path)
        found = compile_grammar(
            regex,
            dialect="regex",
            tokenizer=tokenizer,
            tokenization="canonical",
            eos=[END],
            **options,
        )
        artifact = load_bytes(found.to_bytes())
        whole = set(artifact.arrays.get("cuts.whole", ()))
        following: dict[tuple[int, ...], set[int]] = {}
        for text in texts:
            ids = library.encode(text).ids
            given += any(i in whole for i in ids)
            for place, token in enumerate([*ids, END]):
                following.setdefault(tuple(ids[:place]), set()).add(token)
        for prefix, expected in following.items():
            matcher = artifact.matcher()
            for token in prefix:
                matcher.advance(token)
            assert expected == set(tokenset.to_ids(matcher.mask()).tolist()), prefix
    assert given > 10


@engines
def test_behind_a_prompt(options: dict[str, Any], tmp_path: Path) -> None:
    """Where the library keeps the prompt's last boundary, prompt and member are accepted."""
    rng = random.Random(5)
    kept = 0
    for _ in range(10):
        path = written(tmp_path, model(rng))
        library, tokenizer = tokenizers.Tokenizer.from_file(str(path)), load_tokenizer(path)
        artifact = compile_grammar(
            "(a|b| ){1,4}",
            dialect="regex",
            tokenizer=tokenizer,
            tokenization="canonical",
            eos=[END],
            **options,
        )
        kept += accepted_behind_prompts(artifact, library, rng)
    assert kept > 50


def test_a_token_that_has_no_bytes_of_its_own_is_refused(tmp_path: Path) -> None:
    """Its text could be given as a whole and not otherwise."""
    value = model(random.Random(1))
    value["model"]["vocab"]["xy"] = 50
    with pytest.raises(TokenizerError, match="a token for each byte"):
        TokenizerTables(load_tokenizer(written(tmp_path, value))).pretokenizer  # noqa: B018
