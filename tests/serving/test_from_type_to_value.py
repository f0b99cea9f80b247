"""The documented program from a type to a value, run with a model of random weights."""

import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from support import ROOT

import constrain.compiler.tokenizers.load as embedded

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

pytestmark = pytest.mark.quick


def test_the_program_from_a_type_to_a_value_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is printed; only what is downloaded is made here."""
    text = (ROOT / "compiler" / "serving" / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"    from pydantic(?:\n|.)*?validate_json.*\n", text)
    program = dedent(block)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(Path(embedded.default_path())), eos_token="<|endoftext|>"
    )
    tokenizer.pad_token = tokenizer.eos_token
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        n_layer=1,
        n_head=2,
        n_embd=16,
        n_positions=512,
        vocab_size=len(tokenizer),
        **dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"), tokenizer.eos_token_id),
    )
    model = transformers.GPT2LMHeadModel(config).eval()
    for owner, made in (("AutoTokenizer", tokenizer), ("AutoModelForCausalLM", model)):
        monkeypatch.setattr(getattr(transformers, owner), "from_pretrained", lambda _, m=made: m)
    names: dict[str, Any] = {"__name__": "readme"}
    exec(compile(program, "README.md", "exec"), names)

    assert isinstance(names["person"], names["Person"])
    assert 0 <= names["person"].age <= 150
