"""The formats that tokenizers are read from: all give the same one."""

import base64
import json
import random
import sys
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from support import constrain, tokenizer_json, written
from support.library_steps import random_text

from constrain.compiler import Tokenizer, compile_grammar, load_tokenizer
from constrain.compiler.diagnostics import TokenizerError
from constrain.compiler.tokenizers import default_path
from constrain.compiler.tokenizers.definition import Split
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
    for _ in range(3000 if full else 82):
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


def test_ranks_of_meta_have_their_own_pattern(tmp_path: Path) -> None:
    """By name, whatever the file is called; special tokens come after 128,000 ranks."""
    tokens = [bytes([octet]) for octet in range(256)]
    path = rank_file(tmp_path / "tokenizer.model", [*tokens, b"12", b"123", b"ab"])
    older, newer = load_tokenizer(f"{path}@llama3"), load_tokenizer(f"{path}@llama3.1")
    assert isinstance(older, Tokenizer) and isinstance(newer, Tokenizer)
    pieces = ["ab", " ", "123", "4"]
    assert [pieces] == list(older.encoder.parts("ab 1234")) == list(newer.encoder.parts("ab 1234"))
    assert [128_009] == older.encode("<|eot_id|>") == newer.encode("<|eot_id|>")
    assert 128_256 == older.vocab_size == newer.vocab_size
    named = (128_004, 128_010, 128_011, 128_255)
    assert [f"<|reserved_special_token_{i}|>" for i in (2, 5, 6, 250)] == [
        older.added[i] for i in named
    ]
    assert [newer.added[i] for i in named[:3]] == [
        "<|finetune_right_pad_id|>",
        "<|python_tag|>",
        "<|image|>",
    ]
    assert older.eos == (128_001,)
    with_at = tmp_path / "a@b"
    with_at.mkdir()
    moved = path.rename(with_at / "ranks.txt")
    assert load_tokenizer(f"{moved}@[a@]").encode("ab") == [97, 98]


@pytest.mark.parametrize(
    ("content", "named"), [(b"", "no tokens"), (b"YQ== 0\nYg==\n", "line 2"), (b"? 0", "line 1")]
)
def test_damaged_rank_files(tmp_path: Path, content: bytes, named: str) -> None:
    """The line at fault is named."""
    path = tmp_path / "gpt2.tiktoken"
    path.write_bytes(content)
    with pytest.raises(TokenizerError, match=named):
        load_tokenizer(path)


def tekken_file(path: Path, tokens: list[bytes], controls: int, names: list[str] | None) -> Path:
    """A tekken.json of tokens in the order of their ranks, after control tokens."""
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate([*tokens, b"never used"])
    ]
    config = {
        "pattern": r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|[^\p{L}\p{N}]+",
        "default_vocab_size": len(tokens) + controls,
        "default_num_special_tokens": controls,
        "version": "v3",
    }
    listed = names and [
        {"rank": i, "token_str": n, "is_control": True} for i, n in enumerate(names)
    ]
    content = {"config": config, "vocab": vocab, "special_tokens": listed}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_tekken_control_tokens_come_first_and_their_names_are_text(tmp_path: Path) -> None:
    """Ids are ranks after the control tokens; a mask takes a control token's name as its text."""
    octets = [bytes([octet]) for octet in range(256)]
    file = tekken_file(tmp_path / "tekken.json", [*octets, b"ab"], 30, None)
    tokenizer = load_tokenizer(tmp_path)
    assert tokenizer.vocab_size == 30 + 257
    assert tokenizer.eos == (2,)
    assert tokenizer.added[29] == "<SPECIAL_29>"
    assert tokenizer.encode("ab</s>") == [30 + 256, *(30 + octet for octet in b"</s>")]
    for grammar in ('s ::= "x</s>";', 's ::= "x" s | "</s>";'):
        artifact = compile_grammar(grammar, dialect="kbnf", tokenizer=tokenizer)
        assert artifact.manifest.tokenization == "canonical"
        matcher = artifact.matcher()
        assert matcher.accept([30 + octet for octet in b"x</s>"]) == 5
        assert matcher.is_accepting
    named = tekken_file(file, octets, 3, ["<unk>", "<s>", "</s>"])
    assert load_tokenizer(named).added == {0: "<unk>", 1: "<s>", 2: "</s>"}
    held = SimpleNamespace(tokenizer=SimpleNamespace(file_path=named))
    assert load_tokenizer(held).added == load_tokenizer(named).added


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"vocab": []}, "the vocab has 0 tokens, not 3"),
        ({"config": {}}, "default_vocab_size"),
        ({"special_tokens": [{"rank": 9, "token_str": "a"}]}, "beyond the 2"),
        ({"special_tokens": [{"rank": 0, "token_str": "<SPECIAL_1>"}]}, "one name"),
        ({"vocab": [{"rank": 7, "token_bytes": c} for c in ("YQ==", "Yg==", "Yw==")]}, "ranks"),
    ],
)
def test_damaged_tekken_files(tmp_path: Path, changes: dict[str, object], named: str) -> None:
    """What is wrong is named."""
    file = tekken_file(tmp_path / "tekken.json", [b"a", b"b", b"c"], 2, ["<unk>", "</s>"])
    content = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(content | changes), encoding="utf-8")
    with pytest.raises(TokenizerError, match=named):
        load_tokenizer(file)


def test_tekken_ranks_encode_as_the_same_tokenizer_in_json(data: Callable[[str], Path]) -> None:
    """Mistral NeMo's tokens written as ranks give the ids of its tokenizer.json."""
    whole = load_tokenizer(data("tokenizers/mistral_nemo/tokenizer.json"))
    controls = min(whole.tokens)
    few = 4000  # Of the 130,000 ranks: the rule needs no more to be seen.
    split = next(step for step in whole.pre_tokenizers if isinstance(step, Split))
    ranks = {whole.tokens[i]: i for i in range(controls, controls + few)}
    tokenizer = tokenizer_of_ranks("tekken", "", ranks, Encoding(split.pattern))
    rng = random.Random(11)
    for _ in range(200):
        text = random_text(rng)
        ids = whole.encode(text)
        if ids and controls <= min(ids) and max(ids) < controls + few:
            assert tokenizer.encode(text) == ids


def test_a_servers_tokenizer_object_is_read() -> None:
    """A fast tokenizer of transformers, one of the package tokenizers; others by their class."""
    import tokenizers

    default = load_tokenizer()
    backend = tokenizers.Tokenizer.from_file(str(default_path()))

    class Fast:
        """What transformers' fast tokenizers have."""

        backend_tokenizer = backend
        eos_token = default.added[default.eos[0]]
        name_or_path = "mine"

    assert load_tokenizer(Fast(), cache=None).eos == default.eos
    assert load_tokenizer(Fast(), cache=None).name == "mine"
    text = "A server's own tokenizer, as an object."
    assert load_tokenizer(backend, cache=None).encode(text) == default.encode(text)
    words = tokenizers.Tokenizer(
        tokenizers.models.WordPiece({"[UNK]": 0, "a": 1}, unk_token="[UNK]")
    )
    words.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    assert load_tokenizer(words).encode("a b") == [1, 0]
    levels = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, unk_token="a"))
    with pytest.raises(TokenizerError, match="the model 'WordLevel' is not supported"):
        load_tokenizer(levels)
    with pytest.raises(TokenizerError, match="class dict"):
        load_tokenizer({})


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
    with pytest.raises(TokenizerError, match=r"a vocabulary alone: merges\.txt .* not beside it"):
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
