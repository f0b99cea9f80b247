"""What tests of stores share."""

import random
from hashlib import sha256
from pathlib import Path

from constrain.artifacts import Artifact
from constrain.artifacts.store.places import Place
from constrain.artifacts.store.store import Store
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar

KEYS = [sha256(bytes([number])).hexdigest() for number in range(4)]
OTHER_KEY = sha256(b"other").hexdigest()


def made(pattern: str, tokenizer: Tokenizer, *, thin: bool = False) -> Artifact:
    """A small artifact."""
    return compile_grammar(
        pattern, dialect="regex", tokenizer=tokenizer, tokenization="any", prewarm=0, thin=thin
    )


def masks_of(artifact: Artifact) -> list[bytes]:
    """Masks along a random text."""
    rng, matcher, found = random.Random(1), artifact.matcher(), []
    for _ in range(5):
        found.append(matcher.mask().tobytes())
        allowed = set(tokenset.to_ids(matcher.mask()).tolist()) - set(artifact.manifest.eos)
        if not allowed:
            break
        matcher.advance(rng.choice(sorted(allowed)))
    return found


def place_of(store: Store) -> Place:
    """Where a store's files are."""
    place: Place = store.__dict__["_place"]
    return place


def files_of(store: Store) -> list[str]:
    """The names of all files."""
    return [file.name for file in place_of(store).files()]


def damage(store: Store, key: str, other: str, kind: str) -> None:
    """Make the file of ``key`` one that must not be served; ``other`` is the key of another."""
    place = place_of(store)
    if kind == "damaged tables":
        kind, key = "damaged", "tok/"
    name = next(file for file in files_of(store) if key in file)
    whole = _content(place, name)
    if kind == "no tables":
        for file in files_of(store):
            if file.startswith("tok/"):
                place.delete(file)
        return
    content = {
        "damaged": whole[:-9] + bytes([whole[-9] ^ 4]) + whole[-8:],
        "truncated": whole[:-40],
        "empty": b"",
        "of another key": _content(place, next(f for f in files_of(store) if other in f)),
    }[kind]
    place.delete(name)
    place.write(name, [content])


def _content(place: Place, name: str) -> bytes:
    path = place.path(name)
    assert isinstance(path, Path)
    return path.read_bytes()
