"""The scripts of ``examples/serving``, each from its command line to its answers."""

import json
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import EXAMPLES
from support.serving.fake_engines import fake_engines
from support.serving.fake_hosts import fake_hosts

from constrain.artifacts.serving import transformers
from constrain.compiler import Tokenizer
from constrain.compiler.tokenizers import default_path

pytestmark = pytest.mark.quick

SCHEMA = {"enum": ["red", "green"]}
GRAMMAR = 's ::= "\\"red\\"" | "\\"green\\"";'

# How each script is called, and how many answers it prints.
CALLS = {
    "with_transformers": (["model", "schema.json", "Which?", "--max-tokens", "40"], 2),
    "with_llama_cpp": (["model.gguf", "tokenizer", "grammar.ebnf", "Which?"], 1),
    "with_mlx": (["model", "schema.json", "Which?"], 1),
    "with_tensorrt": (["tokenizer", "schema.json", "Which?", "And then which one?"], 2),
    "with_vllm": (["model", "schema.json", "Which?", "And then which one?"], 2),
    "with_sglang": (["model", "schema.json", "Which?", "And then which one?"], 2),
}


@pytest.fixture
def folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, default_tokenizer: Tokenizer
) -> Iterator[Path]:
    """With what the scripts read, and hosts to import."""
    monkeypatch.chdir(tmp_path)
    Path("schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    Path("grammar.ebnf").write_text(GRAMMAR, encoding="utf-8")
    Path("tokenizer").mkdir()
    Path("tokenizer/tokenizer.json").write_bytes(default_path().read_bytes())
    fake_hosts(monkeypatch, default_path(), default_tokenizer)
    fake_engines(monkeypatch)
    yield tmp_path
    transformers._subclass.cache_clear()


@pytest.mark.parametrize("name", CALLS)
def test_scripts_give_members_alone(
    name: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Under hosts with a random model."""
    arguments, answers = CALLS[name]
    script = EXAMPLES / "serving" / f"{name}.py"
    monkeypatch.setattr(sys, "argv", [str(script), *arguments])
    runpy.run_path(str(script), run_name="__main__")
    said = capsys.readouterr().out
    assert answers == len(said.splitlines())
    assert {json.loads(line) for line in said.splitlines()} <= {"red", "green"}
