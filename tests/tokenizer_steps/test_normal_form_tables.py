"""Tables of what normalizers leave alone: alike in each process, against plain definitions."""

import random
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from support.automata import build_automaton
from support.normalizer import FORMS, random_normalizing

from constrain.artifacts.dfa.byte_dfa import TokenRuns
from constrain.artifacts.tokens.trie import Trie, walk
from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.compiler import load_tokenizer
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.merge.normalized import boundary_by_ascii, boundary_by_inert
from constrain.compiler.merge.product import build_product
from constrain.compiler.tokenizer_steps import normalized_members as stable_text
from constrain.compiler.tokenizer_steps.character_properties import character_properties
from constrain.compiler.tokenizer_steps.inert_tokens import is_inert, is_plain, not_plain
from constrain.compiler.tokenizer_steps.normalized_members import _Partitions, normal_form_automaton
from constrain.compiler.tokenizers.definition import Form, Normalize


@pytest.mark.quick
def test_the_least_number_of_states() -> None:
    """What is said without building it is no more than the automaton of some characters has."""
    characters = character_properties((Normalize(Form.NFC),))
    rng = random.Random(1)
    most = 0
    for size in (1, 2, 4, 8, 20, 60, 150):
        for _ in range(4):
            present = np.array(sorted(rng.sample(range(len(characters.combining)), size)))
            least = stable_text._least_states(characters, present)
            most = max(most, least)
            assert least <= normal_form_automaton(characters, present).states
    assert most > 16


@pytest.mark.quick
def test_inert_tokens() -> None:
    """After the end of a character all is plain, whichever character the last bytes begin."""
    rng = random.Random(2)
    plain = np.array([rng.random() < 0.9 for _ in range(0x110000)])
    plain[0x4E00:0x5E00] = True
    may_begin = plain.copy()
    may_begin[0x300:0x340] = True
    begun: defaultdict[bytes, list[int]] = defaultdict(list)
    for code in [*range(0x80, 0xD800), *range(0xE000, 0x10000)]:
        octets = chr(code).encode()
        for length in range(1, len(octets)):
            begun[octets[:length]].append(code)
    prefixes = sorted(begun)
    both = [0, 0]
    for _ in range(3000):
        codes = [rng.randrange(0x20, 0x7F) for _ in range(rng.randrange(3))]
        codes += [rng.randrange(0x4E00, 0x5E00) for _ in range(rng.randrange(2))]
        tails = bytes(rng.randrange(0x80, 0xC0) for _ in range(rng.choice((0, 0, 1, 2, 3, 4))))
        last = rng.choice([b"", b"", b"\xcc", b"\xe4", b"\xe4\xb8", rng.choice(prefixes)])
        expected = (
            len(tails) < 4
            and all(plain[code] for code in codes)
            and all(may_begin[code] for code in begun.get(last, ()))
        )
        octets = tails + "".join(map(chr, codes)).encode() + last
        assert expected == is_inert(octets, plain, may_begin), octets
        both[expected] += 1
    assert min(both) > 300


@pytest.mark.quick
def test_plain_tokens_are_told_together() -> None:
    """As each by itself, with bytes that are no character, and where some of ASCII is not plain."""
    rng = random.Random(6)
    texts = {i: bytes(rng.choice(b"aB\x80\xc3\xa9\xe4") for _ in range(i % 5)) for i in range(900)}
    texts |= {i: "".join(rng.sample("abcéß漢字", i % 4)).encode() for i in range(900, 1800)}
    for odd in ("é漢", "aé"):
        plain = np.ones(0x110000, dtype=np.bool_)
        plain[[*map(ord, odd)]] = False
        expected = [i for i, octets in texts.items() if not is_plain(octets, plain)]
        assert 300 < len(expected) < 1500
        assert not_plain(texts, plain) == expected


@pytest.mark.quick
def test_partitions_joined() -> None:
    """As the different rows of their values, numbered as they are met, also of more than a code
    has room for."""
    rng = np.random.default_rng(7)
    for kinds, count in ((1, 3), (2, 5), (3, 80), (40, 20)):
        values = rng.integers(0, kinds, (count, 50))
        partitions = _Partitions(50)
        numbers = [partitions.of(row) for row in values]
        for size in (0, 1, 2, count):
            chosen = rng.permutation(count)[:size]
            found = partitions.joined(frozenset(numbers[i] for i in chosen.tolist()))
            rows = [tuple(column) for column in values[chosen].T.tolist()]
            met = list(dict.fromkeys(rows))
            assert [met.index(row) for row in rows] == partitions.kinds[found].tolist()
            assert [rows.index(row) for row in met] == partitions.first[found].tolist()


def test_tokens_run_at_once_lead_where_a_walk_leads() -> None:
    """Random automata and vocabularies: tokens and states as by the walk of a trie."""
    rng = random.Random(4)
    read = 0
    for _ in range(200):
        size = rng.randrange(30)
        texts = [bytes(rng.randrange(3) for _ in range(rng.randrange(9))) for _ in range(size)]
        ids = np.array(sorted(rng.sample(range(90), size)), dtype=np.int32)
        classes = np.array([rng.randrange(3) for _ in range(256)], dtype=np.uint8)
        table = np.array([[rng.randrange(5) for _ in range(3)] for _ in range(5)], dtype=np.uint16)
        table[0] = 0
        runs = TokenRuns(ids, texts, table, classes)
        vocabulary = Vocabulary.from_tokens(dict(zip(ids.tolist(), texts, strict=True)), (), 90)
        trie = Trie.from_vocabulary(vocabulary)
        for state in range(1, 5):
            expected = [
                pair
                for hits in walk(trie, table, classes, np.array([state]))
                for pair in zip(hits.tokens.tolist(), hits.states.tolist(), strict=True)
            ]
            tokens, states = runs.run(state)
            assert sorted(expected) == sorted(zip(tokens.tolist(), states.tolist(), strict=True))
            read += len(expected)
    assert read > 1000


def test_ends_by_ascii_are_ends_by_inert_characters(tmp_path: Path, full: bool) -> None:
    """Random tokenizers with each normalizer, and grammars of marks, ASCII and both."""
    rng = random.Random(9)
    both = [0, 0]
    for number, form in enumerate(FORMS * (3 if full else 1)):
        (tmp_path / str(number)).mkdir()
        path = random_normalizing(rng, form, tmp_path / str(number))
        tables = TokenizerTables(load_tokenizer(path, cache=None))
        assert tables.normal_form is not None
        for regex in ("[a-z ]*", "(é|x)[A-Z]?", "e\u0301*漢?", "漢+", "(漢|\u0323)a|b"):
            dfa = build_automaton(regex, dialect="regex").dfa
            product = build_product(dfa, tables.pretokenizer)
            by_ascii = boundary_by_ascii(product, tables.normal_form)
            by_inert = boundary_by_inert(product, tables.normal_form)
            assert not (by_ascii & ~by_inert).any()
            both[np.array_equal(by_ascii, by_inert)] += 1
    assert min(both) > 1
