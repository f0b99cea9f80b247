"""Commands that are killed: a process that has imported everything forks one for each."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from support import EXAMPLES

# Each line that it reads is a command, variables of its environment, and the seconds after which it
# is killed with all that it started (null: not at all); each that it writes is the exit code, -9 of
# one that was killed, and the seconds that the command took.
_FORKS = """
import json, os, signal, sys, time
import numpy, lark
from constrain.cli.app import application, run
import constrain.compiler.pipeline
application()
run(["compile", sys.argv[1], "-o", os.devnull, "--no-cache", "-q"])  # Imports what it needs.
for line in sys.stdin:
    arguments, variables, seconds = json.loads(line)
    begun = time.monotonic()
    child = os.fork()
    if not child:
        os.environ.update(variables)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os._exit(run(arguments))
    os.setpgid(child, child)
    if seconds is not None:
        time.sleep(max(0, begun + seconds - time.monotonic()))
        os.killpg(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(json.dumps([code, time.monotonic() - begun]), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Forks:
    """A process that runs commands in children of its own."""

    process: "subprocess.Popen[str]"

    def run(
        self, arguments: Sequence[object], seconds: float | None = None, **variables: object
    ) -> tuple[int, float]:
        """Run a command, and kill it after so many seconds.

        The exit code, -9 where it was killed, and the seconds that it took."""
        assert self.process.stdin is not None and self.process.stdout is not None
        given = [list(map(str, arguments)), {n: str(v) for n, v in variables.items()}, seconds]
        self.process.stdin.write(json.dumps(given) + "\n")
        self.process.stdin.flush()
        code, took = json.loads(self.process.stdout.readline())
        return code, took


@contextmanager
def forks() -> Iterator[Forks]:
    """A process that forks; it ends with the block."""
    command = [sys.executable, "-c", _FORKS, str(EXAMPLES / "date.ebnf")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Forks(process)
        assert process.stdin is not None
        process.stdin.close()
