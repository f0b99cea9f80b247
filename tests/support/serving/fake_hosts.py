"""Modules of hosts as far as the scripts of ``examples/serving`` call them, over a random model."""

import json
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from constrain.artifacts.serving import transformers
from constrain.compiler import Tokenizer

from . import fake_modules


class FakeTokenizer:
    """What hosts hold: of the embedded default tokenizer."""

    def __init__(self, path: Path, tokenizer: Tokenizer) -> None:
        self.path, self.own = path, tokenizer
        self.eos_token_id = tokenizer.eos[0]
        self.eos_token_ids = {self.eos_token_id}
        added = json.loads(path.read_bytes())["added_tokens"]
        (self.eos_token,) = (a["content"] for a in added if a["id"] == self.eos_token_id)
        self.backend_tokenizer = SimpleNamespace(to_str=lambda: path.read_text(encoding="utf-8"))

    def encode(self, text: str) -> list[int]:
        """The ids of a prompt."""
        return list(self.own.encode(text))

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """The text of an answer."""
        assert skip_special_tokens
        kept = [int(i) for i in ids if int(i) != self.eos_token_id]
        return b"".join(self.own.tokens[i] for i in kept).decode()

    def __call__(self, texts: list[str], return_tensors: str) -> dict[str, NDArray[np.int64]]:
        assert return_tensors == "pt"
        return {"input_ids": np.array([self.encode(text) for text in texts])}


class FakeModel:
    """Random logits, some more than there are tokens."""

    def __init__(self, tokenizer: FakeTokenizer) -> None:
        self.tokenizer = tokenizer
        self.width = tokenizer.own.vocab_size + 5
        self.chance = np.random.default_rng(0)

    def logits(self, count: int) -> NDArray[np.float32]:
        """(count, width)."""
        return self.chance.standard_normal((count, self.width), np.float32)

    def answer(self, prompt: list[int], process: Any, most: int = 50) -> list[int]:
        """After a prompt, to its end."""
        text: list[int] = []
        while len(text) < most and self.tokenizer.eos_token_id not in text:
            text.append(int(np.argmax(process([*prompt, *text], self.logits(1)[0]))))
        return text

    def generate(self, input_ids: Any, logits_processor: list[Any], **how: Any) -> Any:
        """As Transformers do."""
        assert how.keys() >= {"max_new_tokens", "num_return_sequences", "do_sample"}
        rows = np.repeat(input_ids, how["num_return_sequences"], axis=0)
        end, begin = self.tokenizer.eos_token_id, rows.shape[1]
        for _ in range(how["max_new_tokens"]):
            scores = self.logits(len(rows))
            for each in logits_processor:
                scores = each(rows, scores)
            ended = (rows[:, begin:] == end).any(axis=1)
            chosen = np.where(ended, end, scores.argmax(axis=1))
            rows = np.concatenate([rows, chosen[:, np.newaxis]], axis=1)
        return rows


def fake_hosts(patch: pytest.MonkeyPatch, path: Path, tokenizer: Tokenizer) -> None:
    """Put the modules where the scripts import them."""
    fake_modules(patch)
    held = FakeTokenizer(path, tokenizer)
    model = FakeModel(held)

    def pretrained(made: Any) -> Any:
        return SimpleNamespace(from_pretrained=lambda name: made)

    import sys

    sys.modules["transformers"].AutoTokenizer = pretrained(held)  # type: ignore[attr-defined]
    sys.modules["transformers"].AutoModelForCausalLM = pretrained(model)  # type: ignore[attr-defined]
    transformers._subclass.cache_clear()
    for module in (_llama_cpp(model), _mlx_lm(model), _tensorrt_llm(model)):
        patch.setitem(sys.modules, module.__name__, module)


def _llama_cpp(model: FakeModel) -> ModuleType:
    class Llama:
        def __init__(self, model_path: str, n_ctx: int, verbose: bool) -> None:
            assert model_path

        def n_vocab(self) -> int:
            return model.width

        def tokenize(self, text: bytes) -> list[int]:
            return model.tokenizer.encode(text.decode())

        def token_eos(self) -> int:
            return model.tokenizer.eos_token_id

        def create_completion(self, prompt: list[int], logits_processor: Any, **how: Any) -> Any:
            def process(ids: list[int], logits: Any) -> Any:
                for each in logits_processor:
                    logits = each(np.array(ids, np.intc), logits)
                return logits

            text = model.tokenizer.decode(model.answer(prompt, process))
            return {"choices": [{"text": text}]}

    return _module("llama_cpp", Llama=Llama, LogitsProcessorList=list)


def _mlx_lm(model: FakeModel) -> ModuleType:
    def generate(of: Any, tokenizer: Any, prompt: list[int], **how: Any) -> str:
        def process(ids: list[int], logits: Any) -> Any:
            for each in how["logits_processors"]:
                logits = each(np.array(ids), logits[np.newaxis])[0]
            return logits

        return model.tokenizer.decode(model.answer(prompt, process))

    return _module("mlx_lm", generate=generate, load=lambda name: (model, model.tokenizer))


def _tensorrt_llm(model: FakeModel) -> ModuleType:
    class LLM:
        def __init__(self, model: str) -> None:
            assert model

        def generate(self, prompts: list[str], parameters: Any) -> list[Any]:
            return [self.answered(number, text, parameters) for number, text in enumerate(prompts)]

        def answered(self, number: int, prompt: str, parameters: Any) -> Any:
            def process(ids: list[int], logits: Any) -> Any:
                found = logits[np.newaxis, np.newaxis]
                parameters.logits_processor(number, found, [ids], None, None)
                return found[0, 0]

            ids = model.answer(model.tokenizer.encode(prompt), process)
            text = model.tokenizer.decode(ids)
            return SimpleNamespace(outputs=[SimpleNamespace(text=text)])

    return _module("tensorrt_llm", LLM=LLM, SamplingParams=SimpleNamespace)


def _module(name: str, **names: Any) -> ModuleType:
    found = ModuleType(name)
    vars(found).update(names)
    return found
