"""Artifacts of the kinds network and earley: what is written, read, and answered."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from pathlib import Path

import numpy as np
import pytest
from grammars import ARITHMETIC, JSON, MARKUP, SAMPLES, STATEMENTS, random_grammars
from safetensors import numpy as safetensors_numpy
from support import python, tokenizer_json, tokenizer_of, written

from constrain.artifacts import Artifact, TokenRefusedError, load, tokenset
from constrain.artifacts.network_masks import NetworkMasks
from constrain.artifacts.prefix import boundaries
from constrain.artifacts.read import load_bytes
from constrain.compiler import Tokenizer, compile_grammar, load_tokenizer
from constrain.compiler.diagnostics import CheckError, LimitError, NotRegularError, TokenizerError
from constrain.compiler.limits import Limits
from constrain.compiler.package_parser import PREWARM
from constrain.compiler.parsers import Parser
from constrain.compiler.pipeline import build_artifact, build_engine

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


def allowed(artifact: Artifact, ids: list[int]) -> list[int]:
    """The ids that may follow."""
    matcher = artifact.matcher()
    for token_id in ids:
        matcher.advance(token_id)
    found: list[int] = tokenset.to_ids(matcher.mask()).tolist()
    return found


@pytest.fixture(scope="module")
def json_artifacts(default_tokenizer: Tokenizer) -> dict[str, Artifact]:
    """JSON by engine, with the built-in tokenizer."""
    return {engine: made(JSON, default_tokenizer, engine) for engine in ENGINES}


# --- what is written


@pytest.mark.parametrize("engine", ENGINES)
def test_reading_undoes_writing(
    json_artifacts: dict[str, Artifact], engine: str, tmp_path: Path
) -> None:
    """A file read back holds the same manifest and arrays, and is written to the same bytes;
    safetensors itself reads it too."""
    artifact = json_artifacts[engine]
    path = tmp_path / "json.cst"
    artifact.save(path)
    found = load(path, verify=True)
    assert artifact.manifest == found.manifest
    assert artifact.to_bytes() == found.to_bytes() == path.read_bytes()
    assert sorted(artifact.arrays) == sorted(safetensors_numpy.load_file(path))


def test_the_bytes_do_not_depend_on_the_hash_seed(json_artifacts: dict[str, Artifact]) -> None:
    """Two processes with other hash seeds write the same file."""
    program = (
        "import sys; from grammars import JSON; from test_parser_artifacts import made\n"
        "from constrain.compiler import load_tokenizer\n"
        "from constrain.compiler.tokenizers import default_path\n"
        "sys.stdout.buffer.write(made(JSON, load_tokenizer(default_path())).to_bytes())"
    )
    for seed in ("0", "7"):
        found = python(
            "-c", program, folder=Path(__file__).parent, variables={"PYTHONHASHSEED": seed}
        )
        assert json_artifacts["network"].to_bytes() == found.stdout, found.stderr.decode()


def test_stripped_artifacts_hold_no_text(default_tokenizer: Tokenizer) -> None:
    """Neither the grammar nor its terminals are inside; the masks are the same."""
    text = 'start ::= "<" start ">" | "needle";'
    plain, stripped = (made(text, default_tokenizer, strip=s) for s in (False, True))
    assert b"needle" not in stripped.manifest.to_json().__repr__().encode()
    assert allowed(plain, []) == allowed(stripped, [])


# --- which engine


@pytest.mark.parametrize(
    ("text", "kind"),
    [("s ::= 'a' s | 'b';", "byte-dfa"), ("s ::= 'a' s 'b' | '';", "network")],
)
def test_auto_takes_the_simplest_engine(text: str, kind: str, default_tokenizer: Tokenizer) -> None:
    """A regular grammar is a DFA, another one a network."""
    assert kind == made(text, default_tokenizer).manifest.kind


def test_auto_goes_on_where_a_limit_is_hit() -> None:
    """What is too large for a DFA is tried as a network, then Earley; the reason says so."""
    text = f"s ::= p 'a' {'t ' * 9} | '(' s ')'; p ::= #'(a|b)*'; t ::= 'a' | 'b';"
    limits = Limits(states=400)
    with pytest.raises(NotRegularError):
        build_engine(text, dialect="kbnf", engine="dfa")
    with pytest.raises(LimitError):
        build_engine(text, dialect="kbnf", limits=limits, engine="network")
    found = build_engine(text, dialect="kbnf", limits=limits)
    assert isinstance(found, Parser)
    assert "earley" == found.engine
    assert "is not known to be regular" in found.reason
    assert "more than 400 states" in found.reason


def test_all_engines_too_small_is_the_limit_of_the_first() -> None:
    """The error is about the automaton that was wanted first."""
    with pytest.raises(LimitError, match="5 states"):
        build_engine("s ::= #'[a-z]{20}' #'[0-9]{20}';", dialect="kbnf", limits=Limits(states=5))


def test_canonical_is_refused_where_it_is_not_there(default_tokenizer: Tokenizer) -> None:
    """Asked for, it is an error with the reason; by default there is a note."""
    end = default_tokenizer.added[default_tokenizer.eos[0]]
    for text, engine, reason in (
        ('root ::= "a" root "b" | ""', "earley", "canonical masks need the engine dfa or network"),
        (f'root ::= "a" root "b" | {end}', "network", "cannot follow token terminals"),
    ):
        recogniser = build_engine(text, dialect="gbnf", engine=engine)
        with pytest.raises(CheckError, match=reason):
            build_artifact(recogniser, default_tokenizer, tokenization="canonical")
        found = build_artifact(recogniser, default_tokenizer)
        assert "any" == found.artifact.manifest.tokenization
        assert any(reason in note for note in found.notes)


def test_every_byte_needs_a_token(tmp_path: Path) -> None:
    """A byte that no token spells alone could be a dead end: the tokenizer is refused."""
    tokenizer = tokenizer_of(tmp_path, "ab", added=[(2, "<eos>", True)])
    with pytest.raises(TokenizerError, match="no token for 0x63"):
        made("s ::= 'a' s 'b' | 'c';", tokenizer, eos=["<eos>"])


# --- masks


@pytest.mark.parametrize("text", SAMPLES, ids=["json", "arithmetic", "dyck", "markup", "code"])
def test_loaded_masks_are_those_in_memory(
    text: str, default_tokenizer: Tokenizer, full: bool
) -> None:
    """Along each sample: as compiled, as loaded, without a memo, and by Earley."""
    network = made(text, default_tokenizer, "network")
    recogniser = build_engine(text, dialect="kbnf", engine="network")
    cold = build_artifact(recogniser, default_tokenizer, tokenization="any", prewarm=0).artifact
    assert 0 == cold.manifest.counts["answers"]
    others = [network, load_bytes(network.to_bytes()), cold]
    others.append(made(text, default_tokenizer, "earley"))
    matchers = [artifact.matcher() for artifact in others]
    for token_id in default_tokenizer.encode(SAMPLES[text].decode())[: 60 if full else 6]:
        rows = {matcher.mask().tobytes() for matcher in matchers}
        assert 1 == len(rows)
        for matcher in matchers:
            matcher.advance(token_id)
    assert 1 == len({matcher.is_accepting for matcher in matchers})


@pytest.mark.parametrize("text", [JSON, ARITHMETIC, MARKUP, STATEMENTS], ids=str.split)
def test_nothing_is_missing_after_prewarming(text: str, default_tokenizer: Tokenizer) -> None:
    """Random texts of every depth find all answers in the file: the trie is never built."""
    artifact = made(text, default_tokenizer, "network")
    assert artifact.manifest.counts["answers"] < PREWARM
    rng = random.Random(5)
    for _ in range(20):
        matcher = artifact.matcher()
        for _ in range(60):
            ids = tokenset.to_ids(matcher.mask())
            if matcher.is_finished or not len(ids):
                break
            matcher.advance(int(rng.choice(ids)))
    assert "trie" not in vars(artifact)


def test_a_bounded_memo_is_filled_at_run_time(default_tokenizer: Tokenizer) -> None:
    """Few answers ahead, and all the same masks; the note says what was left."""
    recogniser = build_engine(JSON, dialect="kbnf")
    found = build_artifact(recogniser, default_tokenizer, tokenization="any", prewarm=20)
    assert any("worked out ahead" in note for note in found.notes)
    assert 20 <= found.artifact.manifest.counts["answers"] < 60
    ids = default_tokenizer.encode('[{"a": [1, {}]}')
    for end in range(len(ids)):
        whole = made(JSON, default_tokenizer)
        assert allowed(whole, ids[:end]) == allowed(found.artifact, ids[:end])


def test_masks_equal_earleys_on_random_grammars(tmp_path: Path, full: bool) -> None:
    """Whole masks of both kinds after loading, on random grammars that do not fit a DFA."""
    rng = random.Random(3)
    merges = ["a b", "ab c", "b b", "c a", "ca b", "a a"]
    tokenizer = tokenizer_of(tmp_path, "abc", merges, added=[(9, "<eos>", True)])
    seen = 0
    for text, _ in random_grammars(300 if full else 40, seed=17):
        found = []
        try:
            for engine in ENGINES:
                made_one = made(text, tokenizer, engine, eos=["<eos>"])
                found.append(load_bytes(made_one.to_bytes(), verify=True).matcher())
        except TokenizerError:  # It has an exception, which needs all bytes.
            continue
        for _ in range(8):
            left, right = (tokenset.to_ids(matcher.mask()).tolist() for matcher in found)
            assert left == right, text
            if not left:
                break
            token_id = rng.choice(left)
            for matcher in found:
                matcher.advance(token_id)
        seen += 1
    assert seen > 30


# --- matchers


@pytest.mark.parametrize("engine", ENGINES)
def test_matchers_do_not_disturb_each_other(
    json_artifacts: dict[str, Artifact], engine: str, default_tokenizer: Tokenizer
) -> None:
    """Two texts side by side, each with its masks, rollback included."""
    artifact = json_artifacts[engine]
    texts = ['[1, {"a": []}]', '{"b": [true, "x"]}']
    alone = []
    for text in texts:
        matcher, rows = artifact.matcher(), []
        for token_id in default_tokenizer.encode(text):
            rows.append(matcher.mask().tobytes())
            matcher.advance(token_id)
        alone.append(rows)
    both = [(artifact.matcher(), default_tokenizer.encode(text)) for text in texts]
    for place in range(max(len(ids) for _, ids in both)):
        for (matcher, ids), rows in zip(both, alone, strict=True):
            if place < len(ids):
                assert rows[place] == matcher.mask().tobytes()
                matcher.advance(ids[place])
    for (matcher, ids), rows in zip(both, alone, strict=True):
        assert matcher.is_accepting
        matcher.rollback(len(ids) - 2)
        assert rows[2] == matcher.mask().tobytes()
        for token_id in ids[2:]:
            matcher.advance(token_id)
        assert matcher.is_accepting


@pytest.mark.parametrize("engine", ENGINES)
def test_a_whole_match(engine: str, default_tokenizer: Tokenizer) -> None:
    """Forced tokens, a refused token, logits, the end, and going back behind it."""
    artifact = made("s ::= '<' s '>' | 'x' 'yz';", default_tokenizer, engine)
    eos = artifact.manifest.eos[0]
    matcher = artifact.matcher()
    for token_id in default_tokenizer.encode("<<x"):
        matcher.advance(token_id)
    with pytest.raises(TokenRefusedError):
        matcher.advance(eos)
    logits = np.zeros(artifact.vocab_size, dtype=np.float32)
    matcher.apply(logits)
    assert np.isfinite(logits).nonzero()[0].tolist() == tokenset.to_ids(matcher.mask()).tolist()
    for token_id in default_tokenizer.encode("yz>"):
        matcher.advance(token_id)
    (closing,) = default_tokenizer.encode(">")
    assert [closing] == matcher.forced_tokens()
    matcher.advance(closing)
    matcher.advance(eos)
    assert matcher.is_finished
    matcher.rollback(2)
    assert [closing] == tokenset.to_ids(matcher.mask()).tolist()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", ["s ::= '';", "s ::= 'a'?;", "s ::= 'a' s | '';"])
def test_the_empty_text(engine: str, text: str, default_tokenizer: Tokenizer) -> None:
    """ε is a member, also where it is the only one."""
    artifact = load_bytes(made(text, default_tokenizer, engine).to_bytes())
    matcher = artifact.matcher()
    assert matcher.is_accepting
    assert artifact.manifest.eos[0] in tokenset.to_ids(matcher.mask())
    assert ("a" in text) == (len(tokenset.to_ids(matcher.mask())) > 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_prefixes_of_bytes(json_artifacts: dict[str, Artifact], engine: str) -> None:
    """All boundaries of a text, in which tokens may end anywhere, are those of the other kind."""
    listed = {
        name: [(b.length, b.ids, b.allowed.tolist()) for b in boundaries(artifact, b'[{"a": tr')]
        for name, artifact in json_artifacts.items()
    }
    assert listed["network"] == listed[engine] != []


def test_a_new_text_gets_a_new_network_when_the_old_one_is_full(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is bounded over many texts; matchers that run keep what they have."""
    monkeypatch.setattr("constrain.artifacts.network_masks._CONFIGURATIONS", 5)
    artifact = made("s ::= '[' s ']' | 'x';", default_tokenizer)
    assert artifact.parsers is not None
    first = artifact.parsers.machine()
    assert isinstance(first, NetworkMasks)
    running = artifact.matcher()
    for token_id in default_tokenizer.encode("[ [ [ [ [ [ [".replace(" ", "")):
        running.advance(token_id)
    for octet in b"[" * 10:
        state = first.network.read(first.start, bytes([octet]) * 9)
        first.network.read(state, b"[")
    for depth in range(20):
        first.network.read(first.start, b"[" * depth)
    assert artifact.parsers.machine() is not first
    assert len(tokenset.to_ids(running.mask()))


# --- tokens that a grammar names


@pytest.mark.parametrize("engine", ENGINES)
def test_a_token_can_be_a_text_and_a_terminal(engine: str, tmp_path: Path) -> None:
    """Both readings are followed: <[2]> is the token ab, which is a text as well."""
    described = tokenizer_json("ab", ["a b"], added=[(3, "<eos>", True)])
    tokenizer = load_tokenizer(written(tmp_path, described))
    artifact = compile_grammar(
        'root ::= "a" root "b" | "ab" "a" | <[2]> "b"',
        dialect="gbnf",
        tokenizer=tokenizer,
        tokenization="any",
        engine=engine,
        eos=["<eos>"],
    )
    assert [0, 2] == allowed(artifact, [])
    # Behind ab: a (the text aba), or b (the terminal, and its b).
    assert [0, 1] == allowed(artifact, [2])
    assert [3] == allowed(artifact, [2, 1]) == allowed(artifact, [2, 0])
    # Behind a and b it is the text alone; behind a and ab both again, one level deeper.
    assert [0] == allowed(artifact, [0, 1])
    assert [0, 1, 2] == allowed(artifact, [0, 2])
    assert [1] == allowed(artifact, [0, 2, 1])
