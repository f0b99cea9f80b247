"""Schemas with tests in files, and what engines make of them.

A file holds a schema with its tests, {"schema": …, "tests": [{"data": …, "valid": true}]}, or an
array of those, as in the JSON-Schema-Test-Suite.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from constrain.artifacts.errors import ConstrainError
from constrain.compiler import Tokenizer

from .others import OpenedReader, Reader
from .request import Request

# What an engine says of a schema that it does not read.
UNREAD = (ValueError, ConstrainError, RuntimeError)


@dataclass(frozen=True)
class Case:
    """A schema's text, and texts of instances with whether they are valid."""

    name: str
    schema: str
    tests: list[tuple[str, bool]]


@dataclass
class Verdicts:
    """What one engine makes of all cases.

    ``read``: schemas that it takes, ``clean``: of which it decides all tests. ``refused``: valid
    instances that it does not let through, ``taken``: others that it does. ``wrong``: names of
    cases with such. ``first``: milliseconds to each first mask, ``masks``: microseconds of all.
    """

    read: int = 0
    clean: int = 0
    refused: int = 0
    taken: int = 0
    wrong: list[str] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    masks: list[float] = field(default_factory=list)


def cases_in(folder: Path) -> Iterator[Case]:
    """All cases of the files below a folder, by path."""
    for path in sorted(folder.rglob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        listed = found if isinstance(found, list) else [found]
        for number, each in enumerate(listed):
            if not isinstance(each, dict) or not each.keys() >= {"schema", "tests"}:
                continue
            name = path.relative_to(folder).as_posix() + f"/{number}" * (len(listed) > 1)
            tests = [(_written(test["data"]), bool(test["valid"])) for test in each["tests"]]
            yield Case(name, json.dumps(each["schema"]), tests)


def _written(instance: Any) -> str:
    text = json.dumps(instance, ensure_ascii=False)
    # A lone surrogate has no UTF-8.
    return json.dumps(instance) if any("\ud800" <= char <= "\udfff" for char in text) else text


def verdicts(cases: list[Case], opened: OpenedReader, tokenizer: Tokenizer) -> Verdicts:
    """What an engine makes of the cases; each schema is compiled once."""
    found = Verdicts()
    for case in cases:
        request = Request(case.name, "json-schema", "", (), case.schema)
        begin = time.process_time()
        try:
            reader = opened(request)
            reader.fill()
        except UNREAD:
            continue
        found.first.append((time.process_time() - begin) * 1e3)
        found.read += 1
        is_clean = True
        for text, is_valid in case.tests:
            is_taken = _takes(reader.again(), _tokens(text, tokenizer), found.masks)
            found.refused += is_valid and not is_taken
            found.taken += is_taken and not is_valid
            is_clean &= is_taken == is_valid
        found.clean += is_clean
        if not is_clean:
            found.wrong.append(case.name)
    return found


def _tokens(text: str, tokenizer: Tokenizer) -> list[int]:
    """The tokens of a text; single bytes where the tokenizer would write it otherwise, as one that
    composes characters does."""
    found = tokenizer.encode(text)
    data = text.encode("utf-8")
    if b"".join(tokenizer.tokens[token] for token in found) == data:
        return found
    of_byte = {octets: token for token, octets in tokenizer.tokens.items() if len(octets) == 1}
    return [of_byte[bytes([octet])] for octet in data]


def _takes(session: Reader, tokens: list[int], masks: list[float]) -> bool:
    for token in tokens:
        begin = time.perf_counter()
        session.fill()
        masks.append((time.perf_counter() - begin) * 1e6)
        if not session.accept(token):
            return False
    return session.ends()


def table(found: dict[str, Verdicts], cases: int) -> str:
    """A line for each engine."""
    lines = [
        f"{'of ' + format(cases, ',') + ' schemas':16}{'read':>7}{'clean':>7}{'valid refused':>15}"
        f"{'invalid taken':>15}{'first mask, ms, p50 / p90 / p99':>36}"
        f"{'mask, µs, p50 / p99 / most':>34}"
    ]
    for name, each in found.items():
        first = " / ".join(f"{t:,.1f}" for t in np.percentile(each.first or [0], [50, 90, 99]))
        masks = " / ".join(f"{t:,.1f}" for t in np.percentile(each.masks or [0], [50, 99, 100]))
        lines.append(
            f"{name:16}{each.read:7}{each.clean:7}{each.refused:15}{each.taken:15}{first:>36}"
            f"{masks:>34}"
        )
    return "\n".join(lines) + "\n"
