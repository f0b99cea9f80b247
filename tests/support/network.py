"""What tests of the engines network and earley share."""

import json
import random

import pytest

from constrain.artifacts import Artifact
from constrain.artifacts.network.configurations import Network
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.lnf import Lnf
from constrain.compiler.network import build, tree_plan
from support.grammars import random_text, recogniser

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
    patch.setattr(build, "INLINED_STATES", states)
    if not states:
        for name in ("CALLED_FROM", "COPIES", "OPEN_COPIES"):
            patch.setattr(tree_plan, name, 0)


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
