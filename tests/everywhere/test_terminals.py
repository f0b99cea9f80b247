"""Whatever a command is given, a terminal is sent the program's own escape sequences alone."""

import io
import os
import random
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import pytest
from support.cli import Leaf, leaves
from support.fuzzing.lines import EVIL, FORGED, NAME, RAW, Lines, pool_of

from constrain.cli.app import COMMANDS, run
from constrain.cli.everywhere import bar

if sys.platform != "win32":
    import pty
    import tty

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pty")

# What the program itself sends: colours, and what shows and clears a progress bar. The colour in
# the text above is none of these.
OWN = re.compile(r"\x1b\[(?!35;5m)[0-9;]*m|\x1b\[\?25[lh]|\r?\x1b\[(?:2K|1A)")
# Of CPU, after which a command is not tried again: some start processes.
_SECONDS, _SECONDS_IN_FULL = 0.3, 40.0


@dataclass(frozen=True, slots=True)
class Sent:
    """What a command line ended with, and what the terminals were sent; empty for a pipe."""

    code: int
    out: bytes
    err: bytes

    @property
    def flaw(self) -> str:
        """What a terminal was sent that is not the program's own; empty if nothing was."""
        if self.code not in (0, 1, 2, 3):
            return f"exit code {self.code}"
        for stream in (self.out, self.err):
            text = OWN.sub("", stream.decode("utf-8"))
            if found := RAW.search(text) or FORGED.search(text):
                return repr(text[max(found.start() - 200, 0) : found.end() + 200])
        return ""


@contextmanager
def _terminal() -> Iterator[tuple[TextIO, bytearray]]:
    """A stream that is a terminal, and what it is sent: complete when the context ends."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)  # Else the terminal's own driver makes "\r\n" of each "\n".
    sent = bytearray()

    def read() -> None:
        try:
            while part := os.read(ours, 1 << 16):
                sent.extend(part)
        except OSError:
            pass  # As the end of a terminal is told on Linux.

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        with open(theirs, "w", encoding="utf-8", errors="backslashreplace") as stream:  # noqa: PTH123
            yield stream, sent
    finally:
        reader.join(10)
        os.close(ours)


def at_terminal(*arguments: str, out: bool = True, err: bool = True) -> Sent:
    """Run a command line with terminals as streams, or files (``out``, ``err``)."""
    kept = sys.stdin, sys.stdout, sys.stderr
    with _terminal() as (one, written), _terminal() as (other, said), open(os.devnull, "w") as null:  # noqa: PTH123
        sys.stdin = io.TextIOWrapper(io.BytesIO(EVIL.encode()), "utf-8")
        sys.stdout, sys.stderr = one if out else null, other if err else null
        try:
            code = run(list(arguments))
        finally:
            sys.stdin, sys.stdout, sys.stderr = kept
    return Sent(code, bytes(written), bytes(said))


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The hostile files, in a folder of a hostile name."""
    return pool_of(tmp_path_factory.mktemp("all") / f"f{NAME}")


def test_all_commands_are_tried() -> None:
    """Those of the table, by their names."""
    assert {leaf.words[0] for leaf in leaves()} == {*COMMANDS}


@pytest.mark.parametrize("leaf", leaves(), ids=lambda leaf: " ".join(leaf.words))
def test_a_terminal_is_sent_our_own_sequences_alone(
    leaf: Leaf,
    pool: dict[str, list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    full: bool,
) -> None:
    """With any files and options; on both streams, and on either where the other is a pipe."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bar, "_AFTER", 0.0)
    monkeypatch.setenv("CONSTRAIN_CACHE_DIR", pool["cache"][0])
    rng = random.Random(" ".join(leaf.words))
    lines = Lines(rng, pool)
    begun = sum(os.times()[:4])
    for number in range(300 if full else 4):
        if number and sum(os.times()[:4]) - begun > (_SECONDS if not full else _SECONDS_IN_FULL):
            break
        line = lines.of(leaf)
        out, err = ((True, True), (True, True), (True, False), (False, True))[number % 4]
        sent = at_terminal(*line, out=out, err=err)
        assert not sent.flaw, (line, sent.code, sent.flaw)
