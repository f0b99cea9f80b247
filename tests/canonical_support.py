"""Canonical masks of networks for tests: machines, finite grammars, and all their encodings."""

import random
from collections.abc import Container, Iterable, Iterator, Sequence

import numpy as np

from constrain.artifacts import tokenset
from constrain.artifacts.canonical_masks import CanonicalMasks
from constrain.artifacts.cuts import Cuts
from constrain.artifacts.network import REFUSED, Network
from constrain.artifacts.network_tables import NetworkTables
from constrain.artifacts.stable_network import StableNetwork
from constrain.artifacts.vocabulary import Vocabulary
from constrain.compiler import Tokenizer
from constrain.compiler.merge.stored import TokenizerTables

# Grammars with finitely many members, most of them through rules that several places use.
FINITE = {
    "pairs": "start ::= v ',' v; v ::= '[' w ']' | w; w ::= 'ab' | 'a' | 'the' | ' the' | '';",
    "words": "start ::= w s w s w; s ::= ' ' | '  ' | ', ';w ::= 'in' | 'int' | 'inter' | 'I\\'m';",
    "nested": "start ::= '{' o '}' | o; o ::= '[' v ']' | v v; v ::= '(' w ')' | w;"
    "w ::= '1' | '22' | 'x';",
    "spaces": "start ::= l l | '-' l; l ::= ' ' w '\\n' | '\\n' w ' ';w ::= '' | ' ' | '  ' | 'a';",
    "scripts": "start ::= w '-' w | w w; w ::= 'é' | '漢' | 'ก็' | '😀' | 'a' | '';",
    "objects": "start ::= o; o ::= '{' p '}' | '{' p ', ' p '}'; p ::= k ': ' v;"
    "k ::= '\"a\"' | '\"id\"'; v ::= 'true' | 'null' | '[]' | '12' | '\"\"';",
    "optional": "start ::= x y z | z x; x ::= 'tion' | 'ti' | ''; y ::= 'on' | 's' | '';"
    "z ::= x | x x;",
    "contractions": "start ::= w e w; e ::= '\\'s' | '\\'' | '\\'ll ' | ' ';"
    "w ::= 'we' | 'he' | 'sa' | 'l';",
}


def members(tables: NetworkTables) -> list[bytes]:
    """All members of a finite language, by length."""
    found = few_members(tables, 1 << 30)
    assert found is not None
    return found


def few_members(tables: NetworkTables, most: int) -> list[bytes] | None:
    """The same if they are no more than ``most``, else None."""
    network = Network(tables)
    found: list[bytes] = []
    level = [(network.start, b"")]
    while level:
        found += [text for configuration, text in level if network.may_end(configuration)]
        following = []
        for configuration, text in level:
            for octet in range(256):
                after = network.read(configuration, [octet])
                if after != REFUSED:
                    following.append((after, text + bytes([octet])))
            # Each of them begins a member, and no two the same.
            if len(found) + len(following) > most:
                return None
        level = following
    return found


def machine_of(
    tables: NetworkTables, tokenizer: Tokenizer, stored: TokenizerTables
) -> CanonicalMasks:
    """The canonical masks of a network on a real tokenizer; EOS is its own or id 0."""
    found = stored.cuts
    cuts = Cuts(found.dfa.table, found.classes, found.fallback, found.dfa.start)
    vocabulary = Vocabulary.from_tokens(tokenizer.tokens, tokenizer.special, tokenizer.vocab_size)
    network = Network(tables)
    return CanonicalMasks(
        network,
        lambda configuration, token: network.read(configuration, vocabulary.token(token)),
        cuts,
        found.dfa.final.astype(np.bool_),
        stored.pairs.rectangles.rows,
        vocabulary,
        eos_of(tokenizer),
        tokenizer.vocab_size,
    )


def eos_of(tokenizer: Tokenizer) -> list[int]:
    """The tokens that end a text."""
    return list(tokenizer.eos) or [0]


def following(
    encodings: Iterable[Sequence[int]], eos: Sequence[int]
) -> dict[tuple[int, ...], set[int]]:
    """For each prefix of an encoding what some encoding goes on with, ``eos`` behind all."""
    found: dict[tuple[int, ...], set[int]] = {}
    for ids in encodings:
        for place, token in enumerate(ids):
            found.setdefault(tuple(ids[:place]), set()).add(token)
        found.setdefault(tuple(ids), set()).update(eos)
    return found


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
    machine: CanonicalMasks | StableNetwork,
    eos: Sequence[int],
    rng: random.Random,
    count: int,
    longest: int,
    liked: Container[int] = (),
) -> Iterator[list[int]]:
    """Token sequences by the masks alone. Behind ``longest`` tokens they make for the end.

    ``liked``: tokens of which every other one is, where there are any.
    """
    masks = machine.inner if isinstance(machine, StableNetwork) else machine
    firsts = masks.threads.firsts

    def left(state: int) -> int:
        threads = masks.network.threads[machine.configuration_of(state)]
        return min(firsts.left((p, 0, node)) for p, node in threads)

    lengths = masks.vocabulary.lengths
    for _ in range(count):
        state, ids = machine.start, list[int]()
        for _ in range(20 * longest):
            allowed = tokenset.to_ids(machine.row(state)).tolist()
            assert allowed, ids
            text = [token for token in allowed if token not in eos]
            ends = not text or len(ids) > longest or rng.random() < 0.2
            if ends and len(text) < len(allowed):
                break
            if len(ids) > longest:
                short = [token for token in text if lengths[token] <= 2]
                tried = text if len(text) < 1000 else short
                if len(ids) > 2 * longest:
                    # By bytes the nearest to the end may lead in a circle: not all bytes that
                    # end a member are tokens that may stand there.
                    tried = rng.sample(tried, -(-len(tried) // 2))
            else:
                # Short tokens lead into more corners than long ones, which are the most.
                tried = [min(rng.choices(text, k=rng.choice([1, 3])))]
                if some := [token for token in text if token in liked]:
                    tried = rng.choice([tried, [rng.choice(some)]])
            state, token = min(
                ((machine.step(state, token), token) for token in tried),
                key=lambda found: left(found[0]),
            )
            ids.append(token)
        else:
            raise AssertionError(f"no end: {ids}")
        yield ids
