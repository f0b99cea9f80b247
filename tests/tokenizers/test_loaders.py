"""The formats that tokenizers are read from: all give the same one."""

import base64
import json
import random
import sys
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from support import constrain, tokenizer_json, written
from support.library_steps import random_text

from constrain.compiler import Tokenizer, load_tokenizer
from constrain.compiler.diagnostics import TokenizerError
from constrain.compiler.tokenizers.tiktoken_ranks import NAMED, Encoding, tokenizer_of_ranks

END = "<|endoftext|>"


def rank_file(path: Path, tokens: list[bytes]) -> Path:
    """A rank file of tokens in the order of their ranks."""
    lines = (f"{base64.b64encode(t).decode() or '='} {rank}" for rank, t in enumerate(tokens))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
    return path


def encoded_by_ranks(ranks: Mapping[bytes, int], piece: bytes) -> list[int]:
    """The rule of rank files itself: a whole pre-token, else the lowest rank of two neighbours."""
    if piece in ranks:
        return [ranks[piece]]
    parts = [piece[i : i + 1] for i in range(len(piece))]
    while True:
        pairs = [(ranks[a + b], i) for i, (a, b) in enumerate(pairwise(parts)) if a + b in ranks]
        if not pairs:
            return [ranks[part] for part in parts]
        _, place = min(pairs)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]


@pytest.mark.parametrize("name", ["gpt2.tiktoken", "encoder.json"])
def test_formats_of_gpt2(data: Callable[[str], Path], gpt2: Tokenizer, name: str) -> None:
    """Ranks, and vocabulary with merges, are the tokenizer.json: merge by merge."""
    tokenizer = load_tokenizer(data(f"tokenizers/gpt2/{name}"))
    assert gpt2.merges.tolist() == tokenizer.merges.tolist()
    assert gpt2.added == tokenizer.added
    assert gpt2.eos == tokenizer.eos
    assert list(gpt2.base) == list(tokenizer.base)
    rng = random.Random(4)
    for _ in range(300):
        text = random_text(rng)
        assert gpt2.encode(text) == tokenizer.encode(text)


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("cl100k_base", "cl100k_base.tiktoken"),
        ("whisper-multilingual", "multilingual.tiktoken@gpt2"),
    ],
)
def test_rank_files_encode_as_recorded(data: Callable[[str], Path], folder: str, name: str) -> None:
    """The recorded vectors, wherever they hold no special token."""
    tokenizer = load_tokenizer(data(f"tokenizers/{folder}") / name)
    rows = data(f"tokenizers/{folder}/vectors.jsonl").read_text(encoding="utf-8").splitlines()
    for row in map(json.loads, rows):
        if "<|" not in row["text"]:
            assert tokenizer.encode(row["text"]) == row["ids"]


def test_recovered_merges_do_what_ranks_do(full: bool) -> None:
    """Random ranks, in any order: every text of three letters has the ids of the rule."""
    rng = random.Random(8)
    improper = 0
    for _ in range(3000 if full else 300):
        longer = {
            bytes(rng.choices(b"abc", k=rng.randrange(2, 5))) for _ in range(rng.randrange(9))
        }
        tokens = [b"a", b"b", b"c", *sorted(longer, key=lambda _: rng.random())]
        ranks = {token: rank for rank, token in enumerate(tokens)}
        tokenizer = tokenizer_of_ranks("ranks", "", ranks, Encoding(r"(?>.+)"))
        improper += tokenizer.ignore_merges
        for _ in range(40):
            text = "".join(rng.choices("abc", k=rng.randrange(1, 9)))
            assert encoded_by_ranks(ranks, text.encode()) == tokenizer.encode(text)
    assert improper > 20


def test_named_patterns_are_understood() -> None:
    """All encodings that have a name."""
    for name, encoding in NAMED.items():
        pieces = tokenizer_of_ranks(name, "", {b"a": 0}, encoding).encoder.parts("It's 2024\n")
        assert (
            "".join(p for part in pieces if isinstance(part, list) for p in part) == "It's 2024\n"
        )


def test_pattern_of_a_rank_file(tmp_path: Path) -> None:
    """By the file's name, by another name, as a pattern; not without any of them."""
    tokens = [b"a", b"b", b" ", b"ab", b"ba", b""]
    named = rank_file(tmp_path / "gpt2.tiktoken", tokens)
    other = rank_file(tmp_path / "mine.tiktoken", tokens)
    assert load_tokenizer(named).encode("ab ab") == [3, 2, 3]
    assert load_tokenizer(f"{other}@gpt2").encode("abab") == [3, 3]
    assert load_tokenizer(f"{other}@a").encode("abab") == [0, 1, 0, 1]
    assert load_tokenizer(named).tokens[5] == b""
    with pytest.raises(TokenizerError, match="does not say how text is split"):
        load_tokenizer(other)
    with pytest.raises(TokenizerError, match="not understood"):
        load_tokenizer(f"{other}@(")


@pytest.mark.parametrize(
    ("content", "named"), [(b"", "no tokens"), (b"YQ== 0\nYg==\n", "line 2"), (b"? 0", "line 1")]
)
def test_damaged_rank_files(tmp_path: Path, content: bytes, named: str) -> None:
    """The line at fault is named."""
    path = tmp_path / "gpt2.tiktoken"
    path.write_bytes(content)
    with pytest.raises(TokenizerError, match=named):
        load_tokenizer(path)


def test_merge_files_of_both_names(tmp_path: Path) -> None:
    """A folder with encoder.json and vocab.bpe, or vocab.json and merges.txt."""
    for vocab, merges in (("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt")):
        folder = tmp_path / vocab
        folder.mkdir()
        written(folder / vocab, {"a": 0, "b": 1, "ab": 2, END: 3})
        (folder / merges).write_text("#version: 0.2\na b\n", encoding="utf-8")
        tokenizer = load_tokenizer(folder)
        assert tokenizer.encode(f"aba{END}") == [2, 0, 3]
        assert tokenizer.eos == (3,)
    (folder / merges).unlink()
    with pytest.raises(TokenizerError, match="No such file"):
        load_tokenizer(folder)


@pytest.mark.parametrize(
    ("name", "package"), [("hf:a/b", "huggingface_hub"), ("tiktoken:x", "tiktoken")]
)
def test_names_need_their_packages(
    monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    """A missing package is named, with what installs it."""
    for module in ("huggingface_hub", "tiktoken_ext.openai_public"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(TokenizerError, match=f"need the package {package}: pip install"):
        load_tokenizer(name)


def test_names_are_those_of_their_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the packages give is loaded as a file of that kind is."""
    file = written(tmp_path, tokenizer_json("ab", ["a b"], added=[(9, END, True)]))

    class MissingError(Exception):
        pass

    def download(repository: str, name: str, revision: str | None) -> str:
        assert (repository, revision) == ("org/repo", "v1")
        if name == file.name:
            return str(file)
        raise MissingError

    hub, errors = type(sys)("huggingface_hub"), type(sys)("huggingface_hub.errors")
    openai = type(sys)("tiktoken_ext.openai_public")
    ranks = {b"a": 0, b"b": 1, b"ab": 2}
    made = {"pat_str": ".+", "mergeable_ranks": ranks, "special_tokens": {END: 9}}
    vars(hub)["hf_hub_download"] = download
    vars(errors)["EntryNotFoundError"] = MissingError
    vars(openai)["ENCODING_CONSTRUCTORS"] = {"mine": lambda: made}
    for module in (hub, errors, openai):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    for name in ("hf:org/repo@v1", "tiktoken:mine"):
        assert load_tokenizer(name).encode(f"ab{END}b") == [2, 9, 1]
    with pytest.raises(TokenizerError, match="known are mine"):
        load_tokenizer("tiktoken:other")


@pytest.mark.parametrize("command", ["compile", "mask", "show", "viz"])
def test_commands_take_all_formats(tmp_path: Path, command: str) -> None:
    """Every command with --tokenizer reads them."""
    rank_file(tmp_path / "mine.tiktoken", [b"a", b"b", b"ab"])
    arguments = [command, "-", "--dialect", "regex", "-t", "mine.tiktoken@a+", "--eos", "1"]
    more = {"compile": ["-o", "-"], "mask": ["--prefix", "a"]}
    arguments += more.get(command, ["--stage", "tokens"])
    done = constrain(*arguments, stdin=b"a+", folder=tmp_path)
    assert done.returncode == 0, done.stderr
