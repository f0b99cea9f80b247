"""What tests of the engines network and earley share."""

import json
import random
from collections.abc import Sequence

import pytest

from constrain.artifacts import Artifact
from constrain.artifacts.network.configurations import Network
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.tokens import tokenset
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
