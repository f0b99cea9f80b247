"""The program of a compiling process: jobs on standard input, an outcome a line on output.

    python -m constrain.compiler.serving.worker TOKENIZER NICENESS

The first outcome says that the tokenizer is loaded, or why not. The process ends when its input
does, whatever it is doing, so it does not outlive the server that started it.
"""

import json
import os
import signal
import sys
import threading
import traceback
import warnings
from dataclasses import fields
from errno import EDQUOT, ENOSPC
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO

from constrain.artifacts.errors import ConstrainError

from ..compiler import Compiler
from ..diagnostics import LimitError, WeakerMasksWarning
from ..tokenizers import load_tokenizer
from .artifact_key import TokenizerKey, artifact_key, tokenizer_key
from .folder import path_in, put
from .jobs import FULL, Job, Outcome
from .requests import RequestError, request_of

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
        tokenizer = load_tokenizer(name)
        compiler, known = Compiler(tokenizer), tokenizer_key(tokenizer)
    except ConstrainError as error:
        _answer(answers, Outcome(str(error), error.exit_code))
        return
    _answer(answers, Outcome())
    jobs: SimpleQueue[Job] = SimpleQueue()
    threading.Thread(target=_read, args=(jobs,), daemon=True).start()
    while True:
        _answer(answers, _compiled(compiler, known, jobs.get()))


def _read(jobs: "SimpleQueue[Job]") -> None:
    """Pass on the jobs of the input, and end the process with it, whatever becomes of one."""
    try:
        while line := sys.stdin.buffer.readline():
            jobs.put(Job.read(line, sys.stdin.buffer))
    finally:
        os._exit(0)


def _compiled(compiler: Compiler, tokenizer: TokenizerKey, job: Job) -> Outcome:
    try:
        text, options, name, root = job.text, job.options, job.name, Path(job.root)
        if job.how is not None:
            request = request_of(_read_json(job.body), options=options, **job.how)
            if request is None:
                return Outcome()
            text, options, name = request.text, request.options, request.name
        key = job.key or artifact_key(text, options, tokenizer)
        if job.how is not None and (job.only_key or path_in(root, key).is_file()):
            return Outcome(key=key)
        wanted = {field.name: getattr(options, field.name) for field in fields(options)}
        artifact = compiler.compile_whole(text, name=name, **wanted)
        return Outcome(key=key, size=put(artifact, key, root, Path(job.own)))
    except ConstrainError as error:
        # The request is not at fault for what its server's tokenizer takes.
        is_ours = isinstance(error, LimitError) and error.is_of_tables
        return Outcome(str(error), _DEFECT if is_ours else error.exit_code)
    except (OSError, MemoryError) as error:
        # Paths are for the server's log.
        traceback.print_exc()
        why = error.strerror if isinstance(error, OSError) else error
        is_full = isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT)
        return Outcome(f"{type(error).__name__}: {why}", FULL if is_full else _DEFECT)
    except Exception as error:
        # Whatever it is, the server's other requests go on; the traceback is in its log.
        traceback.print_exc()
        return Outcome(f"internal error: {type(error).__name__}: {error}", _DEFECT)


def _read_json(octets: bytes) -> Any:
    try:
        return json.loads(octets.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise RequestError("", f"this is no JSON: {error}") from None


def _answer(stream: BinaryIO, outcome: Outcome) -> None:
    stream.write(outcome.to_line())
    stream.flush()


if __name__ == "__main__":
    main()
