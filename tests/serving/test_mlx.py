"""MLX-LM itself, with tiny random models and GPT-2's tokens: single texts, batches, drafts, and the
script of the examples.

These tests run with --full, where the library is installed.
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
from constrain.artifacts.serving import mlx
from constrain.compiler import Compiler, Tokenizer

WIDTH, EOS, MOST = 50304, 50256, 120


@pytest.fixture(scope="module")
def library(full: bool) -> Any:
    """MLX-LM."""
    if not full:
        pytest.skip("real models run with --full")
    return pytest.importorskip("mlx_lm")


@pytest.fixture(scope="module")
def folder(
    library: Any, data: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A model's files, whose logits are more than its tokens."""
    import mlx.core as mx
    from mlx.utils import tree_flatten

    folder = tmp_path_factory.mktemp("model")
    config = {
        "model_type": "llama",
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "intermediate_size": 64,
        "num_attention_heads": 2,
        "rms_norm_eps": 1e-5,
        "vocab_size": WIDTH,
        "eos_token_id": EOS,
        "tie_word_embeddings": False,
    }
    (folder / "config.json").write_text(json.dumps(config))
    mx.random.seed(0)
    mx.save_safetensors(
        str(folder / "model.safetensors"), dict(tree_flatten(model_of(config).parameters()))
    )
    tokenizer = data("tokenizers/gpt2/tokenizer.json").read_bytes()
    (folder / "tokenizer.json").write_bytes(tokenizer)
    names = {"tokenizer_class": "GPT2TokenizerFast", "eos_token": "<|endoftext|>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(names))
    return folder


def model_of(config: dict[str, Any]) -> Any:
    """Of random weights."""
    from mlx_lm.models import llama

    known = {name: value for name, value in config.items() if name != "eos_token_id"}
    return llama.Model(llama.ModelArgs(**known))


@pytest.fixture(scope="module")
def loaded(library: Any, folder: Path) -> tuple[Any, Any]:
    """The model and its tokenizer."""
    return library.load(str(folder))


@pytest.fixture(scope="module")
def artifact(gpt2: Tokenizer) -> Artifact:
    """JSON of the schema, as the tokenizer writes it."""
    return Compiler(gpt2).compile(json.dumps(SCHEMA), dialect="json-schema")


def is_member(text: str) -> bool:
    """By its values."""
    value = json.loads(text)
    return set(value) <= {"colour", "text"} and value["colour"] in ("red", "dark green")


def nudge(begin: int) -> Callable[[Any, Any], Any]:
    """After so many tokens texts end where they may."""
    import mlx.core as mx

    bias = np.zeros(WIDTH, np.float32)
    bias[[EOS, 92, 1]] = 50, 40, 45

    def closing(tokens: Any, logits: Any) -> Any:
        return logits + mx.array(bias) if len(tokens) > begin else logits

    return closing


@pytest.mark.sampled("seed", [0], range(10))
def test_texts_are_members(loaded: tuple[Any, Any], artifact: Artifact, seed: int) -> None:
    """Sampled, and encoded as the tokenizer does."""
    import mlx.core as mx
    from mlx_lm.generate import generate_step
    from mlx_lm.sample_utils import make_sampler

    model, tokenizer = loaded
    mx.random.seed(seed)
    prompt = mx.array([464, 11, 464])
    steps = generate_step(
        prompt,
        model,
        max_tokens=MOST,
        sampler=make_sampler(temp=1.0),
        logits_processors=[nudge(40), mlx.processor(artifact, stop_ids=[EOS])],
    )
    ids = [int(token) for token, _ in steps]
    assert EOS in ids
    text = tokenizer.decode(ids[: ids.index(EOS)])
    assert is_member(text)
    assert tokenizer.encode(text, add_special_tokens=False) == ids[: ids.index(EOS)]


def test_texts_of_a_batch_have_a_processor_each(
    loaded: tuple[Any, Any], artifact: Artifact
) -> None:
    """Prompts of different lengths, whose texts end at different times."""
    from mlx_lm.generate import BatchGenerator

    model, tokenizer = loaded
    prompts = [[464], [464, 11, 464, 11], [11, 464], [464]]
    running = BatchGenerator(model, stop_tokens=[[EOS]])
    processors = [
        [nudge(len(prompt) + 10 * i), mlx.processor(artifact)] for i, prompt in enumerate(prompts)
    ]
    numbers = running.insert(prompts, [MOST] * 4, logits_processors=processors)
    texts: dict[int, list[int]] = {number: [] for number in numbers}
    while responses := running.next_generated():
        for each in responses:
            if each.finish_reason != "stop":
                texts[each.uid].append(each.token)
    running.close()
    assert len({len(ids) for ids in texts.values()}) > 1
    assert all(is_member(tokenizer.decode(ids)) for ids in texts.values())


def test_drafts_change_nothing(loaded: tuple[Any, Any], artifact: Artifact, folder: Path) -> None:
    """Of another model; the host calls for each drafted place, and again after what it took."""
    import mlx.core as mx
    from mlx_lm.generate import generate_step, speculative_generate_step

    model, _ = loaded
    mx.random.seed(1)
    draft = model_of(json.loads((folder / "config.json").read_text()))
    prompt = mx.array([464, 11, 464])
    plain = generate_step(
        prompt, model, max_tokens=60, logits_processors=[nudge(40), mlx.processor(artifact)]
    )
    expected = [int(token) for token, _ in plain]
    for count in (1, 2, 4):
        # The host counts the last token of a prompt alone, and those that follow.
        steps = speculative_generate_step(
            prompt,
            model,
            draft,
            num_draft_tokens=count,
            max_tokens=60,
            logits_processors=[nudge(38), mlx.processor(artifact)],
        )
        assert [int(token) for token, *_ in steps] == expected
    assert artifact.matcher().accept(expected) > 5


def test_the_script_gives_a_member(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """From its command line."""
    schema = tmp_path / "schema.json"
    schema.write_text('{"enum": ["red", "green"]}')
    script = EXAMPLES / "serving" / "with_mlx.py"
    monkeypatch.setattr(sys, "argv", [str(script), str(folder), str(schema), "Which colour"])
    runpy.run_path(str(script), run_name="__main__")
    assert json.loads(capsys.readouterr().out) in ("red", "green")
