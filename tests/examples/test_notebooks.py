"""The short scripts of ``examples/notebooks``, and the notebooks of the same code."""

import ast
import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import EXAMPLES

SCRIPTS = sorted((EXAMPLES / "notebooks").glob("*.py"))


def notebook_of(script: Path) -> dict[str, Any]:
    """A script as a notebook: its docstring, its imports, and the rest, a cell each."""
    text = script.read_text(encoding="utf-8")
    about, *statements = ast.parse(text).body
    lines = text.splitlines(keepends=True)
    last = max(s.end_lineno or 0 for s in statements if isinstance(s, ast.Import | ast.ImportFrom))
    words = ast.literal_eval(ast.unparse(about)).strip() + "\n"
    cells = [words, *("".join(part) for part in (lines[about.end_lineno : last], lines[last:]))]
    made = [
        {"cell_type": "code", "execution_count": None, "outputs": []}
        if number
        else {"cell_type": "markdown"}
        for number in range(len(cells))
    ]
    for number, (cell, source) in enumerate(zip(made, cells, strict=True)):
        kept = source.strip("\n").splitlines(keepends=True)
        cell |= {"id": f"cell-{number}", "metadata": {}, "source": kept}
    named = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": made, "metadata": {"kernelspec": named}, "nbformat": 4, "nbformat_minor": 5}


def code_of(notebook: Path) -> str:
    """What the cells of a notebook run, one after the other."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


@pytest.mark.quick
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_notebooks_have_the_code_of_the_scripts(script: Path, update: bool) -> None:
    """With ``--update`` they are written."""
    notebook = script.with_suffix(".ipynb")
    if update:
        text = json.dumps(notebook_of(script), indent=1, ensure_ascii=False) + "\n"
        notebook.write_text(text, encoding="utf-8")

    assert notebook_of(script) == json.loads(notebook.read_text(encoding="utf-8"))


@pytest.mark.quick
def test_decoding_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    """Both give the same member of the schema."""
    script = EXAMPLES / "notebooks" / "by_hand.py"
    runpy.run_path(str(script))
    exec(compile(code_of(script.with_suffix(".ipynb")), "by_hand", "exec"), {})
    one, other = capsys.readouterr().out.splitlines()

    assert one == other
    assert json.loads(one)["age"] in (30, 31, 32)


def test_from_a_type_to_a_value(
    data: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By a small random model, which is mostly cut off: then the text is no value."""
    torch = pytest.importorskip("torch")
    library = pytest.importorskip("transformers")
    errors = pytest.importorskip("pydantic").ValidationError
    torch.manual_seed(0)
    end = dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"), 50256)
    config = library.GPT2Config(
        n_layer=1, n_head=2, n_embd=16, n_positions=512, vocab_size=50257, **end
    )
    library.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    file = str(data("tokenizers/gpt2/tokenizer.json"))
    library.PreTrainedTokenizerFast(tokenizer_file=file, eos_token="<|endoftext|>").save_pretrained(
        tmp_path
    )
    monkeypatch.setenv("MODEL", str(tmp_path))
    script = EXAMPLES / "notebooks" / "from_type_to_value.py"
    for run in (
        lambda: runpy.run_path(str(script)),
        lambda: exec(code_of(script.with_suffix(".ipynb")), {}),
    ):
        try:
            run()
        except errors as error:
            assert "EOF while parsing" in str(error)
        else:
            assert "name=" in capsys.readouterr().out
