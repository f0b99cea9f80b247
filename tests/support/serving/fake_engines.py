"""vLLM and SGLang as far as the scripts of ``examples/serving`` call them: a random model after
the real backends, over base classes like theirs."""

import json
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from constrain.artifacts.tokens import tokenset
from constrain.compiler import load_tokenizer
from constrain.compiler.serving import sglang, vllm
from constrain.compiler.tokenizers import default_path

from .bases import fake_sglang, fake_vllm, masks

WIDTH = load_tokenizer().vocab_size + 40


def fake_engines(patch: pytest.MonkeyPatch) -> None:
    """Put the modules where the scripts import them."""
    import sys

    params = ModuleType("vllm.sampling_params")
    params.StructuredOutputsParams = SimpleNamespace  # type: ignore[attr-defined]
    package = ModuleType("vllm")
    vars(package).update(LLM=_LLM, SamplingParams=SimpleNamespace, sampling_params=params)
    other = ModuleType("sglang")
    other.Engine = _Engine  # type: ignore[attr-defined]
    for module in (package, params, other):
        patch.setitem(sys.modules, module.__name__, module)
    patch.setenv("CONSTRAIN_VLLM", "1")  # The script sets it, and this takes it back.


def _answer(fill: Any, take: Any, is_over: Any, seed: int) -> str:
    """What a random model writes under masks."""
    tokenizer, rng = load_tokenizer(), np.random.default_rng(seed)
    row, text = masks(1, (WIDTH + 31) // 32), b""
    while not is_over():
        fill(row, 0)
        token = int(rng.choice(tokenset.to_ids(row.array[0].view(np.uint32))))
        take(token)
        if not is_over():
            text += tokenizer.tokens[token]
    return text.decode("utf-8")


class _LLM:
    def __init__(self, model: str) -> None:
        self.types = fake_vllm()
        self.backend = vllm.backend_class(self.types)(None, default_path(), WIDTH)

    def generate(self, prompts: list[str], parameters: Any) -> list[Any]:
        found = [self.answered(parameters, seed) for seed in range(len(prompts))]
        self.backend.destroy()
        return found

    def answered(self, parameters: Any, seed: int) -> Any:
        schema = parameters.structured_outputs.json
        options = self.types.StructuredOutputOptions
        grammar = self.backend.compile_grammar(options.JSON, schema, {7})
        text = _answer(
            grammar.fill_bitmask,
            lambda token: grammar.accept_tokens("", [token]),
            grammar.is_terminated,
            seed,
        )
        return SimpleNamespace(outputs=[SimpleNamespace(text=text)])


class _Engine:
    def __init__(self, model_path: str, grammar_backend: str) -> None:
        assert grammar_backend == sglang.NAME
        self.backend = sglang.backend_class(fake_sglang())(default_path(), {7})

    def generate(self, prompts: list[str], parameters: dict[str, Any]) -> list[dict[str, str]]:
        assert parameters.keys() == {"max_new_tokens", "json_schema"}
        assert json.loads(parameters["json_schema"])
        grammar = self.backend.dispatch_json(parameters["json_schema"])
        found = []
        for seed in range(len(prompts)):
            own = grammar.copy()
            text = _answer(own.fill_vocab_mask, own.accept_token, own.is_terminated, seed)
            found.append({"text": text})
        return found

    def shutdown(self) -> None:
        self.backend._service.close()
