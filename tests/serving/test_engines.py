"""The backends of vLLM and SGLang: windows of drafts, the end, stop tokens, padded vocabularies,
requests of all kinds; over base classes like theirs, and with ``--full`` over their own."""

import json
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.schema.tools import members_of
from support.serving.bases import fake_sglang, fake_vllm, masks, real

from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.tokenset import word_count
from constrain.compiler import SchemaOptions, Tokenizer, load_tokenizer
from constrain.compiler.serving import sglang, vllm
from constrain.compiler.serving.engines import request_for
from constrain.compiler.tokenizers import default_path

# A model's vocabulary is wider than its tokenizer's.
PADDED = 8192 + 64
STOP = 4000

KINDS = {
    "JSON": ('{"type": "object", "properties": {"a": {"type": "integer"}}}', '{"a": 12}'),
    "JSON_OBJECT": ("", '{"b": [null]}'),
    "REGEX": ("[0-9]{4}-[0-9]{2}", "2024-02"),
    "GRAMMAR": ('root ::= "(" root ")" | "x"', "((x))"),
    "CHOICE": ('["yes", "no", "maybe so"]', "maybe so"),
    "STRUCTURAL_TAG": (
        json.dumps(
            {
                "type": "structural_tag",
                "format": {
                    "type": "tag",
                    "begin": "<a>",
                    "content": {"type": "regex", "pattern": "[a-z]+"},
                    "end": "</a>",
                },
            }
        ),
        "<a>text</a>",
    ),
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Base classes like theirs, and with ``--full`` their own."""
    ways = ["like theirs", *["their own"] * bool(metafunc.config.getoption("--full"))]
    for name in {"types", "base"} & set(metafunc.fixturenames):
        metafunc.parametrize(name, ways, indirect=True, scope="module")


@pytest.fixture(scope="module")
def types(request: pytest.FixtureRequest) -> Iterator[Any]:
    """vLLM's base classes."""
    yield from _bases("vllm", fake_vllm, request)


@pytest.fixture(scope="module")
def base(request: pytest.FixtureRequest) -> Iterator[Any]:
    """SGLang's base classes."""
    yield from _bases("sglang", fake_sglang, request)


def _bases(host: str, fake: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "like theirs":
        yield fake()
        return
    with real(host) as module:
        yield module


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """The embedded one."""
    found = load_tokenizer()
    assert isinstance(found, Tokenizer)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What all services share."""
    return tmp_path_factory.mktemp("artifacts")


@pytest.fixture
def vllm_backend(types: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The engine's backend."""
    monkeypatch.setenv("CONSTRAIN_FOLDER", str(folder))
    backend = vllm.backend_class(types)(None, default_path(), PADDED)
    yield backend
    backend.destroy()


def compiled(backend: Any, types: Any, kind: str, stop: set[int]) -> Any:
    """The grammar of one of the kinds."""
    option = types.StructuredOutputOptions[kind]
    return backend.compile_grammar(option, KINDS[kind][0], stop)


def test_vllm_requests_of_every_kind_are_compiled(
    vllm_backend: Any, types: Any, tokenizer: Tokenizer
) -> None:
    """A member is taken to its end by the request's own stop token, and what is after ignored."""
    for kind, (_, member) in KINDS.items():
        grammar = compiled(vllm_backend, types, kind, {STOP, tokenizer.eos[0]})
        assert isinstance(grammar, types.StructuredOutputGrammar)
        ids = tokenizer.encode(member)
        assert grammar.validate_tokens([*ids, STOP, 11]) == [*ids, STOP]
        assert grammar.accept_tokens("r", [*ids, STOP, 11, 12]), kind
        assert grammar.is_terminated()
        assert grammar.validate_tokens([11]) == []
        grammar.rollback(1)
        assert not grammar.is_terminated()
        row = masks(2, word_count(PADDED))
        grammar.fill_bitmask(row, 1)
        assert {STOP, tokenizer.eos[0]} <= set(
            tokenset.to_ids(row.array[1].view(np.uint32)).tolist()
        )
        assert row.array[0].tolist() == [-1] * word_count(PADDED)
        assert not tokenset.to_ids(row.array[1].view(np.uint32))[-1] >= tokenizer.vocab_size
        assert not grammar.accept_tokens("r", [11, 12])
        grammar.reset()
        assert grammar.validate_tokens(ids) == ids


def test_vllm_windows_of_drafts_leave_the_grammar_as_it_was(
    vllm_backend: Any, types: Any, full: bool
) -> None:
    """300 random windows: what is validated is what is taken and, for what is refused, what alone
    may come there; a rollback, also over the end, gives the same row bit for bit."""
    rng, ends = random.Random(4), 0
    for kind in ("JSON_OBJECT", "REGEX"):
        grammar = compiled(vllm_backend, types, kind, {STOP})
        rows = masks(2, word_count(PADDED))
        for _ in range(300 if full else 60):
            grammar.fill_bitmask(rows, 0)
            before, depth = rows.array[0].copy(), grammar.matcher.position
            draft: list[int] = []
            while len(draft) < rng.randrange(1, 8) and not grammar.is_terminated():
                allowed = tokenset.to_ids(grammar.matcher.mask())
                token = int(rng.choice(allowed)) if rng.random() < 0.85 else rng.randrange(PADDED)
                draft.append(STOP if STOP in allowed and rng.random() < 0.3 else token)
                if not grammar.accept_tokens("r", draft[-1:]):
                    break
            ends += grammar.is_terminated()
            taken = grammar.matcher.position - depth
            grammar.rollback(taken)
            found = grammar.validate_tokens(draft)
            assert len(found) <= len(draft)
            assert found[:taken] == draft[:taken]
            matcher = grammar.matcher.fork()
            matcher.accept(found[:taken])
            for token in found[taken:]:
                assert tokenset.to_ids(matcher.mask()).tolist() == [token]
                matcher.advance(token)
            grammar.fill_bitmask(rows, 1)
            assert np.array_equal(before, rows.array[1])
            if taken and draft[taken - 1] != STOP:
                grammar.accept_tokens("r", draft[:1])
    assert ends > 3


def test_vllm_masks_of_many_threads_are_those_of_one(
    vllm_backend: Any, types: Any, tokenizer: Tokenizer
) -> None:
    """Eight threads fill rows of grammars that share an artifact, as above 128 requests."""
    texts = ['{"a": [1, 2, {"b": ', '{"name": "', "{", '{"x": {"y": {"z": [', '{"é": 1.5e'] * 8
    grammars = [compiled(vllm_backend, types, "JSON_OBJECT", {STOP}) for _ in texts]
    for grammar, text in zip(grammars, texts, strict=True):
        assert grammar.accept_tokens("r", tokenizer.encode(text))
    alone = masks(5, word_count(PADDED))
    together = masks(len(texts), word_count(PADDED))
    barrier = threading.Barrier(8)

    def fill(thread: int) -> None:
        barrier.wait()
        for i in range(thread, len(texts), 8):
            grammars[i].fill_bitmask(together, i)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(fill, range(8)))
    other = compiled(vllm_backend, types, "JSON_OBJECT", {STOP})
    for i in range(5):
        other.reset()
        other.accept_tokens("r", tokenizer.encode(texts[i]))
        other.fill_bitmask(alone, i)
    assert np.array_equal(together.array, np.tile(alone.array, (8, 1)))


@pytest.mark.quick
def test_a_vllm_that_calls_otherwise_is_refused() -> None:
    """Whatever its version: methods that there are not, and other arguments; fewer are no harm."""
    types = fake_vllm()
    types.StructuredOutputGrammar.__abstractmethods__ |= {"another"}
    types.StructuredOutputGrammar.another = None
    with pytest.raises(RuntimeError, match="another is not there, or not known"):
        vllm.backend_class(types)
    types = fake_vllm()
    types.StructuredOutputGrammar.__abstractmethods__ -= {"reset"}
    types.StructuredOutputGrammar.rollback = lambda self, number: None
    assert vllm.backend_class(types)
    types.StructuredOutputGrammar.rollback = lambda self, number, why: None
    with pytest.raises(RuntimeError, match=r"rollback has other arguments"):
        vllm.backend_class(types)

    class Manager:
        """One that makes its backends otherwise."""

        def grammar_init(self, request: Any, more: Any) -> None:
            """Not called."""

    with pytest.raises(RuntimeError, match=r"Manager\.grammar_init has other arguments"):
        vllm.wrap(Manager, Params, None, KeyError)


class Params(SimpleNamespace):
    """Sampling parameters with structured outputs of one kind."""

    def __init__(self, **said: Any) -> None:
        fields = dict.fromkeys((*vllm._FIELDS, *vllm._FLAGS))
        super().__init__(structured_outputs=SimpleNamespace(**{**fields, **said}, _backend=None))

    def _validate_structured_outputs(self, *given: Any) -> None:
        raise AssertionError("vLLM's own check is not called")


@pytest.mark.quick
def test_vllm_is_wrapped_once_and_checks_requests_where_they_come_in() -> None:
    """The engine has our backend before its own branches look; a wrong grammar is a client's
    error, and so is what would not be enforced."""

    class Manager:
        """vLLM's."""

        backend: Any = None
        backend_name: Any = None
        tokenizer = None
        vllm_config = SimpleNamespace(model_config=SimpleNamespace(get_vocab_size=lambda: PADDED))

        def grammar_init(self, request: Any) -> None:
            assert request.params.structured_outputs._backend == self.backend_name

    made: list[int] = []
    for _ in range(2):
        vllm.wrap(Manager, Params, lambda config, _, size: made.append(size) or "ours", KeyError)
    config = SimpleNamespace(is_diffusion=False)
    good = Params(regex="[a-z]+", disable_any_whitespace=False)
    good._validate_structured_outputs(config, "config", "tokenizer")
    manager = Manager()
    for _ in range(2):
        manager.grammar_init(SimpleNamespace(structured_output_request=1, params=good))
    assert (made, manager.backend_name) == ([PADDED], "constrain")
    for bad, message in (
        (Params(grammar="root ::= nothing"), "no dialect reads this grammar"),
        (Params(regex="a", whitespace_pattern=" "), "whitespace_pattern"),
        (Params(json="{}", whitespace_pattern="x"), "whitespace_pattern"),
        (Params(choice=[]), "choice"),
    ):
        with pytest.raises(KeyError, match=message):
            bad._validate_structured_outputs(config, "config", "tokenizer")
    Params()._validate_structured_outputs(config, None, "tokenizer")
    with pytest.raises(KeyError, match="'guidance' is asked for"):
        good._validate_structured_outputs(config, SimpleNamespace(backend="guidance"), "tokenizer")


@pytest.mark.quick
def test_flags_of_a_vllm_request_reach_the_engine() -> None:
    """All that it gets is the text of a schema, so they stand there."""
    for flags, accepted, refused in (
        ({"disable_any_whitespace": True}, '{"a":1}', '{"a": 1}'),
        ({"whitespace_pattern": "[ ]?"}, '{"a": 1}', '{"a":  1}'),
        ({"disable_additional_properties": True}, '{"a":\n1}', '{"b": 1}'),
    ):
        for kind in (
            {"json": '{"properties": {"a": {}}, "type": "object"}'},
            {"json_object": True},
        ):
            fields = vllm.carrying({**kind, **flags})
            assert list(fields) == ["json"]
            request = vllm._request(vllm.structured_outputs_of("JSON", fields["json"]))
            members = members_of(request.text, request.dialect, request.options.schema)
            assert members.accepts(accepted)
            if "json" in kind or "disable_additional_properties" not in flags:
                assert not members.accepts(refused)
    with pytest.raises(ConstrainError, match="beside a schema alone"):
        vllm.carrying({"regex": "a", "whitespace_pattern": " "})


@pytest.mark.quick
def test_engines_are_started_with_flags_and_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of vLLM's configuration, of SGLang's arguments, and one for each option of schemas."""
    config = SimpleNamespace(backend="auto", disable_any_whitespace=True)
    assert vllm.flags_of(config) == {"disable_any_whitespace": True}
    arguments = SimpleNamespace(constrained_json_whitespace_pattern="[ ]?")
    assert sglang.flags_of(arguments) == {"whitespace_pattern": "[ ]?"}
    with pytest.raises(ValueError, match="has to match white space"):
        sglang.flags_of(SimpleNamespace(constrained_json_whitespace_pattern="a"))
    values = {"draft": "7", "order": "any", "any_limit": "9", "whitespace": "3", "ascii": "true"}
    values |= {"integer": "decimal", "formats": "ignore", "unique": "ignore", "escapes": "any"}
    values |= {"max_count": "8", "max_conj": "70", "schemas": "https://a/=b c"}
    for name, value in values.items():
        monkeypatch.setenv(f"CONSTRAIN_{name.upper()}", value)
    found = request_for({"json_schema": "{}"}).options.schema
    folders = (("https://a/", "b"), ("", "c"))
    numbers = {"any_limit": 9, "max_count": 8, "max_conj": 70, "ascii": True, "schemas": folders}
    assert SchemaOptions(**{**values, **numbers}) == found


def test_vllm_processor_follows_requests_through_the_batch(
    tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Added, moved, swapped and removed rows have their own masks; other requests' logits stay."""
    torch = pytest.importorskip("torch", reason="torch is not there")
    from constrain.compiler import compile_grammar

    for name, text in (("digits", "[0-9]{3}"), ("letters", "[a-z]{3}")):
        compile_grammar(text, dialect="regex", tokenizer=tokenizer).save(tmp_path / f"{name}.cst")
    processor = vllm.processor_class(object)(None, None, False)

    def params(name: str | None) -> Any:
        asked = None if name is None else {"constrain": {"artifact": str(tmp_path / f"{name}.cst")}}
        return SimpleNamespace(extra_args=asked, all_stop_token_ids={STOP})

    def update(removed: Any = (), added: Any = (), moved: Any = ()) -> None:
        processor.update_state(SimpleNamespace(removed=removed, added=added, moved=moved))

    def kinds(count: int) -> list[str]:
        logits = processor.apply(torch.zeros(count, PADDED)).numpy()
        one, other = tokenizer.encode("1")[0], tokenizer.encode("a")[0]
        names = {(True, True): "free", (True, False): "digits", (False, True): "letters"}
        finite = np.isfinite(logits)
        return [names.get((row[one], row[other]), "end") for row in finite]

    for name in ("digits", "letters", None):
        type(processor).validate_params(params(name))
    with pytest.raises(ValueError, match="No such file"):
        type(processor).validate_params(params("missing"))
    written: list[list[int]] = [[], [], []]
    names = ("digits", "letters", None)
    update(added=[(i, params(n), [5], written[i]) for i, n in enumerate(names)])
    assert kinds(3) == ["digits", "letters", "free"]
    swap, move = SimpleNamespace(name="SWAP"), SimpleNamespace(name="UNIDIRECTIONAL")
    update(moved=[(0, 1, swap)])
    assert kinds(3) == ["letters", "digits", "free"]
    written[1] += tokenizer.encode("abc")
    processor.update_state(None)
    assert kinds(3) == ["end", "digits", "free"]
    written[1].append(STOP)
    processor.update_state(None)
    assert kinds(3) == ["free", "digits", "free"]
    update(removed=[0, 2], moved=[(1, 0, move)])
    assert kinds(2) == ["digits", "free"]
    written[0].append(-1)
    with pytest.raises(RuntimeError, match="no-async-scheduling"):
        processor.update_state(None)


@pytest.fixture
def sglang_backend(base: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The backend of a model that thinks until the token 77 and 78."""
    monkeypatch.setenv("CONSTRAIN_FOLDER", str(folder))
    backend = sglang.backend_class(base)(default_path(), {STOP}, (77, 78))
    yield backend
    backend._service.close()


KEYS = {
    "json": ("JSON", "json"),
    "any": ("JSON_OBJECT", "json"),
    "regex": ("REGEX", "regex"),
    "ebnf": ("GRAMMAR", "ebnf"),
    "structural_tag": ("STRUCTURAL_TAG", "structural_tag"),
}


def test_sglang_requests_of_every_kind_are_compiled(
    sglang_backend: Any, base: Any, tokenizer: Tokenizer
) -> None:
    """From the cache, too, as copies that move by themselves; and what cannot be is told."""
    for kind, name in KEYS.values():
        spec, member = KINDS[kind]
        key = (name, spec or "$$ANY$$")
        value, cached = sglang_backend.get_cached_or_future_value(key, False)
        grammar = value.result()
        assert not cached
        assert isinstance(grammar, base.BaseGrammarObject)
        sglang_backend.set_cache(key, grammar)
        other, cached = sglang_backend.get_cached_or_future_value(key, False)
        assert cached
        for token in tokenizer.encode(member):
            other.accept_token(token)
        with pytest.raises(ValueError, match="is not allowed"):
            other.accept_token(PADDED - 1)
        other.accept_token(STOP)
        assert other.is_terminated()
        assert not grammar.is_terminated()
        other.rollback(1)
        assert not other.is_terminated()
    for key, message in (
        (("ebnf", "root ::= nothing"), "no dialect reads this grammar"),
        (("json", '{"type": 3}'), "json_schema:1:10"),
        (("regex", "(a"), "regex:1"),
    ):
        value, _ = sglang_backend.get_cached_or_future_value(key, False)
        assert isinstance(value.result(), base.InvalidGrammarObject)
        assert message in value.result().error_message


def test_sglang_grammars_begin_behind_the_thoughts(
    sglang_backend: Any, tokenizer: Tokenizer, full: bool
) -> None:
    """Any token may be thought; random windows that go over both ends are taken back exactly."""
    key = ("regex", KINDS["REGEX"][0])
    value, _ = sglang_backend.get_cached_or_future_value(key, True)
    grammar = value.result()
    ids = tokenizer.encode("2024-02")
    text = [5, 77, 77, 78, *ids, STOP]
    rows = masks(1, word_count(PADDED))
    seen = []
    for token in text:
        rows.array[:] = -1
        grammar.fill_vocab_mask(rows, 0)
        seen.append(rows.array[0].copy())
        grammar.accept_token(token)
    seen.append(np.full_like(seen[0], -1))  # After the end nothing is masked.
    assert [bool((row == -1).all()) for row in seen[:-1]] == [True] * 4 + [False] * (len(ids) + 1)
    assert grammar.is_terminated()
    rng, place = random.Random(9), len(text)
    for _ in range(300 if full else 100):
        back = rng.randrange(0, place + 1)
        grammar.rollback(back)
        place -= back
        assert grammar.is_thinking == (place < 4)
        twin = grammar.copy()
        rows.array[:] = -1
        (grammar if rng.random() < 0.5 else twin).fill_vocab_mask(rows, 0)
        assert np.array_equal(rows.array[0], seen[place])
        for token in text[place : place + rng.randrange(1, 9)]:
            grammar.accept_token(token)
            place += 1
            if place == len(text):
                break
    assert not grammar.copy().is_thinking or place < 4


def test_sglang_fills_rows_of_a_batch_together(sglang_backend: Any, tokenizer: Tokenizer) -> None:
    """Each row as by itself; rows of texts that have ended are left alone."""
    grammar = sglang_backend.dispatch_regex(KINDS["REGEX"][0])
    batch = [grammar.copy() for _ in range(4)]
    for i, text in enumerate(("", "2", "2024-", "2024-02")):
        for token in tokenizer.encode(text):
            batch[i].accept_token(token)
    batch[3].accept_token(STOP)
    together = masks(4, word_count(PADDED))
    entries = [SimpleNamespace(row=row, grammar=each) for row, each in enumerate(batch)]
    type(grammar).fill_vocab_mask_batched(entries, together)
    for row, each in enumerate(batch):
        alone = masks(4, word_count(PADDED))
        each.fill_vocab_mask(alone, row)
        assert np.array_equal(alone.array[row], together.array[row])
    assert (together.array[3] == -1).all()
    assert grammar.try_jump_forward(None) is None
