"""Processes of the command line that are forked from one which has imported it.

Most of what a short command takes is starting Python and importing; a forked process begins after
that. It is a process of its own all the same, with the streams, the folder and the variables that
it was started with, and it ends as the interpreter ends. Where starting is what is tested, or what
the interpreter itself reads, processes are started as users start them (``support.python``).
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from pathlib import Path

_HERE = Path(__file__).parent

# What the interpreter reads before anything of a forked process runs.
_OF_INTERPRETER = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_")

_servers: list[tuple[subprocess.Popen[bytes], Path]] = []

# Commands may be run by several threads at once.
_starting = threading.Lock()


def program(variables: Iterable[str] = ()) -> list[str]:
    """The words that start the command line; ``variables``: those that it gets in addition."""
    asks_interpreter = any(name.startswith(_OF_INTERPRETER) for name in variables)
    if asks_interpreter or not hasattr(os, "fork"):
        return [sys.executable, "-m", "constrain.cli"]
    return [sys.executable, "-I", "-S", str(_HERE / "client.py"), str(_server())]


def stop() -> None:
    """End the process that others are forked from, if there is one."""
    while _servers:
        server, folder = _servers.pop()
        assert server.stdin is not None
        server.stdin.close()
        server.wait()
        shutil.rmtree(folder)


def _server() -> Path:
    """The socket of the process that others are forked from, which is started once."""
    with _starting:
        if not _servers:
            # Names of sockets are short: no folder of a test would do.
            folder = Path(tempfile.mkdtemp())
            command = [sys.executable, str(_HERE / "server.py"), str(folder / "s")]
            server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            _servers.append((server, folder))
            assert server.stdout is not None
            assert server.stdout.read(1) == b"+"
            server.stdout.close()
        return _servers[0][1] / "s"
