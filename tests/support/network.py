"""What tests of the engines network and earley share."""

import json
import random
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from constrain.artifacts import Artifact, Matcher
from constrain.artifacts.kinds.generations import always
from constrain.artifacts.machine.masks import FIRST_TERMINAL
from constrain.artifacts.network.configurations import REFUSED, Network, Texts
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.tokenset import Words
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.compiler import Tokenizer, compile_grammar, thresholds
from constrain.compiler.frontend import Parser
from constrain.compiler.grammar.expand_permutations import expand_permutations
from constrain.compiler.grammar.tree import Grammar
from constrain.compiler.limits import Limits
from constrain.compiler.lnf import Lnf
from constrain.compiler.lnf.empty_patterns import without_exceptions
from constrain.compiler.network.from_tree import network_of_rules, numbered
from constrain.compiler.network.minimal_network import minimal_network
from constrain.compiler.pipeline import build_engine
from support.grammars import random_text, recogniser, tree_of

ENGINES = ("network", "earley")


def made(text: str, tokenizer: Tokenizer, engine: str = "auto", **options: object) -> Artifact:
    """The artifact of a kbnf grammar under ``any``."""
    return compile_grammar(
        text,
        dialect="kbnf",
        tokenizer=tokenizer,
        tokenization="any",
        engine=engine,
        **options,  # type: ignore[arg-type]
    )


def inline_up_to(patch: pytest.MonkeyPatch, states: int) -> None:
    """Copy rules of at most so many states; with 0 all that are used twice are called."""
    if not states:
        for name in ("COPIED_STATES", "NETWORK_STATES"):
            patch.setattr(thresholds, name, 0)


def long_json(octets: int) -> str:
    """A JSON text of at least so many bytes, up to six levels deep."""
    rng = random.Random(12)

    def value(depth: int) -> object:
        kind = rng.randrange(3 if depth < 6 else 1)
        if kind == 1:
            return [value(depth + 1) for _ in range(rng.randrange(5))]
        if kind == 2:
            return {rng.choice(["id", "name", "x y"]): value(depth + 1) for _ in range(3)}
        return rng.choice([1, -2.5e30, None, True, "a longer text, with words", "\u00e9\n"])

    listed: list[str] = []
    length = 0
    while length < octets:
        listed.append(json.dumps(value(0), indent=rng.choice([None, 1])))
        length += len(listed[-1]) + 1
    return f"[{','.join(listed)}]"


def check_against_earley(found: Network, lnf: Lnf, rng: random.Random, text: str) -> None:
    """Viable prefixes and members of random texts are the recogniser's; ``text``: the grammar."""
    earley = recogniser(lnf)
    for _ in range(5):
        word = random_text(rng, earley, 10)
        viable = earley.feed(word)
        assert viable == found.viable(word), (text, word)
        for length in range(viable, -1, -1):
            earley.truncate(length)
            reached = found.read(found.start, word[:length])
            assert earley.is_accepting == found.may_end(reached), (text, word, length)


# A part: its text in KBNF, and whether it is required and repeated.
Part = tuple[str, bool, bool]


def of_kbnf(
    text: str, tokenizer: Tokenizer, engine: str = "network", **options: object
) -> Artifact:
    """The same by the network, with the token ``<eos>`` at the end."""
    return made(text, tokenizer, engine, eos=["<eos>"], **options)


def permuted(parts: Sequence[Part], separator: str | None) -> str:
    """The permutation in KBNF."""
    marks = {(True, False): "", (False, False): "?", (True, True): "+", (False, True): "*"}
    items = [f"({text}){marks[required, again]}" for text, required, again in parts]
    if separator is None:
        return f"permute!({', '.join(items)})"
    return f"permute_by!(({separator}), {', '.join(items)})"


def in_all_orders(parts: Sequence[Part], separator: str | None, name: str = "o") -> str:
    """The rules of a rule ``o`` for the same, by the parts that are there so far."""
    rules = [f"{name}p{i} ::= {text};" for i, (text, _, _) in enumerate(parts)]
    for begun in range(1 << len(parts)):
        for first in (True, False) if begun == 0 else (False,):
            options = []
            for i, (_, _, is_repeated) in enumerate(parts):
                if not begun >> i & 1 or is_repeated:
                    between = "" if first or separator is None else f"({separator}) "
                    options.append(f"{between}{name}p{i} {name}s{begun | 1 << i}")
            if all(begun >> i & 1 or not part[1] for i, part in enumerate(parts)):
                options.append('""')
            head = name if first else f"{name}s{begun}"
            rules.append(f"{head} ::= {' | '.join(options)};")
    return "\n".join(rules)


def check_equal(one: Artifact, other: Artifact, rng: random.Random, walks: int, steps: int) -> int:
    """Masks of both along random texts, with tokens taken back; how many were compared."""
    compared = 0
    for _ in range(walks):
        left, right = one.matcher(), other.matcher()
        taken = 0
        for _ in range(steps):
            mask = left.mask()
            assert mask.tolist() == right.mask().tolist()
            assert left.is_accepting == right.is_accepting
            assert left.forced_tokens() == right.forced_tokens()
            compared += 1
            ids = tokenset.to_ids(mask).tolist()
            if not ids or left.is_finished:
                break
            token = rng.choice(ids)
            left.advance(token)
            right.advance(token)
            taken += 1
            if taken > 2 and rng.random() < 0.1:
                left.rollback(2)
                right.rollback(2)
                taken -= 2
    return compared


def keys(count: int, first: str = "key") -> str:
    """An object of so many keys in any order, every third one required."""
    members = ", ".join(f"('\"{first}{i}\": ' v){'' if i % 3 == 0 else '?'}" for i in range(count))
    return f"start ::= '{{' permute_by!(\", \", {members}) '}}'; v ::= #\"[0-9]+\" | start;"


def network_of(text: str) -> NetworkTables:
    """The network of a grammar."""
    found = build_engine(text, dialect="kbnf", tokenization="any", engine="network")
    assert isinstance(found, Parser)
    assert found.network is not None
    return found.network


def minimal_tables(text: str, limits: Limits | None = None) -> NetworkTables:
    """The minimal network of a kbnf grammar, with nothing counted."""
    limits = (limits or Limits()).started()
    return minimal_network(network_in_all_orders(tree_of(text), limits), limits)


def network_in_all_orders(grammar: Grammar, limits: Limits) -> NetworkTables:
    """The network of a grammar with nothing counted, and permutations written out."""
    resolved = expand_permutations(without_exceptions(grammar, limits), limits)
    return network_of_rules(numbered(resolved, limits), limits)


class TextbookMasks:
    """Masks by the definition: a token fits if a network reads its bytes one after the other.

    Nothing but ``Texts.read`` is used: no walk, no summary and no row of the package. What a byte
    makes of a configuration is kept. ``named``: the ids of each token terminal."""

    is_full = False

    def __init__(
        self,
        network: Texts,
        trie: Trie,
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        named: Sequence[NDArray[np.int32]] = (),
    ) -> None:
        self.network, self.start = network, network.start
        self.is_accepting = network.may_end
        self._trie, self.vocabulary, self._named = trie, vocabulary, named
        self._eos, self.vocab_size = list(eos), vocab_size
        self._behind: dict[tuple[int, int], int] = {}
        self._rows: dict[int, Words] = {}

    def matcher(self, after: Sequence[int] = ()) -> Matcher:
        """A matcher before any text."""
        assert not after
        return Matcher(lambda: always(self), self._eos, self.vocab_size)

    def read(self, state: int, octets: bytes) -> int:
        """The configuration after some bytes."""
        for octet in octets:
            if state != REFUSED:
                state = self._read(state, octet)
        return state

    def _read(self, state: int, octet: int) -> int:
        key = state, octet
        if key not in self._behind:
            self._behind[key] = self.network.read(state, [octet])
        return self._behind[key]

    def row(self, state: int) -> Words:
        """The mask."""
        if state not in self._rows:
            self._rows[state] = tokenset.from_ids(self._ids(state), self.vocab_size)
        return self._rows[state]

    def _ids(self, state: int) -> list[int]:
        trie, found = self._trie, [*self._eos] if self.network.may_end(state) else []
        pending = [(0, state)]
        for node, reached in pending:
            for child in range(int(trie.first[node]), int(trie.first[node + 1])):
                target = self._read(reached, int(trie.octets[child]))
                if target != REFUSED:
                    found += trie.ids[trie.held[child] : trie.held[child + 1]].tolist()
                    pending.append((child, target))
        for number, ids in enumerate(self._named):
            if self.network.read(state, [FIRST_TERMINAL + number]) != REFUSED:
                found += ids.tolist()
        return found

    def take(self, state: int, token_id: int) -> int | None:
        """The configuration after a token, or None."""
        readings: list[Sequence[int]] = []
        if self.vocabulary.is_text(token_id) and (text := self.vocabulary.token(token_id)):
            readings.append(text)
        for number, ids in enumerate(self._named):
            if token_id in ids:
                readings.append([FIRST_TERMINAL + number])
        target = self.network.read(state, *readings)
        return None if target == REFUSED else target

    def step(self, state: int, token_id: int) -> int:
        """The same for a token that fits."""
        target = self.take(state, token_id)
        assert target is not None
        return target
