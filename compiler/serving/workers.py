"""Compiling processes: each has one job at a time, and whatever happens to it is that job's alone.

A process is started when a job first needs it and serves until the pool is closed. It speaks lines
of JSON (``jobs``) through pipes, so the program that starts it needs no guard for imports, and what
comes back is data. One that dies, or that does not end long after its job's limit of time, fails
its job; the next job has a new one.
"""

import subprocess
import sys
import threading
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Event

from ..children import ChildClock
from .jobs import Job, Outcome

# Seconds beyond a job's own limits before its process is ended: a step may look at the clock late.
# They are of the processor, as the limits are, for a process that stands back may wait for one.
_GRACE = 20.0

# Seconds that a process has for loading its tokenizer.
_START = 120.0

# Seconds between two looks at what a process has taken.
_BETWEEN = 1.0

# Seconds of the processor that a job may take which nobody waits for any more: to start another
# process takes about as long, and clients that leave must not cost others that.
_SPARED = 1.0

# Exit codes of a job whose process ended, and of one that had no time of the processor.
UNAVAILABLE, STARVED = 70, 75


class Workers:
    """``count`` compiling processes for one tokenizer, by a name that ``load_tokenizer`` takes.

    ``niceness``: how far they stand back after the server's own threads, on POSIX.
    """

    def __init__(self, tokenizer: str, count: int, niceness: int = 10) -> None:
        self._command = (tokenizer, str(niceness))
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="constrain-compile")
        self._own = threading.local()
        self._all: set[_Process] = set()
        self._lock = threading.Lock()
        self._closed = False

    def submit(self, job: Job, unwanted: Event) -> "Future[Outcome]":
        """The job's outcome; once it is ``unwanted`` it is not begun, and ends before it takes
        long. Raises ``RuntimeError`` when the pool is closed."""
        return self._threads.submit(self._done, job, unwanted)

    def close(self) -> None:
        """End all processes at once; jobs that are not done have a failure as their outcome."""
        with self._lock:
            self._closed = True
            running = list(self._all)
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in running:
            process.end()
        self._threads.shutdown(wait=True)

    def _done(self, job: Job, unwanted: Event) -> Outcome:
        if unwanted.is_set():
            return Outcome("nobody waits for this any more", UNAVAILABLE)
        process = getattr(self._own, "process", None)
        if process is None or process.has_ended:
            # Between two jobs: that is no fault of this one.
            process = self._in_place_of(process)
        outcome = process.outcome(job, unwanted)
        if process.is_over and not self._closed:
            # At once, so that it is there for the next job; if it cannot be, that one says so.
            with suppress(OSError):
                self._in_place_of(process)
        return outcome

    def _in_place_of(self, ended: "_Process | None") -> "_Process":
        """A new process of this thread."""
        if ended is not None:
            self._own.process = None
            with self._lock:
                self._all.discard(ended)
            ended.end()
        process = self._own.process = _Process(self._command)
        with self._lock:
            closed = self._closed
            self._all.add(process)
        if closed:
            process.end()
        return process


class _Process:
    """One process and the pipes to it."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self._running = subprocess.Popen(
            [sys.executable, "-m", "constrain.compiler.serving.worker", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.is_over = False
        self._is_ready = False

    def outcome(self, job: Job, unwanted: Event) -> Outcome:
        """What becomes of a job; afterwards ``is_over`` says whether the process is of no use."""
        if not self._is_ready:
            started = self._answer_to((), _START, Event())
            if started.exit_code:
                self.is_over = True
                return started
            self._is_ready = True
        limits = job.options.limits
        seconds = limits.seconds + limits.table_seconds + _GRACE
        return self._answer_to(job.written(), seconds, unwanted)

    @property
    def has_ended(self) -> bool:
        """Whether the process is there no more."""
        return self._running.poll() is not None

    def end(self) -> None:
        """End the process, whatever it is doing, and what is left of it; whoever waits for its
        answer has none."""
        self._running.kill()
        self._running.wait()
        for pipe in (self._running.stdin, self._running.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _answer_to(self, pieces: Iterable[bytes], seconds: float, unwanted: Event) -> Outcome:
        """The next outcome, which says so if the process ends, or has to be ended, before."""
        stdin, stdout = self._running.stdin, self._running.stdout
        assert stdin is not None
        assert stdout is not None
        late, done, starved = Event(), Event(), Event()

        def watch() -> None:
            clock = ChildClock(self._running.pid, seconds)
            while not done.wait(min(max(clock.left(), 0.0), _BETWEEN)):
                left = clock.left()
                if left <= 0:
                    late.set()
                    if clock.is_idle():
                        starved.set()
                if left <= 0 or (unwanted.is_set() and seconds - left > _SPARED):
                    self._running.kill()
                    return

        threading.Thread(target=watch, daemon=True).start()
        try:
            for piece in pieces:
                stdin.write(piece)
            stdin.flush()
            answer = stdout.readline()
        except (OSError, ValueError):
            answer = b""  # The pipe is closed: the process has ended, or the pool was closed.
        finally:
            done.set()
        if answer.endswith(b"\n"):
            return Outcome.of_line(answer)
        self.is_over = True
        status = self._running.wait()
        how = f"by signal {-status}" if status < 0 else f"with status {status}"
        message = f"the compiling process ended {how} before the job was done"
        if starved.is_set():
            return Outcome("the machine is too busy to compile; try again later", STARVED)
        if late.is_set():
            message += f", for it took more than {seconds:g} seconds of CPU time"
        return Outcome(message, UNAVAILABLE)
