"""What each call of a matcher takes, beside the same call of other engines, in one run.

    python benchmarks/calls.py TOKENIZER.json [--rounds 20] [--forced]

Microseconds of CPU along a document of any JSON, whose masks were met before: the median and the
99th percentile over the places of the document. ``fill_many`` is of 64 matchers in different
places, beside one copy of as many rows.

``--forced``: instead, how many tokens of 200 instances of five JSON Schemas a model need not
choose, as forced drafts have them (``serving.drafts``), 16 at a time; white space as ``json.dumps``
writes it and others, canonical masks and any, where drafts spell the bytes that are forced.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import workloads.schemas
from workloads.instances import schemas
from workloads.others import others
from workloads.request import Request

from constrain.artifacts import Artifact, fill_many
from constrain.artifacts.serving.drafts import Drafts
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Compiler, SchemaOptions, Tokenizer, load_tokenizer

_DRAFTS = 5

# Forced tokens that a model checks in one step.
_DRAFTED = 16

# A call: done at a place of the document, and what takes it back.
Call = tuple[Callable[[list[int]], object], Callable[[], object]]


def nothing() -> None:
    """What takes back a call that does not move."""


def ours(request: Request, tokenizer: Tokenizer) -> tuple[Any, dict[str, Call]]:
    """A matcher, and its calls; each is given the tokens that come next."""
    compiler = Compiler(tokenizer)
    artifact = compiler.compile(request.grammar, dialect=request.dialect, tokenization="any")
    matcher = artifact.matcher()
    words = tokenset.word_count(tokenizer.vocab_size)
    row, rows = np.zeros(words, np.int32), np.zeros((_DRAFTS + 1, words), np.int32)
    back = matcher.rollback

    def trial(ids: list[int]) -> object:
        matcher.accept(ids[:1])
        return back(1)

    return matcher, {
        "fill": (lambda ids: matcher.fill(row), nothing),
        "accept, one": (lambda ids: matcher.accept(ids[:1]), lambda: back(1)),
        f"accept, {_DRAFTS}": (matcher.accept, lambda: back(_DRAFTS)),
        f"validate, {_DRAFTS}": (matcher.validate, nothing),
        "accept and rollback": (trial, nothing),
        "fork": (lambda ids: matcher.fork(), nothing),
        "is_accepting": (lambda ids: matcher.is_accepting, nothing),
        "forced_tokens": (lambda ids: matcher.forced_tokens(), nothing),
        "forced_bytes": (lambda ids: matcher.forced_bytes(), nothing),
        f"fill_window, {_DRAFTS}": (lambda ids: matcher.fill_window(rows, ids), nothing),
        "seek, one token on": (
            lambda ids, m=matcher: m.seek([*m.taken, *ids[:1]]),
            lambda: back(1),
        ),
    }


def guidance(session: Any) -> tuple[Any, dict[str, Call]]:
    """llguidance's."""
    matcher, back = session.matcher, session.matcher.rollback

    def trial(ids: list[int]) -> object:
        matcher.consume_token(ids[0])
        return back(1)

    return matcher.consume_token, {
        "fill": (lambda ids: session.fill(), nothing),
        "accept, one": (lambda ids: matcher.try_consume_tokens(ids[:1]), lambda: back(1)),
        f"accept, {_DRAFTS}": (matcher.try_consume_tokens, lambda: back(_DRAFTS)),
        f"validate, {_DRAFTS}": (matcher.validate_tokens, nothing),
        "accept and rollback": (trial, nothing),
        "fork": (lambda ids: matcher.deep_copy(), nothing),
        "is_accepting": (lambda ids: matcher.is_accepting(), nothing),
        "forced_tokens": (lambda ids: matcher.compute_ff_tokens(), nothing),
        "forced_bytes": (lambda ids: matcher.compute_ff_bytes(), nothing),
    }


def xgrammar(session: Any) -> tuple[Any, dict[str, Call]]:
    """xgrammar's."""
    matcher, back = session.matcher, session.matcher.rollback

    def trial(ids: list[int]) -> object:
        matcher.accept_token(ids[0])
        return back(1)

    return matcher.accept_token, {
        "fill": (lambda ids: session.fill(), nothing),
        "accept, one": (lambda ids: matcher.accept_token(ids[0]), lambda: back(1)),
        "accept and rollback": (trial, nothing),
        "fork": (lambda ids: matcher.fork(), nothing),
        "is_accepting": (lambda ids: matcher.is_completed(), nothing),
        "forced_bytes": (lambda ids: matcher.find_jump_forward_string(), nothing),
    }


def along(document: list[int], step: Callable[[int], object], call: Call, rounds: int) -> list[int]:
    """Nanoseconds of a call at the places of a document, the least of so many rounds each."""
    found = []
    do, back = call
    for place in range(len(document) - _DRAFTS):
        best, ids = 1 << 60, document[place : place + _DRAFTS]
        for _ in range(rounds):
            begin = time.perf_counter_ns()
            do(ids)
            best = min(best, time.perf_counter_ns() - begin)
            back()
        found.append(best)
        step(document[place])
    return found


def many(matcher: Any, document: list[int], count: int, rounds: int) -> tuple[float, float]:
    """Microseconds of ``fill_many``, and of one copy of as many rows; the least of the rounds."""
    matchers = []
    for i in range(count):
        other = matcher.fork()
        other.reset()
        other.accept(document[: i * (len(document) - 1) // count])
        matchers.append(other)
    rows = np.zeros((count, len(matcher.mask())), np.int32)
    source = np.ones_like(rows)
    best = [1 << 60, 1 << 60]
    for _ in range(rounds * 10):
        begin = time.perf_counter_ns()
        fill_many(matchers, rows)
        best[0] = min(best[0], time.perf_counter_ns() - begin)
        begin = time.perf_counter_ns()
        rows[...] = source
        best[1] = min(best[1], time.perf_counter_ns() - begin)
    return best[0] / 1e3, best[1] / 1e3


# How instances are written under each option of white space.
_WRITTEN: dict[str, dict[str, Any]] = {
    "python": {},
    "compact": {"separators": (",", ":")},
    "one": {},
    "flexible": {},
}


def forced(tokenizer: Tokenizer, count: int = 40) -> None:
    """Print how many tokens of so many instances of each schema are taken as drafts."""
    compiler = Compiler(tokenizer)
    names = "".join(f"{name:>26}" for name in _WRITTEN)
    for tokenization in ("canonical", "any"):
        sys.stdout.write(f"{f'drafts, {tokenization}':22}{names}\n")
        total = dict.fromkeys(_WRITTEN, (0, 0))
        for name, schema, instance in schemas():
            sys.stdout.write(f"{name:22}")
            for whitespace, written in _WRITTEN.items():
                artifact = compiler.compile(
                    json.dumps(schema),
                    dialect="json-schema",
                    schema=SchemaOptions(whitespace=whitespace),
                    tokenization=tokenization,
                )
                chance, found, tokens = random.Random(name), 0, 0
                for _ in range(count):
                    text = json.dumps(instance(chance), ensure_ascii=False, **written)
                    ids = tokenizer.encode(text)
                    found += drafted(artifact, tokenizer, ids)
                    tokens += len(ids)
                sys.stdout.write(share(found, tokens))
                total[whitespace] = total[whitespace][0] + found, total[whitespace][1] + tokens
            sys.stdout.write("\n")
            sys.stdout.flush()
        sys.stdout.write(f"{'all':22}" + "".join(share(*each) for each in total.values()) + "\n")


def drafted(artifact: Artifact, tokenizer: Tokenizer, ids: list[int]) -> int:
    """How many tokens of a text are drafts that are taken; the model chooses one after them."""
    drafts, matcher, steps = Drafts(artifact.vocabulary, tokenizer.encode), artifact.matcher(), 0
    while matcher.position < len(ids):
        rest = ids[matcher.position :]
        same = zip(drafts.after(matcher, _DRAFTED), rest, strict=False)
        matcher.accept(rest[: sum(takewhile(bool, (a == b for a, b in same))) + 1])
        steps += 1
    assert matcher.is_accepting
    return len(ids) - steps


def share(part: int, whole: int) -> str:
    """A column."""
    text = f"{part:,} of {whole:,}, {100 * part / whole:.0f}%"
    return f"{text:>26}"


def main() -> None:
    """Print a line for each call, or for each schema."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--forced", action="store_true")
    wanted = parser.parse_args()
    tokenizer = load_tokenizer(wanted.tokenizer)
    if wanted.forced:
        forced(tokenizer)
        return
    request = workloads.schemas.requests()[0]
    document = tokenizer.encode(max(request.documents, key=len))[:400]
    matcher, calls = ours(request, tokenizer)
    engines = {"constrain": (calls, matcher.advance, matcher.reset)}
    for name, opened in others(tokenizer, wanted.tokenizer):
        with suppress(ValueError):
            session = opened(request)
            step, theirs = (guidance if name == "llguidance" else xgrammar)(session)
            engines[name] = theirs, step, session.matcher.reset
    sys.stdout.write(f"{'µs, p50 / p99':22}" + "".join(f"{name:>18}" for name in engines) + "\n")
    for call in calls:
        sys.stdout.write(f"{call:22}")
        for theirs, step, reset in engines.values():
            if call not in theirs:
                sys.stdout.write(f"{'-':>18}")
                continue
            reset()
            found = np.array(along(document, step, theirs[call], wanted.rounds)) / 1e3
            text = f"{np.median(found):.2f} / {np.percentile(found, 99):.2f}"
            sys.stdout.write(f"{text:>18}")
        sys.stdout.write("\n")
    matcher.reset()
    filled, copied = many(matcher, document, 64, wanted.rounds)
    sys.stdout.write(f"fill_many, 64: {filled:.0f} µs; one copy of 64 rows: {copied:.0f} µs\n")


if __name__ == "__main__":
    main()
