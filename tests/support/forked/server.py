"""Imports the command line and forks a process for each ``client.py`` that asks for one.

Ends when its standard input does, which is when the tests that started it end.
"""

import atexit
import gc
import os
import pkgutil
import selectors
import signal
import socket
import sys
import traceback
from contextlib import suppress
from importlib import import_module

# What the rooms import of others inside functions.
LIBRARIES = ("importlib.metadata", "lark", "numpy", "regex", "rich.text")


def main() -> None:
    """Serve until the input ends."""
    # As the program itself does, before numpy is imported.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for name in LIBRARIES:
        import_module(name)
    for name in ("artifacts", "cli", "compiler"):
        folder = import_module(f"constrain.{name}").__path__
        for module in pkgutil.walk_packages(folder, f"constrain.{name}."):
            if not module.name.endswith(".__main__"):
                import_module(module.name)
    gc.freeze()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.bind(sys.argv[1])
        door.listen()
        os.write(1, b"+")
        os.dup2(2, 1)
        request = _serve(door)
    if request is not None:
        _become(*request)


def _serve(door: socket.socket) -> tuple[list[int], list[bytes]] | None:
    """Fork a process for each request. In those: their streams and words; at the end None."""
    running: dict[int, socket.socket] = {}
    awake, wakes = socket.socketpair()
    wakes.setblocking(False)
    old = signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
    before = signal.signal(signal.SIGCHLD, lambda *_: None)
    with selectors.DefaultSelector() as waiting:
        for readable in (0, door, awake):
            waiting.register(readable, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in waiting.select()}
            if awake in ready:
                awake.recv(4096)
                _end(running)
            if 0 in ready:
                return None
            if door not in ready:
                continue
            client, _ = door.accept()
            request = _request(client)
            child = os.fork()
            if not child:
                break
            for number in request[0]:
                os.close(number)
            running[child] = client
    signal.set_wakeup_fd(old)
    signal.signal(signal.SIGCHLD, before)
    for used in (awake, wakes, client, *running.values()):
        used.close()
    return request


def _request(client: socket.socket) -> tuple[list[int], list[bytes]]:
    _, streams, _, _ = socket.recv_fds(client, 1, 3)
    parts = []
    while part := client.recv(65536):
        parts.append(part)
    return streams, b"".join(parts).split(b"\0")


def _end(running: dict[int, socket.socket]) -> None:
    """Tell the clients of processes that ended how they ended."""
    for child in list(running):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            with running.pop(child) as client, suppress(OSError):
                client.send(b"%d" % os.waitstatus_to_exitcode(status))


def _become(streams: list[int], words: list[bytes]) -> None:
    """Be the program: streams, folder, variables and arguments are those of the client."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    folder, count, *rest = words
    os.chdir(folder)
    os.environb.clear()
    os.environb.update(pair.split(b"=", 1) for pair in rest[int(count) :])
    sys.argv = ["constrain", *map(os.fsdecode, rest[: int(count)])]
    from constrain.cli import __main__ as program

    code = 1
    try:
        program.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    # Taking apart what was imported takes longer than most commands; all else is as at the end of
    # an interpreter.
    atexit._run_exitfuncs()
    for output in (sys.stdout, sys.stderr):
        try:
            output.flush()
        except (OSError, ValueError):
            code = 120
    os._exit(code)


if __name__ == "__main__":
    main()
