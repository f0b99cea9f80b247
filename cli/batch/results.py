"""What became of jobs: progress while they are done, and the report."""

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from constrain.artifacts.errors import visible

from .. import console
from ..quoting import escaped, octets_of

if TYPE_CHECKING:
    from constrain.compiler import JobResult

SCHEMA = 1

# Seconds between two lines about the progress, where no bar is shown.
_BETWEEN_LINES = 15.0


# How the report is written.
Format = Literal["text", "json", "jsonl"]


class Results:
    """Results as they come, of ``total`` jobs. ``shown``: tokenizers as the command line names
    them. ``stream``: a line of JSON for each goes there at once."""

    def __init__(
        self,
        total: int,
        shown: "dict[str | None, str | None]",
        stream: Callable[[str], None] | None,
    ) -> None:
        self.found: list[JobResult] = []
        self._total, self._shown, self._stream = total, shown, stream
        self._begun = self._told = time.monotonic()
        self._worked = 0

    def add(self, result: "JobResult") -> None:
        """A result: an error is told, and how far the work is."""
        own = replace(result, tokenizer=self._shown.get(result.tokenizer, result.tokenizer))
        self.found.append(own)
        if own.error is not None:
            console.error(_message(own))
        if self._stream is not None:
            self._stream(as_line(own))
        self._worked += own.status != "present"
        self._tell()

    def ordered(self, results: "Sequence[JobResult]") -> None:
        """Let the results be in the order of the jobs, not in that in which they came."""
        self.found = [
            replace(each, tokenizer=self._shown.get(each.tokenizer, each.tokenizer))
            for each in results
        ]

    def count(self, status: str) -> int:
        """How many have a status."""
        return sum(each.status == status for each in self.found)

    @property
    def seconds(self) -> float:
        """Since the first job began."""
        return time.monotonic() - self._begun

    def _tell(self) -> None:
        done, rest = len(self.found), self._total - len(self.found)
        speed = self._worked / max(self.seconds, 1e-3)
        pace = f"{speed:,.1f}/s" if speed >= 1 else f"{60 * speed:,.1f}/min"
        left = f", about {_duration(rest / speed)} left" if speed and rest else ""
        console.progress(f"{done:,} of {self._total:,}, {pace}{left}", done, self._total)
        now = time.monotonic()
        if now - self._told > _BETWEEN_LINES and not console.is_terminal(sys.stderr):
            self._told = now
            failed = self.count("failed")
            console.status(f"{done:,} of {self._total:,} done, {failed:,} failed; {pace}{left}")

    def as_text(self) -> str:
        """A line each: status, key, bytes, name and tokenizer."""
        return "".join(
            f"{each.status:8}  {each.key or '-':64}  {_number(each.bytes):>12}  "
            f"{'  '.join(_line(n) for n in (each.name, each.tokenizer) if n is not None)}\n"
            for each in self.found
        )

    def as_json(self, store: str) -> str:
        """One object, with the counts."""
        counts = {name: self.count(name) for name in ("compiled", "present", "failed")}
        jobs = [each.to_json() for each in self.found]
        whole = {"schema": SCHEMA, "store": store, **counts, "seconds": round(self.seconds, 3)}
        return json.dumps({**whole, "jobs": jobs}) + "\n"

    def as_lines(self) -> str:
        """An object each."""
        return "".join(map(as_line, self.found))

    def summary(self) -> str:
        """All in one line."""
        total, seconds = len(self.found), self.seconds
        said = ", ".join(f"{self.count(s):,} {s}" for s in ("compiled", "present", "failed"))
        size = sum(each.bytes or 0 for each in self.found)
        return f"{total:,} job{'s' * (total != 1)}: {said}; {size:,} bytes in {seconds:.1f} s"


def as_line(result: "JobResult") -> str:
    """A result as a line of JSON."""
    return json.dumps({"schema": SCHEMA, **result.to_json()}) + "\n"


def _message(result: "JobResult") -> str:
    assert result.error is not None
    message, name = result.error.message, visible(result.name)
    if not message.startswith(f"{name}:"):
        message = f"{name}: {message}"
    of = f"\n  = for the tokenizer {visible(result.tokenizer)}" if result.tokenizer else ""
    return f"{message}{of}"


def _line(text: str) -> str:
    return escaped(octets_of(text)).replace("\\\\", "\\").replace("\\t", "\t")


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
