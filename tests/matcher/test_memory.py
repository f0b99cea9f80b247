"""What an artifact caches is bounded, whether matchers are many or one; each adds its history."""

import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import ROOT, sampled, written
from support.corpus.whole_pieces import whole_piece_model
from support.grammars import JSON
from support.matcher import deep_json
from support.maximal_munch import JSON as MUNCH

from constrain.artifacts.kinds.generations import SharedMachine
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar, load_tokenizer

_NETWORK = {"dialect": "kbnf", "engine": "network"}
_ANY = {"tokenization": "any"}
_MUNCH = {"dialect": "lark", "engine": "greedy", "tokenization": "any"}
_LAZY = {"prewarm": 0}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "network": (JSON, _NETWORK | _ANY),
    "network, lazy": (JSON, _NETWORK | _ANY | _LAZY),
    "canonical": (JSON, _NETWORK | {"tokenization": "canonical"}),
    "canonical, lazy": (JSON, _NETWORK | {"tokenization": "canonical"} | _LAZY),
    "greedy": (MUNCH, _MUNCH),
    "greedy, lazy": (MUNCH, _MUNCH | _LAZY),
    "earley": (JSON, {"dialect": "kbnf", "engine": "earley"} | _ANY),
    "canonical DFA": ("[a-zA-Z ]{1,20000}", {"dialect": "regex"}),
}
# Kinds of which a mask takes as long as hundreds of others.
SLOW = "earley", "canonical DFA"

# Steps, those of a kind that reads tokens slowly, and bytes of caches: of --full, else of a sample.
FULL, SOME = (1_000_000, 200_000, 1 << 28), (30_000, 4_000, 1 << 16)
# Of byte DFAs, whose sets are small.
DFA_CACHE = 1 << 22
# Tokens of a document, and the most that one matcher holds.
DOCUMENT, HISTORY = 400, 2_000

# Memory may grow by so much after the first tenth of the steps: in a sample, and in full.
GROWTH = 3_000_000, 12_000_000

# Prints the resident bytes after each tenth of the steps.
PROGRAM = """
import json, os, sys
from constrain.artifacts import TokenRefusedError
from constrain.artifacts.read import load
path, steps, cache, one, history = sys.argv[1], *map(int, sys.argv[2:6])
artifact = load(path, cache_bytes=cache)
page = os.sysconf("SC_PAGE_SIZE")
taken, resident, matcher = 0, [], artifact.matcher()
held = 0
while taken < steps:
    for line in sys.stdin:
        ids = json.loads(line)
        if one:
            # Tokens are taken back to the beginning of the text, at times all but a few.
            matcher.rollback(held)
            held = 0
        else:
            matcher = artifact.matcher()
        for token in ids:
            matcher.mask()
            matcher.advance(token)
            held += 1
        taken += len(ids)
        if taken >= (len(resident) + 1) * steps // 10:
            with open("/proc/self/statm") as file:
                resident.append(int(file.read().split()[1]) * page)
        if taken >= steps:
            break
    else:
        raise SystemExit("too few documents")
print(json.dumps(resident))
"""


def documents(tokenizer: Tokenizer, steps: int, length: int) -> str:
    """Texts of so many tokens, each of other nests, a line each, of ``steps`` tokens together."""
    rng, lines, count = random.Random(29), [], 0
    while count < steps:
        # A token is a few bytes; what is too short is left out.
        text = "["
        while len(text) < 6 * length:
            text += deep_json(rng, rng.randrange(15, 60)) + ","
        ids = tokenizer.encode(text)
        if len(ids) < length:
            continue
        lines.append(json.dumps(ids[:length]))
        count += length
    return "\n".join([*lines, *lines[:2]])


def documents_of_words(tokenizer: Tokenizer, steps: int, length: int) -> str:
    """The same of words, whole tokens and parts of them."""
    rng, lines = random.Random(31), []
    texts = [octets.decode() for octets in tokenizer.tokens.values() if octets.isalpha()]
    for _ in range(-(-steps // length) + 2):
        words = (rng.choice(texts) + rng.choice(texts)[: rng.randrange(3)] for _ in range(length))
        lines.append(json.dumps(tokenizer.encode(" ".join(words))[:length]))
    return "\n".join(lines)


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """3,000 tokens, of which 1,500 stand for whole pre-tokens."""
    folder = tmp_path_factory.mktemp("whole")
    return load_tokenizer(written(folder, whole_piece_model(7, 3_000, whole=1_500)))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the memory from /proc")
@pytest.mark.parametrize("one", [False, True], ids=["many matchers", "one matcher"])
@sampled("name", ["network", "greedy"], KINDS)
def test_memory_is_flat_over_many_steps(
    name: str,
    one: bool,
    default_tokenizer: Tokenizer,
    pieces: Tokenizer,
    tmp_path: Path,
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """Documents of 400 tokens, a matcher each, and one matcher that is rolled back to stay under
    2,000: after the first tenth of the steps the process does not grow."""
    text, options = KINDS[name]
    tokenizer = pieces if name == "canonical DFA" else default_tokenizer
    artifact = compile_grammar(text, tokenizer=tokenizer, **options)
    artifact.save(tmp_path / "file.cst")
    most, slow, cache_bytes = FULL if full else SOME
    steps = slow if name in SLOW else most
    if name == "canonical DFA":
        cache_bytes = min(cache_bytes, DFA_CACHE)
    length = HISTORY - 10 if one else DOCUMENT
    arguments = [str(tmp_path / "file.cst"), *map(str, (steps, cache_bytes, int(one), length))]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        input=(documents_of_words if name == "canonical DFA" else documents)(
            tokenizer, steps, length
        ),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / ".typing")])},
    )
    resident = json.loads(done.stdout)
    record_property("steps", steps)
    record_property("bytes more", max(resident) - resident[0])
    assert max(resident) - resident[0] < GROWTH[full], resident


@pytest.mark.parametrize("name", ["network", "canonical", "greedy", "earley"])
def test_a_matcher_that_stands_still_holds_no_machine(
    name: str, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a machine is full the matchers of the artifact let go of it, also those that are not
    used; they go on where they were."""
    monkeypatch.setattr("constrain.artifacts.tokens.interning.FEWEST_BYTES", 0)
    monkeypatch.setattr("constrain.artifacts.earley.machine.FEWEST_BYTES", 0)
    text, options = KINDS[name]
    made = compile_grammar(text, tokenizer=default_tokenizer, **options).to_bytes()
    artifact = load_bytes(made, cache_bytes=0)
    still, other = artifact.matcher(), artifact.matcher()
    ids = default_tokenizer.encode(deep_json(random.Random(1), 16))
    for token in ids[:20]:
        still.advance(token)
    expected = still.mask().tolist()
    for token in ids[20:30]:
        still.advance(token)
    machine = still._generation.machine
    assert machine is not None
    for token in default_tokenizer.encode(deep_json(random.Random(2), 120)):
        other.advance(token)
        if machine.is_full:
            break
    if name != "earley":
        machine.look()  # type: ignore[attr-defined]
    assert machine.is_full
    artifact.matcher()
    assert still._generation.machine is None
    still.rollback(10)
    assert still.mask().tolist() == expected
    assert still._generation.machine not in (None, machine)
    for token in ids[20:]:
        assert tokenset.contains(still.mask(), token)
        still.advance(token)
    assert still.is_accepting


def test_an_old_machine_is_left_to_who_holds_it() -> None:
    """Its states stay as they are; the next ones are another machine's."""

    class Machine:
        start, is_full = 7, False

    made: list[Any] = []

    class Generations(SharedMachine[Any]):
        _lock = threading.RLock()

        def _following(self, full: Any) -> Any:
            assert full is (made[-1] if made else None)
            made.append(Machine())
            return made[-1]

    generations = Generations()
    begun = generations.begun(())
    assert begun.machine is generations.machine() is begun.generation.machine
    begun.machine.is_full = True  # type: ignore[misc]
    assert generations.latest() is begun.machine
    assert generations.machine() is not begun.machine
    assert begun.generation.machine is None
    assert len(made) == 2
