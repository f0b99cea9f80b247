"""Command lines inside the process, for tests."""

import pytest

from constrain.cli.app import run

Captured = pytest.CaptureFixture[bytes]


def called(captured: Captured, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command line."""
    captured.readouterr()
    code = run(list(arguments))
    out, err = captured.readouterr()
    return code, out.decode(), err.decode()
