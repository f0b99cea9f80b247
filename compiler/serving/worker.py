"""The program of a compiling process: a job a line on standard input, an outcome a line on output.

    python -m constrain.compiler.serving.worker TOKENIZER NICENESS

The first outcome says that the tokenizer is loaded, or why not. The process ends when its input
does, whatever it is doing, so it does not outlive the server that started it.
"""

import os
import signal
import sys
import threading
import traceback
import warnings
from dataclasses import fields
from queue import SimpleQueue
from typing import BinaryIO

from constrain.artifacts.errors import ConstrainError

from ..compiler import Compiler
from ..diagnostics import LimitError, WeakerMasksWarning
from ..tokenizers import load_tokenizer
from .jobs import Job, Outcome

# The exit code of what is no fault of the grammar.
_DEFECT = 70


def main() -> None:
    """Load the tokenizer that the command line names, then compile until the input ends."""
    # A Ctrl-C in the terminal is the server's to handle.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    name, niceness = sys.argv[1], int(sys.argv[2])
    if hasattr(os, "nice"):
        os.nice(niceness)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # What libraries print is no outcome.
    warnings.simplefilter("ignore", WeakerMasksWarning)
    try:
        compiler = Compiler(load_tokenizer(name))
    except ConstrainError as error:
        _answer(answers, Outcome(str(error), error.exit_code))
        return
    _answer(answers, Outcome())
    lines: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_read, args=(lines,), daemon=True).start()
    while True:
        _answer(answers, _compiled(compiler, Job.of_line(lines.get())))


def _read(lines: "SimpleQueue[bytes]") -> None:
    """Pass on the lines of the input, and end the process with it."""
    for line in sys.stdin.buffer:
        lines.put(line)
    os._exit(0)


def _compiled(compiler: Compiler, job: Job) -> Outcome:
    try:
        wanted = {field.name: getattr(job.options, field.name) for field in fields(job.options)}
        compiler.compile(job.text, name=job.name, **wanted).save(job.path)
    except ConstrainError as error:
        # The request is not at fault for what its server's tokenizer takes.
        is_ours = isinstance(error, LimitError) and error.is_of_tables
        return Outcome(str(error), _DEFECT if is_ours else error.exit_code)
    except (OSError, MemoryError) as error:
        return Outcome(f"{type(error).__name__}: {error}", _DEFECT)
    except Exception as error:
        # Whatever it is, the server's other requests go on; the traceback is in its log.
        traceback.print_exc()
        return Outcome(f"internal error: {type(error).__name__}: {error}", _DEFECT)
    return Outcome()


def _answer(stream: BinaryIO, outcome: Outcome) -> None:
    stream.write(outcome.to_line())
    stream.flush()


if __name__ == "__main__":
    main()
