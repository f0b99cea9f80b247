"""What tests of matchers share; the fixtures ``artifacts`` and ``odd`` give what they match."""

import json
import random
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts import Artifact, Matcher
from constrain.artifacts.dfa.byte_dfa import ByteDfa
from constrain.artifacts.network.configurations import Network
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.compiler import Tokenizer
from constrain.compiler.frontend import Parser
from constrain.compiler.machine.file_size import counts
from constrain.compiler.options import AnyTokenizer, with_changes
from constrain.compiler.pipeline import build_engine, copied
from constrain.compiler.token_ids import token_ids
from support.network import TextbookMasks

KINDS = ("canonical", "any")


GRAMMARS = (
    's ::= "";',
    's ::= "a" | "bc";',
    's ::= #"[a-c]{1,4}";',
    's ::= "the " ("cat" | "dog") (" and " ("cat" | "dog"))*;',
    's ::= #"\\\\d{4}-\\\\d\\\\d";',
    's ::= "é" | "日本" | #"[à-ü]+";',
)


Compile = Callable[..., Artifact]


def after(artifact: Artifact, *tokens: int) -> Matcher:
    """A matcher that has taken some tokens."""
    matcher = artifact.matcher()
    for token_id in tokens:
        matcher.advance(token_id)
    return matcher


def allowed(matcher: Matcher) -> list[int]:
    """The ids in the mask."""
    return [int(token_id) for token_id in tokenset.to_ids(matcher.mask())]


def paths(artifact: Artifact, longest: int) -> Iterator[tuple[int, ...]]:
    """All token sequences, of at most so many tokens, that a matcher lets end."""
    eos = set(artifact.manifest.eos)
    pending: list[tuple[int, ...]] = [()]
    for path in pending:
        matcher = after(artifact, *path)
        if matcher.is_accepting:
            yield path
        if len(path) < longest:
            pending.extend((*path, t) for t in allowed(matcher) if t not in eos)


def spelled(artifact: Artifact, token: bytes) -> int:
    """The id of a text token."""
    found = [i for i in range(artifact.vocab_size) if artifact.vocabulary.token(i) == token]
    return found[0]


def accepted_behind_prompts(artifact: Artifact, library: Any, rng: random.Random) -> int:
    """Random prompts and members of ``(a|b| ){1,4}``: where the library keeps the prompt's last
    boundary, the member's tokens are accepted after it. How many of forty these were."""
    kept = 0
    for _ in range(40):
        prompt, text = ("".join(rng.choices("ab ", k=rng.randrange(1, 5))) for _ in "12")
        before, ids = library.encode(prompt).ids, library.encode(prompt + text).ids
        if ids[: len(before)] != before:
            continue
        matcher = artifact.matcher(after=before)
        for token in ids[len(before) :]:
            assert tokenset.contains(matcher.mask(), token)
            matcher.advance(token)
        assert matcher.is_accepting
        kept += 1
    return kept


# Rows of places that are kept, new ways of a state at a time, and states before a search fails.
_KEPT, _WAYS, _MOST = 64, 8, 5000


class Places:
    """A byte DFA read after a fixed text, by whole tokens.

    A *place* is a state of the DFA, or from S on one inside ``prefix``; 0 is dead. The empty
    text has no prefix: such a place may end, too.
    """

    def __init__(self, dfa: ByteDfa, prefix: bytes, vocabulary: Vocabulary) -> None:
        states = dfa.states
        table = dfa.table[:, dfa.classes]
        before = np.zeros((len(prefix), 256), dtype=table.dtype)
        for i, octet in enumerate(prefix):
            before[i, octet] = states + i + 1 if i + 1 < len(prefix) else dfa.start
        self.table = np.concatenate([table, before])
        self.start = states if prefix else dfa.start
        self.accepting = np.concatenate([dfa.accepting != 0, np.zeros(len(prefix), np.bool_)])
        self.accepting[self.start] = dfa.accepting[dfa.start]
        self.vocabulary = vocabulary
        self.left = self._distances()
        self._rows: OrderedDict[int, NDArray[np.int32]] = OrderedDict()

    def _distances(self) -> NDArray[np.int64]:
        """Bytes to the end by the shortest way; int64 (places,)."""
        far = 1 << 40
        found = np.where(self.accepting, 0, far)
        found[0] = far
        while True:
            nearer = np.minimum(found, found[self.table].min(axis=1) + 1)
            nearer[0] = far
            if (nearer == found).all():
                return found
            found = nearer

    def run(self, place: int, text: bytes) -> int:
        """The place after some bytes."""
        for octet in text:
            place = int(self.table[place, octet])
        return place

    def after(self, place: int) -> NDArray[np.int32]:
        """The place after each token that is text, 0 where it cannot be read; int32 (V,)."""
        if place not in self._rows:
            vocabulary = self.vocabulary
            row = np.zeros(vocabulary.size, dtype=np.int32)
            ids = vocabulary.text_ids()
            row[ids] = place
            for i in range(int(vocabulary.lengths.max())):
                ids = ids[vocabulary.lengths[ids] > i]
                row[ids] = self.table[row[ids], vocabulary.data[vocabulary.offsets[ids] + i]]
                ids = ids[row[ids] != 0]
            if len(self._rows) >= _KEPT:
                self._rows.popitem(last=False)
            self._rows[place] = row
        self._rows.move_to_end(place)
        return self._rows[place]

    def shortest(self, place: int) -> bytes:
        """A shortest text from a place to the end."""
        found = bytearray()
        while self.left[place]:
            found.append(int(np.argmin(self.left[self.table[place]])))
            place = int(self.table[place, found[-1]])
        return bytes(found)

    def members(self, place: int, longest: int) -> list[bytes]:
        """All texts from a place to the end of up to ``longest`` bytes."""
        used = np.flatnonzero((self.table != 0).any(axis=0)).tolist()
        ways: dict[int, list[tuple[int, int]]] = {}
        found, pending = [], [(place, b"")]
        for at, text in pending:
            if self.accepting[at]:
                found.append(text)
            if at not in ways:
                ways[at] = [(octet, int(self.table[at, octet])) for octet in used]
            spare = longest - len(text) - 1
            pending += [
                (target, text + bytes([octet]))
                for octet, target in ways[at]
                if self.left[target] <= spare
            ]
        return found

    def some_members(
        self, place: int, longest: int, count: int, rng: np.random.Generator
    ) -> set[bytes]:
        """A few texts from a place to the end: a shortest one, random ones of up to ``longest``
        bytes, and random tokens with a shortest text after them."""
        found = {self.shortest(place)}
        after = np.flatnonzero(self.after(place))
        for token in rng.choice(after, size=min(count, len(after)), replace=False).tolist():
            behind = int(self.after(place)[token])
            found.add(self.vocabulary.token(token) + self.shortest(behind))
        for _ in range(count):
            at, text = place, bytearray()
            while True:
                spare = longest - len(text) - 1
                ways = np.flatnonzero(self.left[self.table[at]] <= spare)
                if not len(ways) or (self.accepting[at] and rng.random() < 0.2):
                    break
                text.append(int(rng.choice(ways)))
                at = int(self.table[at, text[-1]])
            if self.accepting[at]:
                found.add(bytes(text))
        return found


class Completions:
    """Short ways to the end from the states of an artifact's machine, by its masks."""

    def __init__(self, artifact: Artifact) -> None:
        self.machine = artifact.machine()
        self.places = Places(artifact.byte_dfa, artifact.text_prefix, artifact.vocabulary)
        self.lengths = artifact.vocabulary.lengths
        self._known: dict[int, tuple[int, ...]] = {}

    def completion(self, state: int, place: int) -> tuple[int, ...]:
        """Tokens that lead from ``state``, with the text at ``place``, to the end.

        Best first by bytes so far and bytes to go (A*; tokens have more bytes than the grammar
        needs, so it is short, not always shortest). Fails where the search finds no end.
        """
        if state not in self._known:
            self._known[state] = self._search(state, place)
        return self._known[state]

    def _search(self, state: int, place: int) -> tuple[int, ...]:
        left, order = self.places.left, count()
        # Bytes so far and to go, to go, first the latest; state, place, tokens, ways tried.
        heap = [(int(left[place]), int(left[place]), 0, state, place, (), 0)]
        seen = {state}
        for _ in range(_MOST):
            assert heap, f"no way to the end of state {state}"
            whole, rest, _, here, at, ids, tried = heappop(heap)
            if self.machine.is_accepting(here):
                return ids
            ways, costs = self._ways(here, at)
            for token in ways[tried : tried + _WAYS].tolist():
                to, after = self.machine.take(here, token), int(self.places.after(at)[token])
                if to not in seen:
                    seen.add(to)
                    togo = int(left[after])
                    so_far = whole - rest + int(self.lengths[token])
                    heappush(heap, (so_far + togo, togo, -next(order), to, after, (*ids, token), 0))
            tried += _WAYS
            if tried < len(ways):
                cost = whole - rest + int(costs[tried])
                heappush(heap, (cost, rest, -next(order), here, at, ids, tried))
        raise AssertionError(f"no way to the end of state {state} among {_MOST}")

    def _ways(self, state: int, place: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The allowed tokens, those on short ways first, and bytes of token and what is left."""
        allowed = tokenset.to_ids(self.machine.row(state))
        after = self.places.after(place)[allowed]
        allowed, after = allowed[after != 0], after[after != 0]
        costs = self.lengths[allowed] + self.places.left[after]
        order = np.lexsort((allowed, self.places.left[after], costs))
        return allowed[order], costs[order]


# --- threads that share an artifact, each with matchers of its own, against one thread alone

THREADS = 8

# Between two bytecodes of one thread others may run as often as the interpreter lets them.
SWITCH_SECONDS = 10e-6

_NESTING = frozenset(b'[]{}",: a1')


@dataclass(frozen=True)
class Walk:
    """Tokens after a prompt, and before each of them, and after the last, what a mask is."""

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


def deep_json(rng: random.Random, deepest: int = 25) -> str:
    """A random JSON text of few values that nests like hardly any other."""
    begun = rng.choices([("[", "]"), ('{"a":', "}"), ("[1, ", "]"), ('{"k": ', "}")], k=deepest)
    opened, closed = zip(*begun, strict=True)
    return "".join(opened) + "null" + "".join(reversed(closed))


def json_text(rng: random.Random) -> str:
    """A random JSON text that nests."""
    return json.dumps([json_value(rng, 0), json_value(rng, 1)], indent=rng.choice([None, 1]))


def nesting_tokens(artifact: Artifact | TextbookMasks) -> list[int]:
    """The tokens of which texts like JSON that nest are made."""
    vocabulary = artifact.vocabulary
    texts = {i: vocabulary.token(i) for i in vocabulary.text_ids().tolist()}
    return [i for i, text in texts.items() if text and set(text) <= _NESTING]


def walks_of(
    artifact: Artifact | TextbookMasks,
    rng: random.Random,
    count: int,
    longest: int,
    ids: Callable[[random.Random], Sequence[int]] | None = None,
    prompts: Sequence[Sequence[int]] = ((),),
) -> list[Walk]:
    """What one thread finds: along the tokens that ``ids`` gives as far as they fit, and every
    other time along random ones, those that nest if there are any."""
    found = []
    nesting = tokenset.from_ids(nesting_tokens(artifact), artifact.vocab_size)
    for number in range(count):
        prompt = tuple(prompts[number % len(prompts)])
        matcher = artifact.matcher(after=prompt)
        given = None if ids is None or prompt or number % 2 else iter(ids(rng))
        tokens: list[int] = []
        masks = [matcher.mask().tobytes()]
        while len(tokens) < longest and not matcher.is_finished:
            allowed = matcher.mask()
            some = allowed & nesting
            some = some if some.any() else allowed
            token = next(given, -1) if given else rng.choice(tokenset.to_ids(some).tolist())
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
        assert matcher.mask().tobytes() == mask, f"a wrong mask after {walk.tokens[:place]}"
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


def check_equal_masks(
    one: Artifact,
    other: Artifact,
    rng: random.Random,
    steps: int,
    choices: Callable[[list[int]], list[int]] = list,
    behind: Sequence[int] = (),
) -> int:
    """Masks of both along a random text, with tokens taken back; how many were compared.

    ``choices``: of the ids of a mask those that may be taken. It ends where there are none.
    ``behind``: what the text begins with, as far as it is allowed.
    """
    left, right, done = one.matcher(), other.matcher(), 0
    assert left.accept(behind) == right.accept(behind)
    for _ in range(steps):
        mask = left.mask()
        assert mask.tolist() == right.mask().tolist()
        assert left.is_accepting == right.is_accepting
        done += 1
        ids = [] if left.is_finished else choices(tokenset.to_ids(mask).tolist())
        if not ids:
            break
        token = rng.choice(ids)
        left.advance(token)
        right.advance(token)
        if rng.random() < 0.1 and done > 2:
            left.rollback(2)
            right.rollback(2)
            done -= 2
    return done


def check_equal_of_short_tokens(
    one: Artifact,
    other: Artifact,
    rng: random.Random,
    steps: int,
    behind: Sequence[int] = (),
) -> int:
    """``check_equal_masks`` along short tokens, most of them."""
    vocabulary = one.vocabulary

    def choices(ids: list[int]) -> list[int]:
        short = [i for i in ids if not vocabulary.is_text(i) or len(vocabulary.token(i)) < 3]
        return short if short and rng.random() < 0.6 else ids

    return check_equal_masks(one, other, rng, steps, choices, behind)


def check_random_texts(
    artifacts: Sequence[Artifact | TextbookMasks],
    texts: int,
    tokens: int,
    *,
    seed: int,
    short: float = 0.0,
) -> None:
    """Random texts by the masks of the first, which are those of all and never empty. ``short``:
    how often one of the first 300 tokens is taken, which lead to more states."""
    rng = random.Random(seed)
    for _ in range(texts):
        matchers = [artifact.matcher() for artifact in artifacts]
        for _ in range(tokens):
            mask = matchers[0].mask()
            assert mask.any()
            assert all(np.array_equal(mask, matcher.mask()) for matcher in matchers[1:])
            ids = tokenset.to_ids(mask)
            few = ids[: int(np.searchsorted(ids, 300))]
            token = int(rng.choice(few if len(few) and rng.random() < short else ids))
            for matcher in matchers:
                matcher.advance(token)
            if matchers[0].is_finished:
                break


def about_so_many(items: Sequence[str], least: int, most: int, rng: random.Random) -> str:
    """Random items, so many that few more may follow, or that few more must."""
    near = rng.choice([max(least, 1), most])
    return "".join(rng.choices(items, k=max(near - rng.randrange(5), 0)))


def whole_of(
    tokenizer: AnyTokenizer, text: str, dialect: str = "kbnf", **changes: Any
) -> TextbookMasks:
    """The masks of a grammar by the definition, read by its network with all states: it counts
    nothing, and has copies."""
    changes |= {"dialect": dialect, "engine": "network", "tokenization": "any"}
    options = with_changes(None, changes)
    recogniser = build_engine(text, options)
    if counts(recogniser):
        recogniser = copied(recogniser, options)
    assert isinstance(recogniser, Parser)
    assert isinstance(tokenizer, Tokenizer)
    assert recogniser.network is not None
    size, eos = tokenizer.vocab_size, tokenizer.eos
    vocabulary = tokenizer.vocabulary(size)
    trie, named = Trie.from_vocabulary(vocabulary), recogniser.grammar
    ids = token_ids(named, tokenizer, eos, recogniser.limits)
    return TextbookMasks(Network(recogniser.network), trie, vocabulary, eos, size, ids)
