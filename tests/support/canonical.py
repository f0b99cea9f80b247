"""Canonical masks of networks for tests: machines, finite grammars, and all their encodings."""

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network.machine import CanonicalMachine
from constrain.artifacts.canonical_network.masks import CanonicalMasks
from constrain.artifacts.canonical_network.precomputed_rows import PrecomputedRows
from constrain.artifacts.canonical_network.pretokenized import PretokenizedNetwork
from constrain.artifacts.network.configurations import REFUSED, Network
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.tokenizer_steps.normalizer import WithNormalForm
from constrain.artifacts.tokenizer_steps.pretokenizer import PretokenizerDfa
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.compiler import Tokenizer
from constrain.compiler.bpe.forbidden_pairs import build_forbidden_pairs
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.diagnostics import CheckError
from support.merge import derived, random_table
from support.network import minimal_tables


def members(tables: NetworkTables) -> list[bytes]:
    """All members of a finite language, by length."""
    found = few_members(tables, 1 << 30)
    assert found is not None
    return found


def few_members(tables: NetworkTables, most: int) -> list[bytes] | None:
    """The same if they are no more than ``most``, else None."""
    network = Network(tables)
    after: dict[int, list[tuple[int, bytes]]] = {}
    found: list[bytes] = []
    level = [(network.start, b"")]
    while level:
        found += [text for configuration, text in level if network.may_end(configuration)]
        following = []
        for configuration, text in level:
            if configuration not in after:
                read = ((network.read(configuration, [o]), bytes([o])) for o in range(256))
                after[configuration] = [(then, octet) for then, octet in read if then != REFUSED]
            following += [(then, text + octet) for then, octet in after[configuration]]
            # Each of them begins a member, and no two the same.
            if len(found) + len(following) > most:
                return None
        level = following
    return found


def machine_of(
    tables: NetworkTables, tokenizer: Tokenizer, stored: TokenizerTables
) -> CanonicalMasks:
    """The canonical masks of a network on a real tokenizer; EOS is its own or id 0."""
    found = stored.pretokenizer
    pretokenizer = PretokenizerDfa(found.dfa.table, found.classes, found.fallback, found.dfa.start)
    vocabulary = Vocabulary.from_tokens(tokenizer.tokens, tokenizer.special, tokenizer.vocab_size)
    network = PretokenizedNetwork(
        Network(tables),
        pretokenizer,
        found.dfa.final.astype(np.bool_),
        stored.pairs.forbidden.rows.padded(vocabulary.size),
        vocabulary,
    )
    return masks_of(network, eos_of(tokenizer))


def masks_of(
    network: PretokenizedNetwork, eos: Sequence[int], precomputed: PrecomputedRows | None = None
) -> CanonicalMasks:
    """Its masks; tokens are read byte by byte."""

    def read(configuration: int, token: int) -> int:
        return network.network.read(configuration, network.vocabulary.token(token))

    return CanonicalMasks(network, read, eos, precomputed)


def eos_of(tokenizer: Tokenizer) -> list[int]:
    """The tokens that end a text."""
    return list(tokenizer.eos) or [0]


def check(machine: CanonicalMasks, expected: dict[tuple[int, ...], set[int]]) -> int:
    """Compare all masks; the number of tokens in them."""
    states = {(): machine.start}
    count = 0
    for prefix in sorted(expected, key=lambda ids: (len(ids), ids)):
        if prefix:
            states[prefix] = machine.step(states[prefix[:-1]], prefix[-1])
        state = states[prefix]
        assert expected[prefix] == set(tokenset.to_ids(machine.row(state)).tolist()), prefix
        count += len(expected[prefix])
    return count


def random_walks(
    machine: CanonicalMachine,
    eos: Sequence[int],
    rng: random.Random,
    count: int,
    longest: int,
    liked: Sequence[int] = (),
) -> Iterator[list[int]]:
    """Token sequences by the masks alone. After ``longest`` tokens they make for the end.

    ``liked``: tokens of which every other one is, where there are any.
    """
    masks = machine.inner if isinstance(machine, WithNormalForm) else machine
    certificates = masks.pretokenized.certificates

    def left(state: int) -> int:
        number = machine.inner_state(state) if isinstance(machine, WithNormalForm) else state
        threads = masks.network.threads[masks.configuration_of(number)]
        return min(certificates.distance((p, 0, node)) for p, node in threads)

    lengths = masks.vocabulary.lengths
    for _ in range(count):
        state, ids = machine.start, list[int]()
        for _ in range(20 * longest):
            allowed = tokenset.to_ids(machine.row(state))
            assert len(allowed), ids
            text = allowed[~np.isin(allowed, list(eos))]
            ends = not len(text) or len(ids) > longest or rng.random() < 0.2
            if ends and len(text) < len(allowed):
                break
            if len(ids) > longest:
                tried = (text if len(text) < 1000 else text[lengths[text] <= 2]).tolist()
                if len(ids) > 2 * longest:
                    # By bytes the nearest to the end may lead in a circle: not all bytes that
                    # end a member are tokens that may stand there.
                    tried = rng.sample(tried, -(-len(tried) // 2))
                if len(tried) > 64:
                    # Of hundreds of tokens an end begins with one of those with a mark in front.
                    marks: dict[bytes, list[int]] = {}
                    for token in tried:
                        first = masks.vocabulary.token(token)[:1]
                        if first.isascii() and not first.isalnum():
                            marks.setdefault(first, []).append(token)
                    few = [rng.sample(some, min(len(some), 4)) for some in marks.values()]
                    tried = rng.sample(tried, 64) + [token for some in few for token in some]
            else:
                # Short tokens lead into more corners than long ones, which are the most.
                tried = [int(min(rng.choices(text, k=rng.choice([1, 3]))))]
                if len(some := text[np.isin(text, liked)]):
                    tried = rng.choice([tried, [int(rng.choice(some))]])
            state, token = min(
                ((machine.step(state, token), token) for token in tried),
                key=lambda found: left(found[0]),
            )
            ids.append(token)
        else:
            raise AssertionError(f"no end: {ids}")
        yield ids


A, B = b"a"[0], b"b"[0]


# Where pieces start: at the start alone; at each b; or so that a piece is an a with all b
# after it, but for the last a of a text, which goes with what is before it.
PIECES: dict[str, Callable[[str], list[str]]] = {
    "none": lambda text: [text] if text else [],
    "before b": lambda text: _cut(text, [i for i, c in enumerate(text) if c == "b"]),
    "before a, not the last": lambda text: _cut(
        text, [i for i, c in enumerate(text) if c == "a" and "a" in text[i + 1 :]]
    ),
}


def finite_languages(rng: random.Random, count: int) -> Iterator[tuple[NetworkTables, list[str]]]:
    """Networks of random grammars with all their members, without empty and large ones."""
    for _ in range(count):
        try:
            tables = minimal_tables(random_finite_grammar(rng))
        except CheckError:
            continue
        found = few_members(tables, 400)
        if found is not None:
            yield tables, [text.decode() for text in found]


def machine_and_encode(
    rng: random.Random, name: str, tables: NetworkTables
) -> tuple[CanonicalMasks, Callable[[str], list[int]], int]:
    """A machine over random merges, the encoder that it should follow, and EOS."""
    return machine_over(*random_table(rng, 9), name, tables)


def machine_over(
    names: dict[str, int], merges: list[tuple[int, int, int]], name: str, tables: NetworkTables
) -> tuple[CanonicalMasks, Callable[[str], list[int]], int]:
    """The same over some merges: tokens by their texts, and left, right and result of each."""
    found = derived(names, merges)
    eos = len(names)
    texts = {i: text.encode() for text, i in names.items()}
    vocabulary = Vocabulary.from_tokens(texts, [eos], eos + 1)
    pretokenizer, final = pretokenizer_of(name)
    forbidden = build_forbidden_pairs(found, eos + 1).rows
    network = PretokenizedNetwork(Network(tables), pretokenizer, final, forbidden, vocabulary)
    machine = masks_of(network, [eos])

    def encode(text: str) -> list[int]:
        return [
            token
            for piece in PIECES[name](text)
            for token in found.encode([names[c] for c in piece])
        ]

    return machine, encode, eos


def _cut(text: str, places: Sequence[int]) -> list[str]:
    bounds = [0, *(p for p in places if p), len(text)]
    return [text[i:j] for i, j in pairwise(bounds) if i < j]


def pretokenizer_of(name: str) -> tuple[PretokenizerDfa, NDArray[np.bool_]]:
    """The automaton of the pieces above: planes 0 and 1, columns a, b and others."""
    rows = {
        # State: plane 0 by a, by b; plane 1 by a, by b. A text begins in state 1.
        "none": ([(0, 0, 2, 2), (2, 2, 0, 0)], [1, 2]),
        "before b": ([(0, 0, 2, 2), (2, 0, 0, 2)], [1, 2]),
        # After an a that starts a piece another a must come (3), after the last none may (4).
        "before a, not the last": (
            [(0, 0, 2, 2), (4, 2, 3, 0), (4, 3, 3, 0), (0, 4, 0, 0)],
            [1, 2, 4],
        ),
    }[name]
    table = np.zeros((len(rows[0]) + 1, 2, 3), dtype=np.int32)
    for state, (a0, b0, a1, b1) in enumerate(rows[0], start=1):
        table[state, 0, :2], table[state, 1, :2] = (a0, b0), (a1, b1)
    final = np.zeros(len(table), dtype=np.bool_)
    final[rows[1]] = True
    classes = np.full(256, 2, dtype=np.uint8)
    classes[[A, B]] = 0, 1
    return PretokenizerDfa(table, classes, np.full(256, -1, dtype=np.int32), 1), final


def random_finite_grammar(rng: random.Random) -> str:
    """Four rules, each of those after it and of texts."""
    names = ["start", "x", "y", "z"]

    def body(after: int) -> str:
        parts = [*names[after:], *names[after:], "'a'", "'b'", "'ab'", "'bba'", "''"]
        return " ".join(rng.choice(parts) for _ in range(rng.randint(1, 3)))

    return "".join(
        f"{name} ::= {' | '.join(body(i) for _ in range(rng.randint(1, 3)))};"
        for i, name in enumerate(names, start=1)
    )
