"""Base classes of vLLM and SGLang for tests: their own, out of a wheel, or ones with their methods.

A wheel's module of base classes is run alone, beside empty modules for what it imports and does not
use. ``CONSTRAIN_HOST_WHEELS`` names a folder with the wheels.
"""

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType, SimpleNamespace
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from numpy.typing import NDArray

from constrain.compiler.serving.vllm import BACKEND_METHODS, GRAMMAR_METHODS

VARIABLE = "CONSTRAIN_HOST_WHEELS"
WHEELS = {"vllm": "vllm-0.33.0-*.whl", "sglang": "sglang-0.5.23-*.whl"}
FILES = {
    "vllm": "vllm/v1/structured_output/backend_types.py",
    "sglang": "sglang/srt/constrained/base_grammar_backend.py",
}

OPTIONS = Enum("StructuredOutputOptions", "JSON JSON_OBJECT REGEX GRAMMAR CHOICE STRUCTURAL_TAG")


class Tensor:
    """What adapters use of a tensor on a CPU."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array

    def numpy(self) -> NDArray[Any]:
        """The tensor's own memory."""
        return self.array


def _abstract(name: str, methods: frozenset[str]) -> type:
    """A base class with these abstract methods."""
    body = {method: abstractmethod(lambda self, *given: None) for method in methods}
    return type(ABC)(name, (ABC,), body)


def fake_vllm() -> Any:
    """vLLM's module of base classes, as far as adapters see it."""
    return SimpleNamespace(
        StructuredOutputGrammar=_abstract("StructuredOutputGrammar", GRAMMAR_METHODS),
        StructuredOutputBackend=_abstract("StructuredOutputBackend", BACKEND_METHODS),
        StructuredOutputOptions=OPTIONS,
    )


class _Object:
    def __init__(self) -> None:
        self.grammar_stats, self.finished = None, False


@dataclass
class _Invalid:
    error_message: str = ""
    grammar_stats: None = None


class _Backend:
    """SGLang's way from a key to a grammar: a copy of a cached one, or a future."""

    def __init__(self) -> None:
        self.cache: dict[tuple[str, str], Any] = {}

    def _init_value_dispatch(self, key: tuple[str, str], require_reasoning: bool) -> Any:
        kind = key[0].replace("full_assistant_ebnf", "ebnf")
        return getattr(self, f"dispatch_{kind}")(key[1])

    def get_cached_or_future_value(
        self, key: tuple[str, str], require_reasoning: bool
    ) -> tuple[Any, bool]:
        """The grammar, and whether it was cached."""
        if key in self.cache:
            copied = self.cache[key].copy()
            copied.maybe_init_reasoning(require_reasoning)
            return copied, True
        future: Future[Any] = Future()
        future.set_result(self._init_value_dispatch(key, require_reasoning))
        return future, False

    def set_cache(self, key: tuple[str, str], value: Any) -> None:
        """Keep a grammar."""
        self.cache[key] = value


def fake_sglang() -> Any:
    """SGLang's module of base classes, as far as adapters see it."""

    class Base(_Object):
        def maybe_init_reasoning(self, reasoning: bool) -> None:
            """Nothing, where a grammar does not think."""

    return SimpleNamespace(
        BaseGrammarObject=Base, BaseGrammarBackend=_Backend, InvalidGrammarObject=_Invalid
    )


@contextmanager
def real(host: str) -> Iterator[Any]:
    """A host's own module of base classes, out of its wheel. Skips the test where there is none."""
    pytest.importorskip("torch", reason=f"{host}'s base classes import torch, which is not there")
    folder = os.environ.get(VARIABLE)
    found = sorted(Path(folder).glob(WHEELS[host])) if folder else []
    if not found:
        pytest.skip(f"{VARIABLE} names no folder with {WHEELS[host]}")
    before = dict(sys.modules)
    serving = SimpleNamespace(reasoning_parser=None, enable_strict_thinking=False)
    empty: dict[str, dict[str, Any]] = {
        "sglang.srt.parser.reasoning_parser": {"ReasoningParser": object},
        "sglang.srt.runtime_context": {
            f"get_{name}": lambda: serving for name in ("context", "exec", "resources", "serving")
        },
        "sglang.srt.server_args": {"ServerArgs": object},
    }
    try:
        for name, contents in empty.items():
            parts = name.split(".")
            for i in range(1, len(parts) + 1):
                sys.modules.setdefault(".".join(parts[:i]), ModuleType(".".join(parts[:i])))
            vars(sys.modules[name]).update(contents)
        with TemporaryDirectory() as place:
            file = ZipFile(found[0]).extract(FILES[host], place)
            spec = spec_from_file_location(f"real_{host}", file)
            assert spec is not None
            assert spec.loader is not None
            module = module_from_spec(spec)
            sys.modules[module.__name__] = module
            spec.loader.exec_module(module)
        yield module
    finally:
        sys.modules.clear()
        sys.modules.update(before)


def masks(count: int, words: int) -> Tensor:
    """A tensor of rows in which every token is allowed."""
    return Tensor(np.full((count, words), -1, np.int32))
