"""First masks of loaded artifacts under any tokenization: what no text changes is in the file."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support import encoded
from support.grammars import JSON

from constrain.artifacts import Artifact, ArtifactError, TokenRefusedError
from constrain.artifacts.earley.machine import EarleyMasks
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.walk.rows_by_frames import RowsByFrames
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.limits import Limits

pytestmark = pytest.mark.quick

FIRST = "first.row"
TRIE = tuple(f"trie.{name}" for name in ("first", "held", "ids", "octets"))

# Masks are computed while decoding: all of them, or but for two summaries.
ENGINES: dict[str, dict[str, Any]] = {"earley": {}, "network": {"prewarm": 2}}


def artifact_of(engine: str, tokenizer: Tokenizer, **options: Any) -> Artifact:
    """JSON under any tokenization."""
    more = {**ENGINES[engine], **options}
    return compile_grammar(
        JSON, dialect="kbnf", tokenizer=tokenizer, tokenization="any", engine=engine, **more
    )


def computing(*_: object, **__: object) -> None:
    """In place of a step that none may take."""
    raise AssertionError("this is computed again")


@pytest.mark.parametrize("engine", ENGINES)
def test_the_first_mask_of_a_loaded_artifact_walks_no_trie(
    engine: str, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is one made, for any number of matchers; later masks are as without it."""
    artifact = artifact_of(engine, default_tokenizer)
    loaded = load_bytes(artifact.to_bytes())
    plain = load_bytes(encoded(artifact, dict.fromkeys((FIRST, *TRIE))))
    expected = plain.matcher().mask()
    with monkeypatch.context() as patched:
        patched.setattr(Trie, "from_vocabulary", computing)
        patched.setattr(EarleyMasks, "_walked", computing)
        patched.setattr(RowsByFrames, "row", computing)
        for _ in range(2):
            assert np.array_equal(loaded.matcher().mask(), expected)
    matcher, other = loaded.matcher(), plain.matcher()
    for token in default_tokenizer.encode('{"a": [1]}'):
        matcher.advance(token)
        other.advance(token)
        assert np.array_equal(matcher.mask(), other.mask())


def test_the_first_mask_of_a_lazy_network_is_computed_when_it_is_written(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not when it is compiled, and not when it is loaded."""
    with monkeypatch.context() as patched:
        patched.setattr(RowsByFrames, "row", computing)
        artifact = artifact_of("network", default_tokenizer, prewarm=0)
    data = artifact.to_bytes()
    assert data == artifact.to_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(RowsByFrames, "row", computing)
        found = load_bytes(data).matcher().mask()
    assert np.array_equal(found, artifact.matcher().mask())


@pytest.mark.parametrize("engine", ENGINES)
def test_no_loaded_artifact_makes_the_trie_again(
    engine: str, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where later masks are computed, the trie is the file's, also where nothing is precomputed."""
    options = {} if engine == "earley" else {"prewarm": 0}
    artifact = artifact_of(engine, default_tokenizer, **options)
    loaded = load_bytes(artifact.to_bytes())
    monkeypatch.setattr(Trie, "from_vocabulary", computing)
    matcher = loaded.matcher()
    for token in default_tokenizer.encode('{"a"'):
        matcher.advance(token)
        assert matcher.mask().any()


def test_tries_and_first_masks_are_left_out_where_there_is_no_room(
    default_tokenizer: Tokenizer,
) -> None:
    """--max-artifact-bytes holds for them; and what is precomputed in full needs no trie."""
    artifact = artifact_of("earley", default_tokenizer)
    most = len(artifact.to_bytes()) - 1000
    small = artifact_of("earley", default_tokenizer, max_artifact_bytes=most)
    assert len(small.to_bytes()) <= most
    assert not {*TRIE} & {*small.arrays}
    whole = compile_grammar(
        JSON, dialect="kbnf", tokenizer=default_tokenizer, tokenization="any", engine="network"
    )
    assert not {FIRST, *TRIE} & {*whole.arrays}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", [FIRST, *TRIE])
def test_sections_of_another_type_are_refused(
    engine: str, name: str, default_tokenizer: Tokenizer
) -> None:
    """By their names."""
    artifact = artifact_of(engine, default_tokenizer).completed
    for changed in (artifact.arrays[name].astype("<u2"), artifact.arrays[name][np.newaxis]):
        with pytest.raises(ArtifactError, match=name):
            Artifact(artifact.manifest, {**artifact.arrays, name: changed})


def _replaced(place: int, value: int) -> Callable[[NDArray[Any]], NDArray[Any]]:
    def change(array: NDArray[Any]) -> NDArray[Any]:
        found = array.copy()
        found[place] = value
        return found

    return change


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("trie.first", _replaced(5, 0)),
        ("trie.first", _replaced(-1, 1 << 30)),
        ("trie.held", _replaced(7, 1 << 30)),
        ("trie.ids", _replaced(3, 1 << 30)),
        ("trie.ids", _replaced(3, -1)),
        ("trie.octets", lambda octets: octets[:-1]),
    ],
)
def test_a_trie_that_does_not_fit_is_refused_when_it_is_walked(
    engine: str,
    name: str,
    change: Callable[[NDArray[Any]], NDArray[Any]],
    default_tokenizer: Tokenizer,
) -> None:
    """A walk would leave its tables, or not end."""
    artifact = artifact_of(engine, default_tokenizer)
    damaged = load_bytes(encoded(artifact, {name: change(artifact.arrays[name])}))
    with pytest.raises(ArtifactError, match="trie"):
        for token in default_tokenizer.encode('{"a"'):
            matcher = damaged.matcher()
            matcher.advance(token)
            matcher.mask()
            assert damaged.trie


def test_a_first_mask_that_earley_cannot_read_does_no_harm(default_tokenizer: Tokenizer) -> None:
    """Tokens that do not fit are refused when they are read."""
    artifact = artifact_of("earley", default_tokenizer)
    every = tokenset.from_ids(list(range(artifact.vocab_size)), artifact.vocab_size)
    matcher = load_bytes(encoded(artifact, {FIRST: every})).matcher()
    (token,) = default_tokenizer.encode("}")
    with pytest.raises(TokenRefusedError):
        matcher.advance(token)


def test_the_first_mask_keeps_to_the_limits(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it takes is watched, and where that is too much it is found when it is met."""
    watched = []

    def check_resources(
        _: Limits, stage: str, rules: Sequence[str] = (), *__: object, **___: object
    ) -> None:
        watched.append(stage)
        if watched.count("the mask before any token") > 20:
            raise LimitError(stage, "seconds", 1.0, rules=rules, is_measured=True)

    monkeypatch.setattr(Limits, "check_resources", check_resources)
    artifact = artifact_of("earley", default_tokenizer)

    assert FIRST not in artifact.arrays
    assert watched.count("the mask before any token") == 21
    monkeypatch.undo()
    assert len(artifact.matcher().mask())
