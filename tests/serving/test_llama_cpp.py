"""llama-cpp-python itself, with a tiny random model and GPT-2's tokens: completions, drafts,
errors, and the script of the examples.

These tests run with --full, where the library is installed, and gguf, which writes the model.
"""

import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import EXAMPLES
from support.serving import SCHEMA

from constrain.artifacts import Artifact
from constrain.artifacts.serving import llama_cpp
from constrain.artifacts.serving.texts import ServingError
from constrain.compiler import Compiler, SchemaOptions, Tokenizer

# The host tells of errors in processors, and goes on.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

EOS, MOST, LAYER, WIDTH = 50256, 120, 64, 50304


@pytest.fixture(scope="module")
def library(full: bool) -> Any:
    """llama-cpp-python."""
    if not full:
        pytest.skip("real models run with --full")
    return pytest.importorskip("llama_cpp")


@pytest.fixture(scope="module")
def model_file(
    library: Any, data: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A GGUF file of GPT-2's architecture, random, whose logits are more than its tokens."""
    gguf = pytest.importorskip("gguf")
    path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    writer = gguf.GGUFWriter(path, "gpt2")
    writer.add_context_length(512)
    writer.add_embedding_length(LAYER)
    writer.add_feed_forward_length(LAYER)
    writer.add_block_count(1)
    writer.add_head_count(2)
    writer.add_layer_norm_eps(1e-5)
    read = json.loads(data("tokenizers/gpt2/tokenizer.json").read_bytes())
    names = {number: name for name, number in read["model"]["vocab"].items()}
    tokens = [names.get(i, f"[PAD{i}]") for i in range(WIDTH)]
    kinds = [gguf.TokenType.NORMAL] * EOS + [gguf.TokenType.CONTROL]
    kinds += [gguf.TokenType.UNUSED] * (WIDTH - len(kinds))
    merges = read["model"]["merges"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in merges])
    writer.add_bos_token_id(EOS)
    writer.add_eos_token_id(EOS)
    chance = np.random.default_rng(0)
    ones, zeros = np.ones(LAYER, np.float32), np.zeros(LAYER, np.float32)
    for name, shape in {
        "token_embd.weight": (WIDTH, LAYER),
        "position_embd.weight": (512, LAYER),
        "blk.0.attn_qkv.weight": (3 * LAYER, LAYER),
        "blk.0.attn_output.weight": (LAYER, LAYER),
        "blk.0.ffn_up.weight": (LAYER, LAYER),
        "blk.0.ffn_down.weight": (LAYER, LAYER),
        "output.weight": (WIDTH, LAYER),
    }.items():
        writer.add_tensor(name, chance.standard_normal(shape, np.float32) / 4)
    for name in ("attn_output", "ffn_up", "ffn_down"):
        writer.add_tensor(f"blk.0.{name}.bias", zeros)
    writer.add_tensor("blk.0.attn_qkv.bias", np.tile(zeros, 3))
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", ones)
        writer.add_tensor(f"{name}.bias", zeros)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(scope="module")
def artifact(gpt2: Tokenizer) -> Artifact:
    """JSON of the schema, as the tokenizer writes it."""
    return Compiler(gpt2).compile(
        json.dumps(SCHEMA), dialect="json-schema", schema=SchemaOptions(whitespace="python")
    )


def completed(model: Any, artifact: Artifact, prompt: str = "Which", **how: Any) -> str:
    """The text of a completion."""
    import llama_cpp as library

    given = {name: how.pop(name) for name in ("drafts",) if name in how}
    ids = model.tokenize(prompt.encode())
    made = llama_cpp.processor(artifact, stop_ids=[model.token_eos()], **given)
    answer = model.create_completion(
        ids, logits_processor=library.LogitsProcessorList([made]), max_tokens=MOST, **how
    )
    if made.error is not None:
        raise made.error
    assert answer["choices"][0]["finish_reason"] == "stop"
    return str(answer["choices"][0]["text"])


def is_member(text: str) -> bool:
    """By its values."""
    value = json.loads(text)
    return set(value) <= {"colour", "text"} and value["colour"] in ("red", "dark green")


def test_completions_are_members(library: Any, model_file: Path, artifact: Artifact) -> None:
    """Sampled from all allowed tokens, one completion after the other."""
    model = library.Llama(str(model_file), n_ctx=512, verbose=False)
    how = {"top_k": 0, "min_p": 0.0, "top_p": 1.0, "temperature": 1.0}
    assert model.n_vocab() == WIDTH
    texts = {
        completed(model, artifact, prompt, seed=seed, **how)
        for prompt in ("Which", "Which colour is it", "Say")
        for seed in range(8)
    }
    assert len(texts) > 6
    assert all(map(is_member, texts))


def test_drafts_change_nothing(library: Any, model_file: Path, artifact: Artifact) -> None:
    """Looked up in the prompt; the host gives ids with drafts after the place it asks about."""
    from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

    prompt = 'Which? {"colour": "red", "text": "red"} or {"colour": "dark green"} it is'
    plain = library.Llama(str(model_file), n_ctx=512, verbose=False)
    expected = completed(plain, artifact, prompt, temperature=0.0)
    assert is_member(expected)
    drafting = library.Llama(
        str(model_file),
        n_ctx=512,
        verbose=False,
        logits_all=True,
        draft_model=LlamaPromptLookupDecoding(num_pred_tokens=4),
    )
    assert completed(drafting, artifact, prompt, temperature=0.0, drafts=True) == expected
    with pytest.raises(ServingError, match="not the texts that the processor has followed"):
        completed(drafting, artifact, prompt, temperature=0.0)


def test_an_error_ends_the_text(library: Any, model_file: Path, artifact: Artifact) -> None:
    """The host goes on from errors of processors: then nothing but the end may follow."""
    model = library.Llama(str(model_file), n_ctx=512, verbose=False)
    made = llama_cpp.processor(artifact)
    processors = library.LogitsProcessorList([made])
    for prompt, expected in (("Which", None), ("Another prompt", "")):
        answer = model.create_completion(
            prompt, logits_processor=processors, max_tokens=3, temperature=0.0
        )
        assert expected in (None, answer["choices"][0]["text"])
    assert "not the texts that the processor has followed" in str(made.error)


def test_the_script_gives_a_member(
    model_file: Path,
    data: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """From its command line."""
    grammar = tmp_path / "colour.ebnf"
    grammar.write_text('s ::= "red" | "green";')
    script = EXAMPLES / "serving" / "with_llama_cpp.py"
    tokenizer = str(data("tokenizers/gpt2/tokenizer.json"))
    call = [str(script), str(model_file), tokenizer, str(grammar), "Which colour"]
    monkeypatch.setattr(sys, "argv", call)
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.strip() in ("red", "green")
