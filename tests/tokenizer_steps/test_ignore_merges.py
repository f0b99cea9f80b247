"""Tokens of whole pre-tokens (``ignore_merges``): masks against the library, all of them."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from support import tokenizer_json, written
from support.automata import build_automaton, words_of
from support.corpus.encodings import check_masks, following
from support.matcher import accepted_behind_prompts

from constrain.artifacts import Artifact
from constrain.artifacts.read import load_bytes
from constrain.compiler import Tokenizer, compile_grammar, load_tokenizer
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.diagnostics import TokenizerError

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


ENGINES: dict[str, dict[str, str]] = {
    "product": {"method": "cartesian"},
    "network": {"engine": "network"},
}


def models(folder: Path, rng: random.Random, count: int) -> Iterator[tuple[Any, Tokenizer]]:
    """Random models as the library reads them, and as we do."""
    for _ in range(count):
        path = written(folder, model(rng))
        yield tokenizers.Tokenizer.from_file(str(path)), load_tokenizer(path)


def compiled(regex: str, tokenizer: Tokenizer, tables: TokenizerTables, engine: str) -> Artifact:
    """By way of the file's bytes."""
    found = compile_grammar(
        regex,
        dialect="regex",
        tokenizer=tokenizer,
        tables=tables,
        tokenization="canonical",
        eos=[END],
        **ENGINES[engine],
    )
    return load_bytes(found.to_bytes())


def test_masks_are_those_of_all_encodings(tmp_path: Path, full: bool) -> None:
    """After each prefix of an encoding exactly the tokens that some member's goes on with."""
    languages = {
        regex: [
            bytes(word).decode()
            for word in words_of(build_automaton(regex, dialect="regex").dfa, 9)
        ]
        for regex in GRAMMARS
    }
    given = dict.fromkeys(GRAMMARS, 0)
    for library, tokenizer in models(tmp_path, random.Random(6), 300 if full else 1):
        tables = TokenizerTables(tokenizer)
        for regex, texts in languages.items():
            encodings = [library.encode(text).ids for text in texts]
            expected = following(encodings, [END])
            for engine in ENGINES:
                artifact = compiled(regex, tokenizer, tables, engine)
                check_masks(artifact.matcher(), expected)
            whole = set(artifact.arrays.get("cuts.whole", ()))
            given[regex] += sum(i in whole for ids in encodings for i in ids)
    assert min(given.values()) > (10 if full else 0)


def test_behind_a_prompt(tmp_path: Path, full: bool) -> None:
    """Where the library keeps the prompt's last boundary, prompt and member are accepted."""
    rng = random.Random(5)
    kept = dict.fromkeys(ENGINES, 0)
    for library, tokenizer in models(tmp_path, rng, 10 if full else 1):
        tables = TokenizerTables(tokenizer)
        for engine in ENGINES:
            artifact = compiled("(a|b| ){1,4}", tokenizer, tables, engine)
            kept[engine] += accepted_behind_prompts(artifact, library, rng)
    assert min(kept.values()) > 7


def test_a_token_that_has_no_bytes_of_its_own_is_refused(tmp_path: Path) -> None:
    """Its text could be given as a whole and not otherwise."""
    value = model(random.Random(1))
    value["model"]["vocab"]["xy"] = 50
    with pytest.raises(TokenizerError, match="a token for each byte"):
        TokenizerTables(load_tokenizer(written(tmp_path, value))).pretokenizer  # noqa: B018
