"""The compiler of a tokenizer: what belongs to the tokenizer alone is made once, by any thread."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from constrain.artifacts.tokens.trie import Trie
from constrain.compiler import Cache, CompileOptions, Compiler, Tokenizer, compile_grammar
from constrain.compiler.bpe import tokenizer_tables
from constrain.compiler.diagnostics import LimitError, TokenizerError, WeakerMasksWarning
from constrain.compiler.limits import Limits
from constrain.compiler.tokenizers import default_path

pytestmark = pytest.mark.quick

TEXTS: list[tuple[str, dict[str, Any]]] = [
    ('s ::= "a" | "b";', {"dialect": "kbnf"}),
    ("[0-9]{2}(:[0-9]{2})*", {"dialect": "regex"}),
    ("[a-z ]*", {"dialect": "regex", "tokenization": "any"}),
    ('s ::= "(" [s] ")";', {"dialect": "kbnf", "tokenization": "any"}),
    ('root ::= "x" root "y" | "z"', {"dialect": "gbnf"}),
    ('start: "a" start "b" | "c"\n%ignore " "', {"dialect": "lark", "tokenization": "any"}),
]


def test_tables_are_made_once(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trie of the vocabulary, and each table of canonical masks."""
    made: list[str] = []
    for owner, name in (
        (tokenizer_tables, "build_pairs"),
        (tokenizer_tables, "build_pretokenizer_tables"),
        (Trie, "from_vocabulary"),
    ):
        build = getattr(owner, name)

        def counted(*arguments: Any, _build: Any = build, _name: str = name) -> Any:
            made.append(_name)
            return _build(*arguments)

        monkeypatch.setattr(owner, name, counted)
    compiler = Compiler(default_tokenizer, cache=None)
    for text, options in TEXTS * 2:
        compiler.compile(text, **options).matcher().mask()
    assert sorted(made) == ["build_pairs", "build_pretokenizer_tables", "from_vocabulary"]


def test_threads_share_a_compiler(default_tokenizer: Tokenizer, tmp_path: Path) -> None:
    """Eight threads compile what one does, byte for byte."""
    expected = [
        compile_grammar(text, tokenizer=default_tokenizer, **options).to_bytes()
        for text, options in TEXTS
    ]
    compiler = Compiler(default_tokenizer, cache=Cache(tmp_path))
    jobs = [*range(len(TEXTS))] * 2
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda i: compiler.compile(TEXTS[i][0], **TEXTS[i][1]).to_bytes(), jobs)
    assert all(data == expected[i] for i, data in zip(jobs, found, strict=True))


def test_options_of_a_compiler_hold_for_each_grammar(default_tokenizer: Tokenizer) -> None:
    """A grammar's own go before them; the clock begins with each."""
    options, long = CompileOptions(dialect="regex", tokenization="any"), "abc" * 13
    compiler = Compiler(default_tokenizer, options=options, limits=Limits(states=10))

    assert compiler.compile("a").manifest.tokenization == "any"
    assert compiler.compile("a", tokenization="canonical").manifest.tokenization == "canonical"
    with pytest.raises(LimitError):
        compiler.compile(long)
    assert compiler.compile(long, limits=Limits()).manifest.dialect == "regex"


@pytest.mark.parametrize("door", ["compiler", "function"])
def test_a_warning_is_the_callers(default_tokenizer: Tokenizer, door: str) -> None:
    """It names the line that compiled the grammar."""
    text, options = 'root ::= "(" root ")" | "."', {"dialect": "gbnf", "engine": "earley"}
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        if door == "compiler":
            Compiler(default_tokenizer).compile(text, **options)
        else:
            compile_grammar(text, **options, tokenizer=default_tokenizer)
    assert [(w.category, w.filename) for w in found] == [(WeakerMasksWarning, __file__)]


def test_a_compiler_loads_its_tokenizer(default_tokenizer: Tokenizer, tmp_path: Path) -> None:
    """By its path, by default the embedded one; what is loaded already is taken as it is."""
    assert Compiler(default_tokenizer).tokenizer is default_tokenizer
    by_path = Compiler(default_path(), cache=None)
    assert by_path.tokenizer.sha256 == Compiler(cache=None).tokenizer.sha256
    artifact = by_path.compile("ab", dialect="regex")
    assert artifact.manifest.tokenizer_sha256 == default_tokenizer.sha256
    with pytest.raises(TokenizerError, match="No such file"):
        Compiler(tmp_path / "none.json")
    with pytest.raises(TokenizerError, match="of the class int cannot be read"):
        Compiler(3)
