"""Each kind of artifact: the modules that it loads, the protocol of its machine, its caches."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.wordpiece import compiled as compiled_by_words
from support.wordpiece import tokenizer_of

from constrain.artifacts import Artifact
from constrain.artifacts.matcher import Machine
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar

# Rooms that all artifacts load, and those that each kind loads besides. A network's file holds
# productions, too, by which texts are explained: they are checked with the rest.
SHARED = {"container", "kinds", "tokens"}
ROOMS = {
    "network without calls": {"dfa", "machine", "network", "walk"},
    "network without calls, without rows": {"dfa", "machine", "network", "walk"},
    "token-dfa": {"dfa"},
    "token-dfa without rows": {"dfa"},
    "canonical network without calls": {"canonical_network", "dfa", "machine", "network"}
    | {"tokenizer_steps", "walk"},
    "word-dfa": {"dfa", "wordpiece"},
    "network": {"dfa", "earley", "machine", "network", "walk"},
    "network of positions": {"dfa", "machine", "network", "walk"},
    "canonical network": {"canonical_network", "dfa", "earley", "machine", "network"}
    | {"tokenizer_steps", "walk"},
    "earley": {"dfa", "earley"},
    "greedy": {"dfa", "maximal_munch", "network", "walk"},
    "greedy of lazy lexemes": {"dfa", "lazy_lexer", "maximal_munch", "network", "walk"},
}
MACHINES = {
    "network without calls": "DfaMasks",
    "network without calls, without rows": "DfaMasks",
    "token-dfa": "DfaMachine",
    "token-dfa without rows": "DfaMachine",
    "canonical network without calls": "CanonicalMasks",
    "word-dfa": "WordMachine",
    "network": "MetMasks",
    "network of positions": "MetMasks",
    "canonical network": "CanonicalMasks",
    "earley": "EarleyMasks",
    "greedy": "MaximalMunchMasks",
    "greedy of lazy lexemes": "LazyLexerMasks",
}
DATE = "[12][0-9]{3}-(0[1-9]|1[0-2])-([0-2][0-9]|3[01])"
NESTED = 'start ::= "[" (start ("," " "? start)*)? "]" | #"[a-z]{1,4}";'
MUNCH = 'start: "[" (start ("," start)*)? "]" | WORD\nWORD: /[a-z]+/\n%ignore " "\n'
LARGE_LEXEME = MUNCH.replace("]+/", "]{1,3000}/")

# Prints the modules of the package loaded by reading a file, and those by making its matcher.
PROGRAM = """
import json, sys
from constrain.artifacts.read import load
def modules():
    return {name for name in sys.modules if name.startswith("constrain.artifacts.")}
artifact = load(sys.argv[1])
before = modules()
matcher = artifact.matcher()
row = matcher.mask()
matcher.advance(int(sys.argv[2]))
print(json.dumps([sorted(before), sorted(modules() - before)]))
"""


@pytest.fixture(scope="module")
def files(default_tokenizer: Tokenizer) -> dict[str, bytes]:
    """A small artifact of each kind, as the bytes of its file."""
    words = tokenizer_of(["a", "b", "##a", "##b", "ab", "##bb", "c"])

    def of(text: str, dialect: str = "kbnf", **options: object) -> bytes:
        made = compile_grammar(text, dialect=dialect, tokenizer=default_tokenizer, **options)
        return made.to_bytes()

    return {
        "network without calls": of(DATE, "regex", tokenization="any"),
        "network without calls, without rows": of(
            DATE, "regex", tokenization="any", max_artifact_bytes=0
        ),
        "token-dfa": of(DATE, "regex", method="direct"),
        "token-dfa without rows": of(DATE, "regex", method="direct", max_artifact_bytes=0),
        "canonical network without calls": of(DATE, "regex", method="cartesian"),
        "word-dfa": compiled_by_words("[ab]{1,6}( c)?", words).to_bytes(),
        "network": of(NESTED, engine="network", tokenization="any"),
        "network of positions": of(NESTED, tokenization="any", prewarm=0),
        "canonical network": of(NESTED, engine="network", tokenization="canonical"),
        "earley": of(NESTED, engine="earley", tokenization="any"),
        "greedy": of(MUNCH, "lark", tokenization="any"),
        "greedy of lazy lexemes": of(LARGE_LEXEME, "lark", tokenization="any"),
    }


@pytest.fixture(scope="module")
def opened(files: dict[str, bytes]) -> Callable[..., Artifact]:
    """The artifact of a kind, read again."""

    def load(name: str, **options: int) -> Artifact:
        return load_bytes(files[name], **options)

    return load


def walk(machine: Machine, eos: tuple[int, ...], rng: random.Random, most: int) -> list[int]:
    """States of a random walk by the masks."""
    states = [machine.start]
    while len(states) < most:
        allowed = tokenset.to_ids(machine.row(states[-1])).tolist()
        allowed = [i for i in allowed if i not in eos]
        if not allowed:
            break
        target = machine.take(states[-1], rng.choice(allowed))
        assert target is not None
        states.append(target)
    return states


@pytest.mark.quick
@pytest.mark.parametrize("name", ROOMS)
def test_each_kind_has_its_machine(name: str, opened: Callable[..., Artifact]) -> None:
    """The files below are what their names say."""
    artifact = opened(name)

    kind = name.split(" without")[0].split(" of ")[0].removeprefix("canonical ")
    assert kind == artifact.manifest.kind
    assert MACHINES[name] == type(artifact.machine()).__name__
    if artifact.is_regular and kind != "word-dfa" and not name.startswith("canonical"):
        assert name.endswith("without rows") == ("rows" not in artifact.arrays)


@pytest.mark.parametrize("name", ROOMS)
def test_no_kind_loads_rooms_of_others(
    name: str, files: dict[str, bytes], opened: Callable[..., Artifact], tmp_path: Path
) -> None:
    """Read in a process of its own, with the first mask and the first step; a plain network's
    matcher needs at most fourteen modules more than reading its file."""
    path = tmp_path / "file.cst"
    path.write_bytes(files[name])
    token = int(tokenset.to_ids(opened(name).matcher().mask())[0])
    program = [sys.executable, "-c", PROGRAM, str(path), str(token)]
    done = subprocess.run(program, capture_output=True, check=True, text=True)

    reading, making = json.loads(done.stdout)

    parts = [module.split(".") for module in reading + making]
    rooms = {module[2] for module in parts if len(module) > 3}
    kinds = {module[3] for module in parts if module[2] == "kinds" and len(module) > 3}
    assert SHARED | ROOMS[name] >= rooms
    common = {"check_tokenizer", "contents", "generations", "parser", "regular", "table"}
    common |= {"without_calls"}
    others = name.startswith("canonical") or name == "network of positions"
    assert len(kinds - common) <= 1 + others
    if name == "network":
        assert not [m for m in reading + making if "canonical" in m or "tokenizer_steps" in m]
        assert len(making) <= 14


@pytest.mark.parametrize("name", ROOMS)
def test_rows_and_steps_agree(name: str, opened: Callable[..., Artifact], full: bool) -> None:
    """A token is taken exactly if the row holds it; EOS of an accepting state is held."""
    artifact = opened(name)
    eos, size = artifact.manifest.eos, artifact.vocab_size
    rng = random.Random(7)
    for _ in range(20 if full else 3):
        machine = artifact.machine()
        for state in walk(machine, eos, rng, 12):
            row = machine.row(state)
            assert (np.uint32, False) == (row.dtype, row.flags.writeable)
            held = set(tokenset.to_ids(row).tolist())
            assert machine.is_accepting(state) == (set(eos) <= held)
            others = rng.sample(range(size), min(size, 60))
            for token in {*rng.sample(sorted(held), min(len(held), 20)), *others} - {*eos}:
                assert (token in held) == (machine.take(state, token) is not None), token
            assert [None, None] == [machine.take(state, token) for token in (-1, size)]


@pytest.mark.quick
@pytest.mark.parametrize("name", ROOMS)
def test_masks_do_not_depend_on_caches(name: str, opened: Callable[..., Artifact]) -> None:
    """Where next to nothing is cached, the masks are the same, on all of several walks."""
    whole, bare = opened(name), opened(name, cache_bytes=0)
    rng = random.Random(11)
    for _ in range(4):
        left, right = whole.matcher(), bare.matcher()
        for _ in range(15):
            assert left.mask().tolist() == right.mask().tolist()
            token = rng.choice(tokenset.to_ids(left.mask()).tolist())
            if left.is_finished:
                break
            left.advance(token)
            right.advance(token)
            assert left.is_accepting == right.is_accepting


@pytest.mark.quick
def test_caches_cannot_hold_less_than_nothing(files: dict[str, bytes]) -> None:
    """A negative limit is a mistake of the caller, not of the file."""
    with pytest.raises(ValueError, match="-5 bytes"):
        load_bytes(files["earley"], cache_bytes=-5)
