"""Artifacts that nobody uses go at once, and the files under their arrays with them."""

import gc
from pathlib import Path

import pytest
from support.fuzzing.samples import samples

from constrain.artifacts import load
from constrain.artifacts.tokens import tokenset


def _in_circles() -> set[str]:
    """The types of this project's objects that the collector alone finds."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    gc.set_debug(0)
    kinds = [type(each) for each in gc.garbage]
    gc.garbage.clear()
    gc.collect()
    return {kind.__qualname__ for kind in kinds if kind.__module__.startswith("constrain.")}


def _use(path: Path) -> None:
    artifact = load(path)
    matcher = artifact.matcher()
    for _ in range(4):
        ids = tokenset.to_ids(matcher.mask()).tolist()
        allowed = [token for token in ids if artifact.vocabulary.is_text(token)]
        if not allowed:
            break
        matcher.advance(allowed[0])
    matcher.mask()


def test_no_machine_holds_itself(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Of the machines of each kind, after masks and steps: one would keep its file open until
    Python looks for circles, which it does when it likes."""
    path, held = tmp_path / "a.cst", dict[str, set[str]]()
    originals = samples(tmp_path_factory.mktemp("tokenizers"))
    gc.collect()
    # What is there already is looked through no more.
    gc.freeze()
    gc.disable()
    try:
        for name, artifact in originals.items():
            artifact.save(path)
            _use(path)
            if kept := _in_circles():
                held[name] = kept
    finally:
        gc.enable()

    assert held == {}
