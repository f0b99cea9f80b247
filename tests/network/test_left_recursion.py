"""Rules that begin with themselves are written so that none does, and have the same texts."""

# Tests here say `expected == actual`.

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import pytest
from support import sampled
from support.matcher import check_random_texts
from support.normal_form.network import network

from constrain.artifacts.growing import GrowingArtifact
from constrain.artifacts.network.configurations import REFUSED, Network
from constrain.compiler import Compiler, Tokenizer, compile_grammar
from constrain.compiler.dialects import read_grammar
from constrain.compiler.limits import Limits
from constrain.compiler.lnf import normalize
from constrain.compiler.lnf.empty_patterns import without_exceptions
from constrain.compiler.network.from_tree import network_of_rules, numbered
from constrain.compiler.network.left_recursion import is_left_recursive
from constrain.compiler.network.tree_rules import Rules

LIMITS = Limits()

# Texts of up to so many letters are compared.
LONGEST = 5
TEXTS = [bytes(text) for n in range(LONGEST + 1) for text in product(b"abc", repeat=n)]
LEAVES = {'"a"': b"a", '"b"': b"b", '"c"': b"c", '"ab"': b"ab", '""': b""}
LOOP = frozenset(text for text in TEXTS if b"c" not in text)

Words: TypeAlias = frozenset[bytes]


@dataclass(frozen=True)
class Part:
    """Something of a rule, in GBNF: a leaf, or ``parts`` in a row, one of them, or ``times``."""

    text: str
    parts: tuple["Part", ...] = ()
    times: tuple[int, int] | None = None
    in_a_row: bool = False

    def words(self, known: Mapping[str, Words]) -> Words:
        """Its short texts, if those of rules are ``known``."""
        if not self.parts:
            words = frozenset([LEAVES[self.text]]) if self.text in LEAVES else LOOP
            return known.get(self.text, words)
        inside = [part.words(known) for part in self.parts]
        if self.times is not None:
            low, high = self.times
            found = last = joined([inside[0]] * low)
            for _ in range(low, high):
                last = joined([last, inside[0]])
                if last <= found:
                    break
                found |= last
            return found
        return joined(inside) if self.in_a_row else frozenset().union(*inside)


def joined(inside: list[Words]) -> Words:
    """One text of each after each other, as far as they are short."""
    found = frozenset([b""])
    for words in inside:
        found = frozenset(f + w for f in found for w in words if len(f + w) <= LONGEST)
    return found


def random_rules(rng: random.Random) -> dict[str, Part]:
    """Rules that begin with each other: by themselves, after what may be missing, inside
    repetitions, by nothing but the other's name, and twice by the same."""
    names = ["root", "b", "c", "d"][: rng.randrange(1, 5)]
    marks = {"?": (0, 1), "*": (0, LONGEST), "+": (1, LONGEST), "{2}": (2, 2), "{0,2}": (0, 2)}

    def item(depth: int) -> Part:
        kind = rng.random()
        if kind < 0.4:
            return Part(rng.choice(names))
        if kind < 0.75 or depth > 2:
            return Part(rng.choice([*LEAVES, "[ab]*"]))
        if kind < 0.9:
            part, mark = item(depth + 1), rng.choice(list(marks))
            return Part(f"({part.text}){mark}", (part,), marks[mark])
        part = options(depth + 1)
        return Part(f"({part.text})", part.parts)

    def options(depth: int) -> Part:
        found = []
        for _ in range(rng.randrange(1, 4)):
            parts = tuple(item(depth) for _ in range(rng.randrange(1, 4)))
            found.append(Part(" ".join(p.text for p in parts), parts, in_a_row=True))
        found += found[:1] * (rng.random() < 0.1)
        return Part(" | ".join(p.text for p in found), tuple(found))

    return {name: options(0) for name in names}


def members_of(rules: Mapping[str, Part]) -> Words:
    """All short texts, by the least fixed point of the rules."""
    known: dict[str, Words] = dict.fromkeys(rules, frozenset())
    while True:
        found = {name: body.words(known) for name, body in rules.items()}
        if found == known:
            return known["root"]
        known = found


def left_recursive(count: int, seed: int) -> Iterator[tuple[str, dict[str, Part], Rules]]:
    """So many random grammars with members in which a rule begins with itself."""
    rng = random.Random(seed)
    while count:
        found = random_rules(rng)
        text = "\n".join(f"{name} ::= {body.text}" for name, body in found.items())
        rules = Rules(without_exceptions(read_grammar(text, "gbnf"), LIMITS), LIMITS)
        if not rules.is_empty and is_left_recursive(rules):
            count -= 1
            yield text, found, rules


@pytest.mark.quick
def test_all_short_texts_are_members_as_before(full: bool) -> None:
    """By the network, and by the least fixed point of the rules as they are written."""
    for text, written, rules in left_recursive(2000 if full else 7, seed=1):
        members = members_of(written)
        found = Network(network_of_rules(numbered(rules.grammar, LIMITS), LIMITS))
        for word in TEXTS:
            reached = found.read(found.start, word)
            assert (word in members) == (reached != REFUSED and found.may_end(reached)), text


@pytest.mark.quick
def test_what_may_follow_is_what_the_normal_form_says(full: bool) -> None:
    """Along all short texts: by a network whose left corners are loops of its rules."""
    compared = 0
    for text, _, rules in left_recursive(2000 if full else 7, seed=2):
        written = numbered(rules.grammar, LIMITS)
        assert not is_left_recursive(written), text
        assert rules.names == written.names[: len(rules.names)]
        mine = Network(network_of_rules(written, LIMITS))
        other = Network(network(normalize(rules.grammar)))
        pending = [(mine.start, other.start, 0)]
        for here, there, length in pending:
            assert other.may_end(there) == mine.may_end(here), text
            compared += 1
            for octet in b"abc" if length < LONGEST else b"":
                behind, expected = mine.read(here, [octet]), other.read(there, [octet])
                assert (expected == REFUSED) == (behind == REFUSED), text
                if behind != REFUSED:
                    pending.append((behind, expected, length + 1))
    assert compared > 1_000


@sampled("seed", range(2), range(60))
def test_masks_are_earleys(seed: int, default_tokenizer: Tokenizer) -> None:
    """Whether states are made when they are met or all before."""
    compiler = Compiler(default_tokenizer)
    for text, _, _ in left_recursive(2, seed=100 + seed):
        options = {"dialect": "gbnf", "tokenization": "any", "prewarm": 0}
        met = compiler.compile(text, **options)
        assert isinstance(met, GrowingArtifact) or met.is_regular
        earley = compiler.compile(text, **options, engine="earley")
        check_random_texts(
            [met, compiler.compile(text, **options | {"prewarm": 100}), earley], 2, 12, seed=seed
        )


@pytest.mark.parametrize(
    "text",
    [
        'root ::= ( root "," ){2,70} "x" | "y"',
        'root ::= b{1,70} "x" | "y"\nb ::= root "," | c? b "z"\nc ::= "c"',
        'root ::= ( "a" | root? ){9,90} "b"',
    ],
)
def test_repetitions_that_begin_with_their_rule_are_counted(
    text: str, default_tokenizer: Tokenizer, full: bool
) -> None:
    """What may stand first in them is written by itself, and the others are counted."""
    options = {"dialect": "gbnf", "tokenizer": default_tokenizer, "tokenization": "any"}
    counted = compile_grammar(text, **options)
    earley = compile_grammar(text, **options, engine="earley")

    assert "repeats.items" in counted.arrays
    check_random_texts([counted, earley], 6 if full else 3, 40 if full else 2, seed=9, short=0.7)


CYCLE = 120


def test_large_cycles_are_written_by_few_rules() -> None:
    """Of a cycle of many rules, each of which is named elsewhere, the one that all pass through."""
    rules = [
        f'r{i} ::= r{(i + 1) % CYCLE} "{i}" | "(" r{(7 * i) % CYCLE} ")" | "x"'
        for i in range(CYCLE)
    ]
    grammar = read_grammar("\n".join(["root ::= r0", *rules]), "gbnf")
    written = numbered(grammar, LIMITS)

    assert is_left_recursive(Rules(grammar, LIMITS))
    assert not is_left_recursive(written)
    assert len(written.reached) < 3 * CYCLE
