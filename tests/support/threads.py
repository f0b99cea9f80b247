"""Threads that share an artifact, each with matchers of its own, against one thread alone."""

import json
import random
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from constrain.artifacts import Artifact, Matcher
from constrain.artifacts.tokens import tokenset

THREADS = 8

# Between two bytecodes of one thread others may run as often as the interpreter lets them.
SWITCH_SECONDS = 10e-6


@dataclass(frozen=True)
class Walk:
    """Tokens behind a prompt, and before each of them, and behind the last, what a mask is."""

    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    masks: tuple[bytes, ...]


def json_value(rng: random.Random, depth: int) -> object:
    """A random JSON value, seldom met before."""
    kind = rng.randrange(7 if depth < 7 else 4)
    if kind == 0:
        return rng.choice([True, None, rng.randrange(10**6), rng.random()])
    if kind <= 3:
        return " ".join(rng.choices(["a", "Zürich", "\n", '"', "tail", "日本", "x1"], k=3))
    if kind <= 5:
        return [json_value(rng, depth + 1) for _ in range(rng.randrange(5))]
    return {f"k{rng.randrange(99)}": json_value(rng, depth + 1) for _ in range(rng.randrange(4))}


def json_text(rng: random.Random) -> str:
    """A random JSON text that nests."""
    return json.dumps([json_value(rng, 0), json_value(rng, 1)], indent=rng.choice([None, 1]))


def walks_of(
    artifact: Artifact,
    rng: random.Random,
    count: int,
    longest: int,
    ids: Callable[[random.Random], Sequence[int]] | None = None,
    prompts: Sequence[Sequence[int]] = ((),),
) -> list[Walk]:
    """What one thread finds: along the tokens that ``ids`` gives as far as they fit, else along
    random ones."""
    found = []
    for number in range(count):
        prompt = tuple(prompts[number % len(prompts)])
        matcher = artifact.matcher(after=prompt)
        given = None if ids is None or prompt else iter(ids(rng))
        tokens: list[int] = []
        masks = [matcher.mask().tobytes()]
        while len(tokens) < longest and not matcher.is_finished:
            allowed = matcher.mask()
            token = next(given, -1) if given else rng.choice(tokenset.to_ids(allowed).tolist())
            if not tokenset.contains(allowed, token):
                break
            matcher.advance(token)
            tokens.append(token)
            masks.append(matcher.mask().tobytes())
        found.append(Walk(prompt, tuple(tokens), tuple(masks)))
    return found


@contextmanager
def switching_often() -> Iterator[None]:
    """Inside it threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def stress(artifact: Artifact, walks: Sequence[Walk]) -> tuple[int, list[str]]:
    """Eight threads follow all walks on one artifact, each in an order of its own, and take tokens
    back now and then. How many masks were compared, and what was wrong."""
    barrier = threading.Barrier(THREADS)
    counts, wrong = [0] * THREADS, list[str]()

    def follow(thread: int) -> None:
        rng = random.Random(thread)
        order = rng.sample(walks, len(walks))
        barrier.wait()
        try:
            for walk in order:
                counts[thread] += check(artifact.matcher(after=walk.prompt), walk, rng)
        except Exception as error:
            wrong.append(f"thread {thread}: {type(error).__name__}: {error}")

    threads = [threading.Thread(target=follow, args=(i,)) for i in range(THREADS)]
    with switching_often():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return sum(counts), wrong


def check(matcher: Matcher, walk: Walk, rng: random.Random) -> int:
    """Follow a walk, at one place with some tokens taken back and taken again."""
    count, turned = 0, rng.randrange(len(walk.tokens) + 1)
    for place, mask in enumerate(walk.masks):
        assert matcher.mask().tobytes() == mask, f"a wrong mask behind {walk.tokens[:place]}"
        count += 1
        if place == turned and place:
            back = rng.randrange(1, place + 1)
            matcher.rollback(back)
            for again in range(place - back, place):
                assert matcher.mask().tobytes() == walk.masks[again], "a wrong mask, taken back"
                matcher.advance(walk.tokens[again])
                count += 1
        if place < len(walk.tokens):
            matcher.advance(walk.tokens[place])
    return count
