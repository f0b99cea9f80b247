"""Every grammar of examples/ has a case file beside it, and all its cases hold."""

import json
from pathlib import Path

import pytest
from support import EXAMPLES, sampled

from constrain.cli.app import run
from constrain.compiler import Compiler, load_tokenizer
from constrain.compiler.dialects import dialect_of
from constrain.compiler.testing.cases import Kind
from constrain.compiler.testing.collect import beside
from constrain.compiler.testing.expectations import OF_TOKENS
from constrain.compiler.testing.format import parse
from constrain.compiler.tokenizers import default_path

# Without the project of examples/ci, which has its own tests.
GRAMMARS = sorted(
    path
    for path in EXAMPLES.rglob("*.*")
    if dialect_of(path.name) and path.relative_to(EXAMPLES).parts[0] != "ci"
)


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    """Of the embedded tokenizer."""
    return Compiler(load_tokenizer(default_path()))


def test_the_cases_of_all_examples_hold_and_cover_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Verdicts, places, expectations, and masks of the embedded tokenizer. All but edges inside
    strings, numbers and names is covered, as much as the gallery says."""
    monkeypatch.chdir(EXAMPLES)
    path = tmp_path / "results.json"
    code = run(["test", ".", "--coverage", "--format", "json", "--output", str(path)])
    found = json.loads(path.read_text(encoding="utf-8"))
    names = {grammar.relative_to(EXAMPLES).as_posix() for grammar in GRAMMARS}
    rows = (EXAMPLES / "README.md").read_text(encoding="utf-8").splitlines()

    failed = [c for f in found["files"] for c in f["cases"] if c["status"] != "passed"]
    assert failed == []
    assert code == 0
    covered = {entry["grammar"]: entry for entry in found["coverage"]}
    assert names <= covered.keys()
    for name in sorted(names):
        counts = covered[name]["counts"].items()
        assert [k for k, n in counts if n["covered"] < n["total"] and k != "edge"] == [], name
        row = next(row for row in rows if row.startswith("| [") and f"]({name})" in row)
        assert f" {covered[name]['percent']:g} %" in row, row


@pytest.mark.quick
def test_each_example_has_members_others_and_beginnings() -> None:
    """And several have cases about tokens."""
    assert len(GRAMMARS) >= 20
    with_tokens = 0
    for grammar in GRAMMARS:
        path = beside(str(grammar))
        assert path is not None, f"{grammar} has no cases"
        cases = parse(Path(path).read_text(encoding="utf-8"), path).cases
        kinds = [case.kind for case in cases]
        assert kinds.count(Kind.ACCEPT) > 1, path
        assert kinds.count(Kind.REJECT) > 1, path
        assert Kind.INCOMPLETE in kinds, path
        with_tokens += any(said.key in OF_TOKENS for case in cases for said in case.expectations)

    assert with_tokens > len(GRAMMARS) / 2


# Of Lark's grammars with a lexer that nest there are no canonical masks.
ANY = {"code.lark", "json.lark"}


@pytest.mark.filterwarnings("ignore::constrain.compiler.diagnostics.WeakerMasksWarning")
@sampled("grammar", [EXAMPLES / "chess" / "game.gbnf", EXAMPLES / "xml" / "drawing.w3c"], GRAMMARS)
def test_each_example_has_canonical_masks(grammar: Path, compiler: Compiler) -> None:
    """Of the embedded tokenizer, all but two."""
    text = grammar.read_text(encoding="utf-8")
    artifact = compiler.compile(text, dialect=dialect_of(grammar.name))

    assert artifact.manifest.tokenization == ("any" if grammar.name in ANY else "canonical")
    assert artifact.matcher().mask().any()
