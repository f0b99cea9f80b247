"""Runs one engine along the tokens of texts: a request on standard input, what was found on
standard output, both one JSON object.

    {"engine", "grammar", "notation", "tokens", "special", "eos", "vocab_size", "artifact", "texts",
     "runs", "begun", "seconds"}

``tokens``: the bytes of each as Latin-1 text, empty for no token. ``notation``: ``gbnf``,
``lark``, ``regex`` or ``json-schema``. ``artifact``: a file of ours. ``texts``: ids. ``begun``:
the time at which it was started, of ``time.time``; ``seconds``: what takes longer is read in part.
What is found:

    {"version", "tokenizer_seconds", "compile_seconds", "load_seconds", "first_mask_seconds",
     "memory", "texts": [{"masks", "masks_again", "steps", "steps_again", "digests", "counts",
     "refused", "accepts"}]}, or {"error"}

Times of masks and steps are microseconds, one for each token and a mask at the end, medians of the
runs; ``…_again``: where the engine has read the text before. ``refused``: the number of the token
that was refused, or null. ``accepts``: whether the text may end, null where it was not read so far.
"""

import gc
import importlib.metadata
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..limits import resident_bytes

# Distributions of the engines.
LLGUIDANCE, XGRAMMAR, CONSTRAIN = "llguidance", "xgrammar", "constrain"

T = TypeVar("T")

# Shares of the time: of what is left when an engine has been made, for the runs; and of all, until
# masks are compared no more.
_RUNNING, _COMPARING = 0.6, 0.8

# Microseconds of masks and of steps.
_Times: TypeAlias = tuple[list[float], list[float]]


class UnreadableError(Exception):
    """The engine does not read the grammar."""


class Session(NamedTuple):
    """A text in the making. ``fill``: computes the mask of now into the engine's buffer.
    ``accept``: takes a token, false where it is refused. ``may_end``: whether the text may end
    here, once the mask has been computed."""

    fill: Callable[[], object]
    accept: Callable[[int], object]
    may_end: Callable[[], object]


class Engine(NamedTuple):
    """An engine that has compiled a grammar. ``session``: the beginning of a text."""

    buffer: NDArray[np.uint32]
    session: Callable[[], Session]


# What compiles the grammar of a request, of an engine that knows the tokens.
_Make: TypeAlias = Callable[[], Engine]


def main() -> None:
    """Read the request, run it, write what was found."""
    request = json.load(sys.stdin)
    # What an engine prints goes elsewhere.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        found = run(request)
    except UnreadableError as error:
        found = {"error": str(error)}
    json.dump(found, out)
    out.flush()
    # Some engines crash when their objects are taken down.
    os._exit(0)


def run(request: dict[str, Any]) -> dict[str, Any]:
    """What ``main`` writes. Raises ``UnreadableError``."""
    name = request["engine"]
    # The time that it took to begin counts.
    started = time.monotonic() - (time.time() - request["begun"])
    prepare = _MAKERS[name]()
    before = resident_bytes()
    begin = time.perf_counter()
    make = prepare(request)
    prepared = time.perf_counter() - begin
    engine, first = _timed(make)
    _, first_mask = _timed(engine.session().fill)
    # Along the texts an engine that has met none.
    del engine
    left = request["seconds"] - (time.monotonic() - started)
    deadline = time.monotonic() + left * _RUNNING
    engine, again, texts = _runs(make, request["texts"], request["runs"], deadline)
    memory = max(0, resident_bytes() - before)
    deadline = started + request["seconds"] * _COMPARING
    for text, ids in zip(texts, request["texts"], strict=True):
        text |= _masks_of(engine, ids, request["vocab_size"], request["eos"], deadline)
    is_own = name == CONSTRAIN
    return {
        "version": "" if is_own else _version(name),
        "tokenizer_seconds": None if is_own else prepared,
        "load_seconds" if is_own else "compile_seconds": [first, again],
        "first_mask_seconds": first_mask,
        "memory": memory,
        "texts": texts,
    }


def _version(name: str) -> str:
    """Of an engine, empty if it does not say."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _timed(call: Callable[[], T]) -> tuple[T, float]:
    begin = time.perf_counter()
    found = call()
    return found, time.perf_counter() - begin


def _runs(
    make: Callable[[], Engine], texts: list[list[int]], runs: int, deadline: float
) -> tuple[Engine, float, list[dict[str, Any]]]:
    """The last engine, the seconds that making the first one took, and times along each text:
    medians of all runs that end before the deadline, of which there is at least a part of one. In a
    run a new engine reads all texts, which fills its caches, and then again."""
    found: list[tuple[list[_Times], list[_Times]]] = []
    for run in range(runs):
        gc.collect()
        engine, seconds = _timed(make)
        if not run:
            again = seconds
        gc.disable()
        first = [_once(engine.session(), ids, deadline) for ids in texts]
        second = [_once(engine.session(), ids, deadline) for ids in texts]
        gc.enable()
        is_over = time.monotonic() > deadline
        if not run or not is_over:
            found.append((first, second))
        if is_over:
            break
    return engine, again, [_medians_of(found, text) for text in range(len(texts))]


def _medians_of(
    found: "list[tuple[list[_Times], list[_Times]]]", text: int
) -> dict[str, list[float]]:
    """Along one text."""
    return {
        f"{name}{again}": _medians([run[half][text][kind] for run in found])
        for half, again in enumerate(("", "_again"))
        for kind, name in enumerate(("masks", "steps"))
    }


def _once(session: Session, ids: list[int], deadline: float) -> tuple[list[float], list[float]]:
    """Microseconds of masks and steps up to the end, to the token that is refused, or to the
    deadline."""
    now, clock = time.perf_counter_ns, time.monotonic
    masks, steps = list[float](), list[float]()
    for token_id in ids:
        if clock() > deadline:
            return masks, steps
        begin = now()
        session.fill()
        between = now()
        taken = session.accept(token_id)
        end = now()
        masks.append((between - begin) / 1000)
        steps.append((end - between) / 1000)
        if not taken:
            return masks, steps
    begin = now()
    session.fill()
    masks.append((now() - begin) / 1000)
    return masks, steps


def _medians(runs: list[list[float]]) -> list[float]:
    return [statistics.median(each) for each in zip(*runs, strict=False)]


def _masks_of(
    engine: Engine, ids: list[int], vocab_size: int, eos: list[int], deadline: float
) -> dict[str, Any]:
    """A digest of each mask, and how many tokens it holds, up to the deadline."""
    session, digests, counts = engine.session(), list[str](), list[int]()
    refused: int | None = None
    accepts: bool | None = None
    for number in range(len(ids) + 1):
        if time.monotonic() > deadline:
            break
        session.fill()
        digest, count = digest_of(engine.buffer, vocab_size)
        digests.append(digest)
        counts.append(count)
        if number == len(ids):
            ends = [engine.buffer[i >> 5] >> np.uint32(i & 31) & np.uint32(1) for i in eos]
            accepts = any(map(bool, ends)) or bool(session.may_end())
        elif not session.accept(ids[number]):
            refused = number
            break
    return {"digests": digests, "counts": counts, "refused": refused, "accepts": accepts}


def digest_of(words: NDArray[np.uint32], vocab_size: int) -> tuple[str, int]:
    """A digest of a mask, uint32 (n,), and how many tokens it holds; what is after the vocabulary
    does not count."""
    flags = np.unpackbits(words.view(np.uint8), bitorder="little")[:vocab_size]
    return sha256(flags.tobytes()).hexdigest()[:16], int(flags.sum())


# --- the engines


def _constrain() -> Callable[[dict[str, Any]], _Make]:
    """The artifact of a file."""
    from constrain.artifacts.read import load

    def prepared(request: dict[str, Any]) -> _Make:
        return lambda: opened(load(request["artifact"]), _buffer(request))

    def opened(artifact: Any, buffer: NDArray[np.uint32]) -> Engine:
        def session() -> Session:
            matcher = artifact.matcher()
            return Session(
                partial(matcher.fill, buffer),
                lambda token_id: matcher.accept((token_id,)),
                lambda: matcher.is_accepting,
            )

        return Engine(buffer, session)

    return prepared


def _guidance() -> Callable[[dict[str, Any]], _Make]:
    """llguidance, over the same tokens."""
    import llguidance

    library: Any = llguidance

    def prepared(request: dict[str, Any]) -> _Make:
        wrapper = library.TokenizerWrapper(_Tokens(request))
        theirs = library.LLTokenizer(wrapper, n_vocab=request["vocab_size"])
        make = {
            "json-schema": library.LLMatcher.grammar_from_json_schema,
            "lark": library.LLMatcher.grammar_from_lark,
            "regex": library.LLMatcher.grammar_from_regex,
        }[request["notation"]]

        def compiled() -> Engine:
            first = library.LLMatcher(theirs, make(request["grammar"]), log_level=0)
            if first.is_error():
                raise UnreadableError(first.get_error())
            buffer = _buffer(request)
            place = buffer.ctypes.data, buffer.nbytes

            def session() -> Session:
                matcher = first.deep_copy()
                fill = partial(matcher.unsafe_compute_mask_ptr, *place)
                return Session(fill, matcher.consume_token, matcher.is_accepting)

            return Engine(buffer, session)

        return compiled

    return prepared


class _Tokens:
    """A tokenizer as llguidance wants one: the bytes of the tokens. It is never asked to encode but
    for texts of its own, which the longest tokens spell."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.tokens = [token.encode("latin-1") for token in request["tokens"]]
        self.special_token_ids = request["special"]
        self.eos_token_id, self.bos_token_id = request["eos"][0], None
        special = set(self.special_token_ids)
        self._ids = {t: i for i, t in enumerate(self.tokens) if t and i not in special}
        self._longest = max(map(len, self._ids))

    def __call__(self, text: str | bytes) -> list[int]:
        octets, found, place = text.encode() if isinstance(text, str) else text, [], 0
        while place < len(octets):
            for length in range(min(self._longest, len(octets) - place), 0, -1):
                if (token_id := self._ids.get(octets[place : place + length])) is not None:
                    found.append(token_id)
                    break
            else:
                length = 1
            place += length
        return found


def _xgrammar() -> Callable[[dict[str, Any]], _Make]:
    """xgrammar, over the same tokens; special ones have no text."""
    import xgrammar as library

    def prepared(request: dict[str, Any]) -> _Make:
        size, special = request["vocab_size"], {*request["special"], *request["eos"]}
        spelled = [
            b"" if i in special else token.encode("latin-1")
            for i, token in enumerate(request["tokens"])
        ]
        info = library.TokenizerInfo(spelled, vocab_size=size, stop_token_ids=request["eos"])

        def compiled() -> Engine:
            compiler = library.GrammarCompiler(info, cache_enabled=False)
            try:
                if request["notation"] == "json-schema":
                    found = compiler.compile_json_schema(request["grammar"], strict_mode=False)
                else:
                    found = compiler.compile_grammar(request["grammar"])
            except (RuntimeError, ValueError) as error:
                raise UnreadableError(str(error)) from None
            buffer = _buffer(request)
            rows = buffer.view(np.int32)[np.newaxis]

            def session() -> Session:
                matcher = library.GrammarMatcher(found)

                def fill() -> None:
                    if not matcher.fill_next_token_bitmask(rows):
                        # It says so where all tokens are allowed.
                        buffer[:] = np.uint32(0xFFFFFFFF)

                return Session(fill, matcher.accept_token, lambda: False)

            return Engine(buffer, session)

        return compiled

    return prepared


def _buffer(request: dict[str, Any]) -> NDArray[np.uint32]:
    return np.zeros((request["vocab_size"] + 31) // 32, dtype=np.uint32)


# Each loads its library; then it prepares what depends on the tokens alone.
_MAKERS = {CONSTRAIN: _constrain, LLGUIDANCE: _guidance, XGRAMMAR: _xgrammar}


if __name__ == "__main__":
    main()
