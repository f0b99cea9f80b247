"""What a tokenizer's file asks for is bounded: tokens, steps, files, and what encoding takes."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
import re
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from support import tokenizer_json, written
from support.cli import Cli

from constrain.compiler import Limits, compile_grammar, load_tokenizer
from constrain.compiler.diagnostics import LimitError, TokenizerError, TokenizerLimitError
from constrain.compiler.files import bounded
from constrain.compiler.tokenizers.definition import (
    BYTE_LEVEL_PATTERN,
    PUNCTUATION_PATTERN,
    AddedToken,
)
from constrain.compiler.tokenizers.encoding import allowance
from constrain.compiler.tokenizers.encoding.added_tokens import AddedTokens
from constrain.compiler.tokenizers.encoding.allowance import is_linear
from constrain.compiler.tokenizers.encoding.stream import Adjacency
from constrain.compiler.tokenizers.sizes import check_lines, check_sizes
from constrain.compiler.tokenizers.tiktoken_ranks import NAMED

pytestmark = pytest.mark.quick

FAR = {"added": [(9_900_000, "<far>", True)]}
LONG = {"extra": {"a" * 5_000: 2}}
LONG_TOGETHER = {"extra": {"a" * length: length for length in range(4_000, 4_070)}}
REPLACE = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}


def with_steps(**steps: Any) -> dict[str, Any]:
    """A small tokenizer with a normalizer or a pre-tokenizer of its own."""
    return {**tokenizer_json("ab"), **steps}


def split(pattern: str) -> dict[str, Any]:
    """A small tokenizer that splits by a pattern."""
    step = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}
    level = {"type": "ByteLevel", "use_regex": False}
    return with_steps(pre_tokenizer={"type": "Sequence", "pretokenizers": [step, level]})


def sequence(step: dict[str, Any], count: int) -> dict[str, Any]:
    """A small tokenizer with a normalizer so often."""
    return with_steps(normalizer={"type": "Sequence", "normalizers": [step] * count})


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (
            tokenizer_json("ab", **FAR),
            "the highest id is 9,900,000, and there are 3 tokens: at most 1,000,000 ids",
        ),
        (tokenizer_json("ab", extra={"ab": 2_000_000}), "the highest id is 2,000,000"),
        (
            tokenizer_json("ab", **LONG),
            "the token that begins with 'aaaaaaaaaaaaaaaaaaaa' has 5,000 bytes: 4,096 are",
        ),
        (
            tokenizer_json("ab", added=[(5, "a" * 5_000, True)]),
            "the token that begins with 'aaaaaaaaaaaaaaaaaaaa' has 5,000 bytes: 4,096 are",
        ),
        (
            tokenizer_json("ab", **LONG_TOGETHER),
            "bytes have 282,415 together: 250,000 are the most",
        ),
        (sequence(REPLACE, 100), "there are more than 100 normalizers, which is the most"),
        (split("a|" * 10_000 + "b"), "pre-tokenizers have 20,023 characters together: 20,000 are"),
        (
            with_steps(normalizer={"type": "Prepend", "prepend": "a" * 1_000_000}),
            "the texts and patterns of the normalizers have 1,000,007 characters together",
        ),
        (
            with_steps(normalizer={"type": "Prepend", "prepend": "\ud800"}),
            r"'\ud800' of a normalizer is no text: it has a lone surrogate",
        ),
        (with_steps(normalizer={"type": "x" * 10_000}), "the normalizer 'xxxxxxxxxxxxxxxxxxxxx"),
    ],
    ids=lambda value: re.sub("[^a-z ]", "", value)[:40] if isinstance(value, str) else "",
)
def test_what_no_real_tokenizer_has_is_refused_by_name(
    value: dict[str, Any], reason: str, tmp_path: Path, cli: Cli
) -> None:
    """With exit code 2, before tables are made of it, and in few words."""
    path = written(tmp_path, value)
    with pytest.raises(TokenizerError, match=re.escape(reason)):
        load_tokenizer(path, cache=None)

    ran = cli("tokenize", "ab", "-t", str(path))

    assert (2, b"") == (ran.code, ran.out)
    assert reason in ran.err
    assert len(ran.err) < 600


def test_words_are_bounded_as_well(tmp_path: Path) -> None:
    """WordPiece's vocabulary."""
    path = tmp_path / "vocab.txt"
    path.write_text(f"[UNK]\n[SEP]\n{'a' * 5_000}\n", encoding="utf-8")
    with pytest.raises(TokenizerError, match="has 5,000 bytes"):
        load_tokenizer(path)


def test_added_words_are_counted(tmp_path: Path) -> None:
    """WordPiece's: each place of a text is compared with all of them."""
    added = [{"id": i, "content": f"<{i}>"} for i in range(20_001)]
    model = {"type": "WordPiece", "vocab": {"[UNK]": 20_001}}
    value = {"added_tokens": added, "model": model, "pre_tokenizer": {"type": "BertPreTokenizer"}}
    with pytest.raises(TokenizerError, match="there are 20,001 added tokens: 20,000 are the most"):
        load_tokenizer(written(tmp_path, value))


def test_tokens_are_counted() -> None:
    """Of text, and added ones, and their bytes."""
    with pytest.raises(TokenizerError, match="there are 2,000,001 tokens: 2,000,000 are the most"):
        check_sizes([b""] * 2_000_001, 0)
    with pytest.raises(TokenizerError, match="are 100,001 added tokens: 100,000 are the most"):
        check_sizes([], 0, ["a"] * 100_001)
    with pytest.raises(TokenizerError, match="20,000,100 bytes together: 20,000,000 are the most"):
        check_sizes([b"a" * 100] * 200_001, 0)
    with pytest.raises(TokenizerError, match="there are 2,000,001 tokens"):
        check_lines(b"\n" * 2_000_001)


def test_control_tokens_are_counted_before_they_are_named(tmp_path: Path) -> None:
    """A small tekken.json that says it has a billion of them."""
    config = {
        "pattern": "a",
        "default_vocab_size": 10**9 + 1,
        "default_num_special_tokens": 10**9,
    }
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps({"config": config, "vocab": [{"rank": 0, "token_bytes": "YQ=="}]}))
    with pytest.raises(TokenizerError, match="there are 1,000,000,000 control tokens"):
        load_tokenizer(path)


@pytest.mark.parametrize("name", ["tokenizer.json", "tekken.json", "vocab.txt", "x.tiktoken@gpt2"])
def test_larger_files_are_not_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of any format."""
    monkeypatch.setattr(bounded, "MOST_FILE_BYTES", 100)
    (tmp_path / name.partition("@")[0]).write_bytes(b" " * 101)
    with pytest.raises(TokenizerError, match="has more than 100 bytes, the most that a tokenizer"):
        load_tokenizer(tmp_path / name)


def test_a_device_without_an_end_is_not_read_to_it() -> None:
    """As a larger file is not."""
    with pytest.raises(TokenizerError, match="zero has more than 100,000,000 bytes"):
        load_tokenizer("/dev/zero", cache=None)


def test_a_name_that_no_file_can_have_is_no_file() -> None:
    """And may be one on a hub."""
    with pytest.raises(TokenizerError, match="A/b"):
        load_tokenizer(f"hf:{'A' * 300}/b", cache=None)


def test_values_are_counted_before_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two bytes of JSON become 72 of memory."""
    monkeypatch.setattr(bounded, "MOST_VALUES", 100)
    path = tmp_path / "tokenizer.json"
    path.write_bytes(b'{"model":' + b"[" * 100 + b"]" * 100 + b"}")
    with pytest.raises(TokenizerError, match="it has more than 100 values"):
        load_tokenizer(path)


# Texts are short, and end so that no matcher sees at once that there is no match.
@pytest.mark.parametrize("pattern", ["(a|a)*b", r"(?:a+)+\p{N}", r"(a+)+\p{N}|b"])
def test_patterns_that_go_back_again_and_again_are_stopped(
    pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    """By a clock of the CPU, with the pattern's text, and exit code 3."""
    monkeypatch.setattr(allowance, "_SECONDS", 0.02)
    path, text = written(tmp_path, split(pattern)), "a" * 6_000 + "!b"
    begin = process_time()
    with pytest.raises(TokenizerLimitError, match=re.escape(f"the pattern {pattern!r} takes")):
        load_tokenizer(path, cache=None).encode(text)
    assert process_time() - begin < 1

    assert 3 == cli("tokenize", text, "-t", str(path)).code


def test_the_clock_is_that_of_the_whole_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not of each of the thousand pre-tokens that an earlier step makes."""
    monkeypatch.setattr(allowance, "_SECONDS", 0.02)
    value = split("(?:a|aa)+c|!b")
    value["pre_tokenizer"]["pretokenizers"].insert(0, {"type": "WhitespaceSplit"})
    tokenizer = load_tokenizer(written(tmp_path, value), cache=None)
    begin = process_time()
    with pytest.raises(TokenizerLimitError):
        tokenizer.encode("aaaaaaaaaaaaaaaaaaaaa!bc " * 1_000)
    assert process_time() - begin < 1


def test_patterns_that_go_back_a_little_are_followed(tmp_path: Path) -> None:
    """As they were: the clock changes no pre-token."""
    tokenizer = load_tokenizer(written(tmp_path, split("a*b")), cache=None)
    assert not is_linear("a*b")
    assert [["aab", "b", "a"]] == list(tokenizer.encoder.parts("aabba"))


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            BYTE_LEVEL_PATTERN,
            PUNCTUATION_PATTERN,
            r"\p{N}",
            r"\s",
            r"\p{N}{1,3}",
            "a*a*",
            "a*b|a+",
        ),
        *(encoding.pattern for encoding in NAMED.values()),
    ],
)
def test_patterns_of_real_tokenizers_need_no_clock(pattern: str) -> None:
    """They are seen to take linear time."""
    assert is_linear(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        *("(a|a)*b", "a*b", "(?:a+)+c", "a*a*a*", "a+b|a|a+", "a+b|b+", r"\s+(?!\S)|\s", "a+?b|a+"),
        *("a++b|a+", "x?a*b|a+", "(?<=a)b", "(?=ab)a", "(?:ab)*", "a{9999}b", "a{2}{3}", "a{3,}b"),
        *("a?" * 20, "(a|a)" * 20, "[" + "ab" * 2_000 + "]"),
    ],
)
def test_patterns_that_may_take_longer_have_a_clock(pattern: str) -> None:
    """And those of which that is not known."""
    assert not is_linear(pattern)


@pytest.mark.parametrize("pattern", ["(?:" + "a|" * 3_000 + "b)*", "[ab]?" * 3_000])
def test_patterns_of_thousands_of_characters_are_not_looked_into(pattern: str) -> None:
    """Which of these stand side by side in a match took gigabytes: such texts are not cut."""
    begin = process_time()
    assert Adjacency(pattern).may_hold("a", "b")
    assert process_time() - begin < 0.5
    assert not Adjacency(NAMED["o200k_base"].pattern).looks_far


@pytest.mark.parametrize(
    "steps",
    [[REPLACE] * 90, [{**REPLACE, "pattern": {"Regex": "a?"}, "content": "a" * 300}] * 3],
    ids=["texts", "patterns"],
)
def test_normalizers_that_blow_up_a_text_are_stopped(
    steps: list[dict[str, Any]], tmp_path: Path
) -> None:
    """Before they do."""
    value = with_steps(normalizer={"type": "Sequence", "normalizers": steps})
    tokenizer = load_tokenizer(written(tmp_path, value), cache=None)
    with pytest.raises(TokenizerLimitError, match="make more than 100,200 characters of a text"):
        tokenizer.encode("a" * 10)


def test_pre_tokenizers_that_blow_up_a_text_are_stopped(tmp_path: Path) -> None:
    """Each ``ByteLevel`` after another writes its characters as bytes again."""
    level = {"type": "ByteLevel", "use_regex": False}
    value = with_steps(pre_tokenizer={"type": "Sequence", "pretokenizers": [level] * 60})
    tokenizer = load_tokenizer(written(tmp_path, value), cache=None)
    with pytest.raises(TokenizerLimitError, match="make more than 100,020 characters of a text"):
        tokenizer.encode("é")


def test_tables_of_a_tokenizer_are_made_within_a_limit_of_their_own(tmp_path: Path) -> None:
    """Thousands of added tokens of single words take minutes."""
    value = tokenizer_json("ab<>", added=[(4, "<eos>", True)])
    flags = {"special": False, "single_word": True, "normalized": True}
    names = (f"<{i}>" + "x" * (i % 7) for i in range(3_000))
    value["added_tokens"] += [{"id": 5 + i, "content": n, **flags} for i, n in enumerate(names)]
    tokenizer = load_tokenizer(written(tmp_path, value), cache=None)
    begin = process_time()
    said = "once: the automaton of the tokenizer's steps needs more than"
    with pytest.raises(LimitError, match=said) as found:
        compile_grammar(
            "[ab]+", dialect="regex", tokenizer=tokenizer, tokenization="canonical",
            cache=None, limits=Limits(table_seconds=0.4),
        )  # fmt: skip
    assert "; raise --max-table-seconds" in str(found.value)
    assert process_time() - begin < 1.2 * 0.4 + 0.5


def by_lengths(names: set[str], text: str) -> list[str]:
    """The longest name at each place, by trying all lengths."""
    found, place = [], 0
    while place < len(text):
        lengths = range(len(text) - place, 0, -1)
        length = next((n for n in lengths if text[place : place + n] in names), 0)
        found += [text[place : place + length]] * bool(length)
        place += length or 1
    return found


def test_added_tokens_are_found_as_by_trying_all_lengths() -> None:
    """The leftmost, and of these the longest: random names that begin alike, and texts of them."""
    rng = random.Random(22)
    for _ in range(600):
        alphabet = rng.choice(("a", "ab", "abc"))
        most = rng.choice((3, 12, 40))
        names = {"".join(rng.choices(alphabet, k=rng.randrange(1, most))) for _ in range(most)}
        tokens = AddedTokens((name, AddedToken(i, name)) for i, name in enumerate(sorted(names)))
        text = "".join(rng.choices(alphabet + "x", k=rng.randrange(50)))
        found = [token.content for _, _, token in tokens.parts(text) if token is not None]
        assert by_lengths(names, text) == found, (names, text)


def test_names_that_begin_alike_do_not_make_the_search_slow() -> None:
    """Each place takes a time that is logarithmic in their number."""
    for names, text in (
        (["a" * length + "b" for length in range(1, 700)], "a" * 20_000),
        (["a" * length for length in range(1, 700)], "ab" * 10_000),
    ):
        tokens = AddedTokens((name, AddedToken(i, name)) for i, name in enumerate(names))
        begin = process_time()
        assert list(tokens.parts(text))
        assert process_time() - begin < 0.5
