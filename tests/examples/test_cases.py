"""Every grammar of examples/ has a case file beside it, and all its cases hold."""

from pathlib import Path

import pytest
from support import EXAMPLES

from constrain.cli.app import run
from constrain.compiler.dialects import dialect_of
from constrain.compiler.testing.cases import Kind
from constrain.compiler.testing.collect import beside
from constrain.compiler.testing.expectations import OF_TOKENS
from constrain.compiler.testing.format import parse

# Without the project of examples/ci, which has its own tests.
GRAMMARS = sorted(
    path
    for path in EXAMPLES.rglob("*.*")
    if dialect_of(path.name) and path.relative_to(EXAMPLES).parts[0] != "ci"
)


def test_the_cases_of_all_examples_hold(capsys: pytest.CaptureFixture[str]) -> None:
    """Verdicts, places, expectations, and masks of the embedded tokenizer."""
    assert run(["test", str(EXAMPLES)]) == 0, capsys.readouterr().out


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
