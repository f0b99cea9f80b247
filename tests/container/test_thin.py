"""Thin artifacts: the tokenizer's tables in one file, which the artifacts of many grammars map."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import pickle
import random
from pathlib import Path
from typing import Any

import pytest
from support.cli import Cli
from support.wordpiece import tokenizer_of

from constrain.artifacts import Artifact, ArtifactError, load
from constrain.artifacts.container.sections import encode
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar

NESTED = 'start ::= "[" (start ("," " "? start)*)? "]" | #"[a-z]{1,4}";'
OTHER = 'start ::= "(" start ")" | #"[0-9]{1,3}";'
MUNCH = 'start: "[" (start ("," start)*)? "]" | WORD\nWORD: /[a-z]+/\n%ignore " "\n'

# Two grammars of each kind, and how they are compiled.
PAIRS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "byte DFA": ("[a-z]{2,5}", "[0-9]+-?", "regex", {"tokenization": "any"}),
    "token-dfa": ("[a-z]{2,5}", "[0-9]+-?", "regex", {"method": "direct"}),
    "canonical DFA": ("[a-z ]{2,9}", "[0-9]{4}(-| é)[0-9]+", "regex", {"method": "cartesian"}),
    "network": (NESTED, OTHER, "kbnf", {"tokenization": "any"}),
    "canonical network": (NESTED, NESTED.replace("4", "5"), "kbnf", {"tokenization": "canonical"}),
    "without masks": (NESTED, OTHER, "kbnf", {"tokenization": "canonical", "prewarm": 0}),
    "earley": (NESTED, OTHER, "kbnf", {"tokenization": "any", "engine": "earley"}),
    "greedy": (MUNCH, MUNCH.replace("a-z", "0-9"), "lark", {"tokenization": "any"}),
}


def walked(artifact: Artifact, seed: int) -> list[tuple[bytes, int]]:
    """Masks along a random text, and the tokens taken."""
    rng, matcher, found = random.Random(seed), artifact.matcher(), []
    for _ in range(12):
        allowed = set(tokenset.to_ids(matcher.mask()).tolist()) - set(artifact.manifest.eos)
        if not allowed:
            break
        token = rng.choice(sorted(allowed))
        found.append((matcher.mask().tobytes(), token))
        matcher.advance(token)
    return found


@pytest.mark.parametrize("kind", PAIRS)
def test_grammars_of_one_tokenizer_share_a_file_and_masks_are_the_same(
    kind: str, default_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    """Both name one file of tables; what is read again is what was written, masks included."""
    *texts, dialect, options = PAIRS[kind]
    names = set()
    for number, text in enumerate(texts):
        wanted = {"dialect": dialect, "tokenizer": default_tokenizer, **options}
        plain = compile_grammar(text, **wanted)
        thin = compile_grammar(text, **wanted, thin=True)
        path = tmp_path / f"{number}.cst"
        names.add(thin.save_thin(path))
        found = load(path, verify=True)

        assert thin.to_bytes() == found.to_bytes()
        assert path.stat().st_size < len(plain.to_bytes())
        assert [walked(plain, seed) for seed in range(2)] == [walked(found, s) for s in range(2)]
    assert 1 == len(names)
    assert names == {path.name for path in tmp_path.glob("*.tok")}


def test_words_are_shared_as_well(tmp_path: Path) -> None:
    """WordPiece's vocabulary and indicators."""
    words = tokenizer_of(["a", "b", "##a", "##b", "ab", "##bb", "c"])
    for number, text in enumerate(("[ab]{1,6}( c)?", "a[ab]*")):
        made = compile_grammar(text, dialect="regex", tokenizer=words, thin=True)
        made.save_thin(tmp_path / f"{number}.cst")
        assert made.to_bytes() == load(tmp_path / f"{number}.cst", verify=True).to_bytes()
    assert 1 == len(list(tmp_path.glob("*.tok")))


@pytest.fixture
def thin(default_tokenizer: Tokenizer, tmp_path: Path) -> Path:
    """A thin artifact, its tables in another folder."""
    made = compile_grammar(
        "[a-z]{2}", dialect="regex", tokenizer=default_tokenizer, tokenization="any", thin=True
    )
    (tmp_path / "tables").mkdir()
    made.save_thin(tmp_path / "a.cst", tmp_path / "tables")
    return tmp_path / "a.cst"


@pytest.mark.quick
def test_tables_are_found_by_folder_or_by_name(thin: Path) -> None:
    """Also from bytes, and by whoever gets the artifact from another process."""
    tables = thin.with_name("tables")
    expected = walked(load(thin, shared=tables), 1)

    assert expected == walked(load(thin, shared=lambda name: tables / name), 1)
    assert expected == walked(load_bytes(thin.read_bytes(), shared=str(tables)), 1)
    assert expected == walked(pickle.loads(pickle.dumps(load(thin, shared=tables))), 1)


@pytest.mark.quick
def test_tables_that_are_not_there_are_named(thin: Path) -> None:
    """Where they were looked for, and what to say."""
    name = next(thin.with_name("tables").iterdir()).name
    with pytest.raises(ArtifactError, match=rf"{thin}: its tokenizer's tables .*{name}: No such"):
        load(thin)
    with pytest.raises(ArtifactError, match=f"it is thin.* {name}: say by 'shared'"):
        load_bytes(thin.read_bytes())


@pytest.mark.quick
def test_other_and_damaged_tables_are_refused(thin: Path) -> None:
    """By the digest in their name always, and each bit of them where checksums are verified."""
    tables = next(thin.with_name("tables").iterdir())
    whole = tables.read_bytes()
    tables.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ArtifactError, match="is damaged: its checksum does not match"):
        load(thin, shared=tables.parent, verify=True)
    tables.write_bytes(b"".join(encode({"kind": "tokenizer-tables"}, {})))
    with pytest.raises(ArtifactError, match="holds other tables than its name says"):
        load(thin, shared=tables.parent)
    tables.write_bytes(b"")
    with pytest.raises(ArtifactError, match="the file is empty"):
        load(thin, shared=tables.parent)
    tables.write_bytes(whole)
    assert walked(load(thin, shared=tables.parent, verify=True), 1)


@pytest.mark.quick
@pytest.mark.parametrize(
    "said",
    [
        {"file": "../a.tok", "sections": []},
        {"file": "/etc/passwd", "sections": []},
        {"file": f"{'a' * 64}.cst", "sections": []},
        {"file": f"{'a' * 64}.tok", "sections": ["dfa.table"]},
        {"file": f"{'a' * 64}.tok", "sections": "vocab.data"},
        {"file": None, "sections": None},
        [],
    ],
)
def test_a_manifest_names_no_other_file_and_no_other_section(said: Any, thin: Path) -> None:
    """Names are digests alone, whoever wrote the artifact."""
    whole = load(thin, shared=thin.with_name("tables"))
    chunks = encode(whole.manifest.to_json(), {}, shared=said)
    with pytest.raises(ArtifactError, match="the manifest is damaged: bad 'shared'"):
        load_bytes(b"".join(chunks), shared=thin.parent)


def test_the_command_writes_both_files_and_all_commands_read_them(cli: Cli, tmp_path: Path) -> None:
    """The second artifact finds the tables that the first one wrote."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.regex").write_text(f"{name}[0-9]+", encoding="utf-8")
        ran = cli(
            "compile",
            str(tmp_path / f"{name}.regex"),
            "--thin",
            "-o",
            str(tmp_path / f"{name}.cst"),
        )
        assert (0, True) == (ran.code, "tables are in" in ran.err), ran.err
    assert 1 == len(list(tmp_path.glob("*.tok")))
    assert 0 == cli("mask", str(tmp_path / "a.cst"), "--prefix", "a1").code
    ran = cli("compile", str(tmp_path / "a.regex"), "--thin", "-o", "-")
    assert (2, b"") == (ran.code, ran.out)
    assert "--thin writes two files" in ran.err
