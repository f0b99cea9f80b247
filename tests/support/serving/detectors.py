"""SGLang's own readers of calls, out of its wheel, beside modules of nothing."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any
from zipfile import ZipFile

import pytest

from support.serving.bases import VARIABLE, WHEELS

FOLDER = "sglang/srt/function_call/"

# Styles of calls, and the class that reads them; of others there is none without a server.
DETECTORS: Mapping[str, tuple[str, str]] = {
    "llama3_json": ("llama32_detector", "Llama32Detector"),
    "hermes": ("hermes_detector", "HermesDetector"),
    "qwen": ("qwen25_detector", "Qwen25Detector"),
    "qwen_3_coder": ("qwen3_coder_detector", "Qwen3CoderDetector"),
    "mimo": ("mimo_detector", "MiMoDetector"),
    "glm_4_7": ("glm47_moe_detector", "Glm47MoeDetector"),
    "kimi": ("kimik2_detector", "KimiK2Detector"),
    "deepseek_r1": ("deepseekv3_detector", "DeepSeekV3Detector"),
    "deepseek_v3_1": ("deepseekv31_detector", "DeepSeekV31Detector"),
    "deepseek_v3_2": ("deepseekv32_detector", "DeepSeekV32Detector"),
    "deepseek_v4": ("deepseekv4_detector", "DeepSeekV4Detector"),
    "deepseek_v4_1": ("deepseekv41_detector", "DeepSeekV41Detector"),
    "minimax": ("minimax_m2", "MinimaxM2Detector"),
    "kimi_k3": ("kimik3_detector", "KimiK3Detector"),
}


class _Anything(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"get": staticmethod(lambda: False)})


@contextmanager
def detector_class(style: str) -> Iterator[Any]:
    """The class that reads a style. Skips the test where the wheel, or what it needs, is not."""
    for name in ("partial_json_parser", "orjson", "msgspec"):
        pytest.importorskip(name, reason=f"SGLang's readers need {name}, which is not there")
    folder = os.environ.get(VARIABLE)
    found = sorted(Path(folder).glob(WHEELS["sglang"])) if folder else []
    if not found:
        pytest.skip(f"{VARIABLE} names no folder with {WHEELS['sglang']}")
    before = dict(sys.modules)
    try:
        with TemporaryDirectory() as place, ZipFile(found[0]) as wheel:
            wheel.extractall(place, [n for n in wheel.namelist() if n.startswith(FOLDER)])
            for name in (
                "sglang",
                "sglang.srt",
                "sglang.srt.environ",
                "sglang.srt.entrypoints",
                "sglang.srt.entrypoints.openai",
                "sglang.srt.entrypoints.openai.protocol",
            ):
                sys.modules[name] = module = _Anything(name)
                module.__path__ = [str(Path(place, *name.split(".")))]
            sys.modules["sglang.srt.environ"].envs = _Anything("envs")  # type: ignore[attr-defined]
            module, name = DETECTORS[style]
            yield getattr(import_module(f"{FOLDER.replace('/', '.')}{module}"), name)
    finally:
        for name in [each for each in sys.modules if each.partition(".")[0] == "sglang"]:
            del sys.modules[name]
        sys.modules.update(before)
