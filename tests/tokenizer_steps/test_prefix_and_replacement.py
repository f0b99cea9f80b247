"""Steps that write spaces, or change some texts: masks against the library, by enumeration.

Random small tokenizers with the steps that canonical masks follow, and languages of which all
members can be encoded: after each prefix of an encoding exactly the tokens that some member's
goes on with are allowed. A member that a normalizer changes, or that holds an added token, has
no canonical tokenization.
"""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from support import sampled
from support.automata import build_automaton, words_of
from support.corpus.encodings import check_masks, following
from support.library_steps import bpe
from support.matcher import accepted_behind_prompts
from support.network import inline_up_to
from tokenizers import AddedToken, Regex, normalizers, pre_tokenizers

from constrain.artifacts.prefix import boundaries
from constrain.artifacts.read import load_bytes
from constrain.compiler import Tokenizer, load_tokenizer
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.diagnostics import CheckError, TokenizerError
from constrain.compiler.pipeline import build_artifact, build_engine
from constrain.compiler.tokenizers import byte_alphabet

END = "<eos>"
GRAMMARS = ["(a|b| ){0,5}", " ?(a|b){1,3}( (a|b){1,2})?", "(a|,| |é){0,4}", "( {0,3}(ab|,)){0,2}"]
SPACE = normalizers.Replace(" ", "▁")
SPLIT = pre_tokenizers.Split(",", "isolated")


def merges(rng: random.Random, pool: list[str]) -> list[tuple[str, str]]:
    """Some merges of characters and of earlier merges' results."""
    found = []
    for _ in range(rng.randrange(8)):
        pair = rng.choice(pool), rng.choice(pool)
        if "".join(pair) not in pool:
            found.append(pair)
            pool.append("".join(pair))
    return found


def characters(rng: random.Random) -> Any:
    """A model of characters, sometimes with tokens of bytes for the others."""
    fallback = rng.random() < 0.5
    letters = ["a", "b", "▁", ","] + ([] if fallback else ["é"])
    octets = [f"<0x{octet:02X}>" for octet in range(256)] if fallback else []
    vocab = {token: i for i, token in enumerate([*letters, *octets])}
    return tokenizers.Tokenizer(bpe(vocab, merges(rng, letters), byte_fallback=fallback))


def octets(rng: random.Random) -> Any:
    """A model of bytes."""
    alphabet = byte_alphabet.characters()
    vocab = {char: i for i, char in enumerate(alphabet)}
    pairs = merges(rng, ["a", "b", "Ġ", ","])
    return tokenizers.Tokenizer(bpe(vocab, pairs))


def byte_level(rng: random.Random, *steps: Any, prefix: bool = False) -> Any:
    """Some steps before the byte-level alphabet."""
    last = pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=rng.random() < 0.5)
    return pre_tokenizers.Sequence([*steps, last])


def metaspace(rng: random.Random) -> Any:
    """SentencePiece's spaces, in any form, sometimes with another step after."""
    scheme = rng.choice(["always", "first", "never"])
    step = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=rng.random() < 0.5)
    behind = pre_tokenizers.Split(Regex(rng.choice(["▁+", "[a▁]", " +"])), "isolated")
    return rng.choice([step, pre_tokenizers.Sequence([step, behind])])


def with_metaspace(rng: random.Random) -> Any:
    """Spaces that are written before pre-tokens."""
    found = characters(rng)
    found.pre_tokenizer = metaspace(rng)
    if rng.random() < 0.3:
        found.normalizer = rng.choice([SPACE, normalizers.Prepend("▁"), normalizers.Strip()])
    return found


def with_sentence_piece(rng: random.Random) -> Any:
    """Spaces that are written before the pre-tokenizer, which sees what they are written as."""
    found = characters(rng)
    steps = [SPACE] if rng.random() < 0.5 else [normalizers.Prepend("▁"), SPACE]
    found.normalizer = normalizers.Sequence(steps)
    pattern = rng.choice([" ", "▁", "a"])
    found.pre_tokenizer = pre_tokenizers.Split(pattern, "merged_with_previous")
    return found


def with_prefix_space(rng: random.Random) -> Any:
    """A space that ``ByteLevel`` puts before a text."""
    found = octets(rng)
    found.pre_tokenizer = byte_level(rng, prefix=True)
    return found


def with_strip(rng: random.Random) -> Any:
    """White space at the ends is dropped, before or after other steps."""
    strip = normalizers.Strip(left=rng.random() < 0.7, right=rng.random() < 0.7)
    if rng.random() < 0.5:
        found = octets(rng)
        found.normalizer = strip
        found.pre_tokenizer = byte_level(rng, prefix=rng.random() < 0.5)
        return found
    found = characters(rng)
    more = [SPACE] if rng.random() < 0.5 else [normalizers.Prepend("▁"), SPACE]
    steps = [*more, strip] if rng.random() < 0.5 else [strip, *more]
    found.normalizer = normalizers.Sequence(steps)
    return found


def with_replace(rng: random.Random) -> Any:
    """Matches of a regular expression are replaced, some of them by themselves."""
    patterns = [r" +", r"\s{2,}", "a+|b", "[ab]{2}", "a(?!b)", ", |a ", "▁+", "é"]
    patterns += [r"\s+$", r"^\s+", "a+?b?", r"\bb", "(?<=a)b|,", "a++", "[ab&&[^b]]"]
    pattern = rng.choice(patterns)
    step = normalizers.Replace(Regex(pattern), rng.choice(["", " ", "a", "ab", "▁", "b,"]))
    if rng.random() < 0.5:
        found = octets(rng)
        found.normalizer = step
        found.pre_tokenizer = byte_level(rng)
        return found
    found = characters(rng)
    more = [SPACE] if rng.random() < 0.5 else [normalizers.Prepend("▁"), SPACE]
    found.normalizer = normalizers.Sequence([*more, step] if rng.random() < 0.5 else [step, *more])
    return found


def with_added_tokens(rng: random.Random) -> Any:
    """Added tokens with all options, of several texts that overlap."""
    found = octets(rng) if rng.random() < 0.5 else characters(rng)
    if found.get_vocab().get("Ġ") is not None:
        found.pre_tokenizer = byte_level(rng)
    else:
        found.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), SPACE])
    texts = rng.sample(["ab", "ba", "aa", " a", "b ", "a,", "aéa", "aba", "a b"], 4)
    names = ("single_word", "lstrip", "rstrip", "normalized")
    # What merging gives too would not tell the oracle what was found.
    for text in (text for text in texts if found.token_to_id(text.replace(" ", "▁")) is None):
        options = {name: rng.random() < 0.6 for name in names}
        found.add_tokens([AddedToken(text, **options)])
    return found


KINDS: list[Callable[[random.Random], Any]] = [
    with_metaspace,
    with_sentence_piece,
    with_prefix_space,
    with_strip,
    with_replace,
    with_added_tokens,
]
NAMED = [pytest.param(kind, id=kind.__name__) for kind in KINDS]


def canonical(library: Any, tokenizer: Tokenizer, text: str) -> list[int] | None:
    """The library's tokens of a text, None if they do not give it back."""
    ids: list[int] = library.encode(text, add_special_tokens=False).ids
    if set(ids) & set(tokenizer.added):
        return None
    normalizer = library.normalizer
    seen = text if normalizer is None else normalizer.normalize_str(text)
    spelled = tokenizer.decode_bytes(ids).decode()
    before = spelled.removesuffix(text) if spelled.endswith(text) else None
    # What is put before every text is not the text's own, even if a step drops one of both.
    always = bool(text) and "Prepend" in str(normalizer)
    whole = before in ((" ",) if always else ("", " ")) and (before + text).endswith(
        seen.replace("▁", " ")
    )
    return ids if whole else None


def library_of(path: Path, library: Any) -> Tokenizer:
    """A tokenizer with a token that ends texts, read from its file."""
    library.add_special_tokens([AddedToken(END, normalized=False)])
    library.save(str(path / "tokenizer.json"))
    return load_tokenizer(path)


@sampled("kind", NAMED[::2], NAMED)
def test_masks_are_those_of_all_encodings(
    kind: Callable[[random.Random], Any], tmp_path: Path, full: bool
) -> None:
    """By CartesianMerge, and by DirectMerge where it can follow the merges."""
    rng = random.Random(kind.__name__)
    automata = [build_automaton(regex, dialect="regex") for regex in GRAMMARS]
    left_out = counted = 0
    for _ in range(200 if full else 1):
        library = kind(rng)
        tokenizer = library_of(tmp_path, library)
        end = library.token_to_id(END)
        tables = TokenizerTables(tokenizer)
        for automaton in automata:
            texts = [bytes(word).decode() for word in words_of(automaton.dfa, 12)]
            found = [canonical(library, tokenizer, text) for text in texts]
            left_out += found.count(None)
            expected = following((ids for ids in found if ids is not None), [end])
            for method in ("cartesian", "direct") if tokenizer.byte_level else ("cartesian",):
                try:
                    built = build_artifact(
                        automaton, tokenizer, method=method, eos=[end], tables=tables
                    )
                except CheckError:
                    assert not expected
                    continue
                artifact = load_bytes(built.artifact.to_bytes())
                check_masks(artifact.matcher(), expected)
                counted += len(expected)
    assert counted > 150
    assert left_out > 2 or kind in (with_metaspace, with_sentence_piece, with_prefix_space)


# Members begin with a space, without one, and either way: in rules that are called first, in
# repetitions that are counted, and in permutations that are sets.
CALLED = (
    'root ::= x "b" | x\nx ::= y | " a" | "c" y\ny ::= " " z | "a" | " b" | ", "\nz ::= "a" | " "',
    'root ::= x | x "a" | x " "\nx ::= " " y\ny ::= "a" | " " | "b" z "a"\nz ::= "a" | "b "',
    'root ::= x "a" | x ","\nx ::= "b" y " " | "a " | y\ny ::= "a" | "b,"',
    'root ::= (x | " " x "," x)\nx ::= "a" | "a b" | "," | ", "',
    'root ::= x x | ""\nx ::= " " | "a" | " a"',
    'root ::= (" " | "a "){1,4} ("b" | " ")',
)
PERMUTED = 'root ::= permute!(" ", "a ", " b", ("ab" | ", b"), "b,"?);'


@sampled("kind", [with_metaspace, with_prefix_space], NAMED)
def test_masks_of_grammars_that_call(
    kind: Callable[[random.Random], Any],
    tmp_path: Path,
    full: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A space is put before each text, or before those that do not begin with one."""
    rng, compared = random.Random(f"called {kind.__name__}"), 0
    inline_up_to(monkeypatch, 0)
    monkeypatch.setattr("constrain.compiler.thresholds.LARGE_STATES", 2)
    grammars = [(text, "gbnf") for text in CALLED] + [(PERMUTED, "kbnf")]
    members = [
        [bytes(word).decode() for word in words_of(build_automaton(text, dialect=dialect).dfa, 12)]
        for text, dialect in grammars
    ]
    for _ in range(60 if full else 1):
        library = kind(rng)
        tokenizer = library_of(tmp_path, library)
        end = library.token_to_id(END)
        tables = TokenizerTables(tokenizer)
        for (text, dialect), words in zip(grammars, members, strict=True):
            front = build_engine(text, dialect=dialect, engine="network")
            found = [canonical(library, tokenizer, word) for word in words]
            expected = following((ids for ids in found if ids is not None), [end])
            options = {"tokenization": "canonical", "eos": [end], "engine": "network"}
            if not expected:
                # Or it may change members.
                with pytest.raises((CheckError, TokenizerError)):
                    build_artifact(front, tokenizer, tables=tables, **options)
                continue
            try:
                built = build_artifact(front, tokenizer, tables=tables, **options)
            except TokenizerError as error:
                assert "may change members" in str(error)
                continue
            artifact = load_bytes(built.artifact.to_bytes())
            check_masks(artifact.matcher(), expected)
            compared += len(expected)
    assert compared > 150


@pytest.mark.parametrize("text", [" ", "a", " a", "a ", " a b"])
def test_prefixes_as_text(tmp_path: Path, text: str) -> None:
    """A prefix that begins with a space is not put after another one."""
    rng = random.Random(6)
    library = octets(rng)
    library.pre_tokenizer = byte_level(rng, prefix=True)
    tokenizer = library_of(tmp_path, library)
    automaton = build_automaton("(a|b| ){0,5}", dialect="regex")
    found = build_artifact(automaton, tokenizer, eos=[END], method="cartesian")
    artifact = load_bytes(found.artifact.to_bytes())
    ids = tuple(library.encode(text).ids)
    at_end = [b for b in boundaries(artifact, text.encode()) if not b.pending and b.ids == ids]
    assert [len(text)] == [b.length for b in at_end]


@pytest.mark.parametrize("prefix", [True, False])
def test_an_older_form_of_metaspace(tmp_path: Path, prefix: bool) -> None:
    """``add_prefix_space`` stands for the schemes ``always`` and ``never``."""
    rng = random.Random(7)
    data = json.loads(characters(rng).to_str())
    data["pre_tokenizer"] = {"type": "Metaspace", "replacement": "▁", "add_prefix_space": prefix}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    tokenizer = load_tokenizer(path)
    # The library does not read "never" in its older form any more.
    data["pre_tokenizer"]["prepend_scheme"] = "always" if prefix else "never"
    library = tokenizers.Tokenizer.from_str(json.dumps(data))
    texts = ["".join(rng.choices("ab ,", k=rng.randrange(8))) for _ in range(300)]
    for text in texts:
        assert library.encode(text).ids == tokenizer.encode(text)
    assert (tokenizer.encode("a") == tokenizer.encode(" a")) == prefix


@pytest.mark.parametrize("kind", [with_metaspace, with_prefix_space], ids=lambda k: k.__name__)
def test_behind_a_prompt(kind: Callable[[random.Random], Any], tmp_path: Path) -> None:
    """No space is put before a member there: where the library keeps the prompt's last boundary,
    the tokens of both together are accepted."""
    rng = random.Random(8)
    automaton = build_automaton("(a|b| ){1,4}", dialect="regex")
    kept = 0
    for _ in range(8):
        library = kind(rng)
        if library.normalizer is not None:
            continue
        tokenizer = library_of(tmp_path, library)
        end = library.token_to_id(END)
        built = build_artifact(automaton, tokenizer, method="cartesian", eos=[end])
        artifact = load_bytes(built.artifact.to_bytes())
        kept += accepted_behind_prompts(artifact, library, rng)
    assert kept > 50
