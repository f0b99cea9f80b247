"""Drawings as files: what Graphviz renders, and what happens without it."""

import os
import re
import sys
from pathlib import Path

import pytest
from support.drawing import needs_dot, svg_texts

from constrain.compiler.diagnostics import LimitError
from constrain.compiler.drawing import DrawingError, MissingDotError, View, draw_dfa, render
from constrain.compiler.frontend import Automaton
from constrain.compiler.limits import Limits

pytestmark = pytest.mark.quick


@needs_dot
@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_rendering_depends_on_nothing_else(
    suffix: str, date_automaton: Automaton, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two renders to two places in two time zones are the same bytes, without a date."""
    drawing = draw_dfa(date_automaton.dfa.tables(), View("date"))
    first = render(drawing, tmp_path / f"one{suffix}").read_bytes()
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    (tmp_path / "folder").mkdir()
    second = render(drawing, tmp_path / "folder" / f"two{suffix.upper()}").read_bytes()
    assert first == second
    dates = re.findall(rb"CreationDate \(D:(\d{4})", first)
    assert dates in ([], [b"1970"])


@needs_dot
def test_svg_shows_title_states_and_labels(date_automaton: Automaton, tmp_path: Path) -> None:
    """The picture has what the DOT text says."""
    texts = svg_texts(
        render(draw_dfa(date_automaton.dfa.tables(), View("date")), tmp_path / "t.svg")
    )
    assert {"DFA of date", "start", "1", "14", "0–9", "1–9"} <= set(texts)


@pytest.mark.parametrize("suffix", [".dot", ".gv"])
def test_dot_text_needs_no_graphviz(
    suffix: str, date_automaton: Automaton, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DOT files are written as they are, even where ``dot`` is missing."""
    monkeypatch.setenv("PATH", str(tmp_path))
    drawing = draw_dfa(date_automaton.dfa.tables(), View("date"))
    path = render(drawing, tmp_path / f"t{suffix}")
    assert path.read_text(encoding="utf-8") == drawing.dot


def test_without_dot_the_text_is_written_instead(
    date_automaton: Automaton, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says what is missing, how to get it, and where the DOT text is."""
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    drawing = draw_dfa(date_automaton.dfa.tables(), View("date"))
    with pytest.raises(MissingDotError) as caught:
        render(drawing, tmp_path / "t.svg")
    written = tmp_path / "t.dot"
    assert written.read_text(encoding="utf-8") == drawing.dot
    assert not (tmp_path / "t.svg").exists()
    for part in ("'dot'", "apt install graphviz", "brew", "choco", str(written)):
        assert part in str(caught.value)


def test_unknown_suffixes_are_refused(date_automaton: Automaton, tmp_path: Path) -> None:
    """The message lists the known ones, and nothing is written."""
    for name in ("t.jpeg", "t"):
        with pytest.raises(DrawingError, match=re.escape(".dot, .gv, .pdf, .png, .svg")):
            render(draw_dfa(date_automaton.dfa.tables(), View("date")), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell what a child takes")
@pytest.mark.parametrize(
    ("script", "limits", "limit"),
    [
        ("while :; do :; done", Limits(seconds=0.2), "seconds"),
        ("exec yes", Limits(memory=1_000_000), "memory"),
        ("exec yes >&2", Limits(memory=20_000_000), "memory"),
        (f"exec {sys.executable} -c 'a = [0] * 90_000_000'", Limits(memory=90_000_000), "memory"),
    ],
    ids=["runs on", "writes on", "complains on", "grows"],
)
def test_dot_has_limits(
    script: str,
    limits: Limits,
    limit: str,
    date_automaton: Automaton,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the library, too: it is ended, nothing is written, and the limit is named."""
    program = tmp_path / "dot"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    drawing = draw_dfa(date_automaton.dfa.tables(), View("date"))
    with pytest.raises(LimitError, match="Graphviz's dot needs more than") as caught:
        render(drawing, tmp_path / "t.svg", limits)
    assert limit == caught.value.limit
    assert not (tmp_path / "t.svg").exists()


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for dot is a shell script")
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 'no such plugin' >&2; echo more >&2; exit 3", "no such plugin"),
        ("kill -SEGV $$", "code -11"),
    ],
)
def test_a_failing_dot_is_reported(
    script: str,
    reason: str,
    date_automaton: Automaton,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first line of what Graphviz says, or how it ended if it says nothing."""
    program = tmp_path / "dot"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(DrawingError, match=reason) as caught:
        render(draw_dfa(date_automaton.dfa.tables(), View("date")), tmp_path / "t.svg")
    assert "more" not in str(caught.value)
    assert not (tmp_path / "t.svg").exists()
