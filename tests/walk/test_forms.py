"""The two forms of the walk: each by its name, and the compiled one if it is of this source."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

from constrain.artifacts import walk
from constrain.artifacts.walk import forms
from constrain.artifacts.walk.kernel import SOURCE, Kernel

pytestmark = pytest.mark.quick

NAME = "constrain.artifacts.walk.compiled_kernel"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the compiled form is looked for first, and was not looked for yet."""
    monkeypatch.setattr(walk, "__path__", [str(tmp_path), *walk.__path__])
    # Both are as they were after the test.
    monkeypatch.setitem(sys.modules, NAME, sys)
    monkeypatch.setattr(walk, "compiled_kernel", None, raising=False)
    monkeypatch.delitem(sys.modules, NAME)
    monkeypatch.setattr(forms, "kernel", forms.kernel.__wrapped__)
    return tmp_path


def test_each_form_has_a_name(form: str) -> None:
    """Both can be used in one process; the one that runs is the one that was asked for."""
    module = import_module({"python": "constrain.artifacts.walk.kernel", "compiled": NAME}[form])

    assert forms.kernel() is module.Kernel
    assert forms.kernel().__module__ == module.__name__
    assert (module.Kernel is Kernel) == (form == "python")
    assert {"python": "", "compiled": forms.source_hash()}[form] == module.SOURCE


def test_the_hash_is_that_of_the_sources() -> None:
    """The place for it is in the source once, and empty."""
    source = Path(walk.__file__).with_name("kernel.py").read_text(encoding="utf-8")

    assert SOURCE == ""
    assert source.count('SOURCE = ""') == 1
    assert re.fullmatch(r"[0-9a-f]{64}", forms.source_hash())


def test_a_form_of_another_source_is_not_used(folder: Path) -> None:
    """It is not even imported; one of this source is."""
    made = folder / "compiled_kernel.py"
    made.write_text(f"SOURCE = '{'0' * 64}'\nKernel = SOURCE\n")
    assert not forms.is_compiled()
    assert forms.kernel() is Kernel
    assert NAME not in sys.modules

    made.write_text(f"SOURCE = '{forms.source_hash()}'\nKernel = SOURCE\n")
    assert forms.is_compiled()
    assert forms.kernel() == forms.source_hash()


def test_a_form_for_another_system_is_not_used(folder: Path) -> None:
    """Nor one that is damaged."""
    made = folder / "compiled_kernel.py"
    made.write_text(f"# {forms.source_hash()}\nraise ImportError('wrong ELF class')\n")

    assert forms.is_compiled()
    assert forms.kernel() is Kernel


def test_without_the_sources_the_compiled_form_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As in a program of one file: nothing tells of what it was made."""
    monkeypatch.setattr(forms, "__file__", str(tmp_path / "forms.py"))

    assert not forms.is_compiled()
