"""Grammars out in the wild that ran away: an artifact, or a limit that is kept, for each tokenizer
and tokenization, whatever the limits are."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from support import sampled
from support.limits import measured

GRAMMARS = ("smiles.gbnf", "xml10.w3c", "xpath1.w3c", "c89.lark", "lua.lark")
CASES = tuple(product(GRAMMARS, ("gpt2", "qwen2_5"), ("any", "canonical")))
SMALL = {"seconds": 3.0, "memory": 200_000_000, "artifact-bytes": 5_000_000}


def compiled(
    data: Callable[[str], Path],
    case: tuple[str, str, str],
    artifact: Path,
    limits: dict[str, float],
) -> int:
    """The code of compiling one of them; that its limits are kept is asserted."""
    grammar, tokenizer, tokenization = case
    # By maximal munch there are no canonical masks.
    meaning = ["--meaning", "exact"] if tokenization == "canonical" else []
    found = measured(
        "compile",
        data(f"grammars/wild/{grammar}"),
        "--tokenizer",
        data(f"tokenizers/{tokenizer}"),
        "--tokenization",
        tokenization,
        *meaning,
        "--output",
        artifact,
        *(part for name, value in limits.items() for part in (f"--max-{name}", f"{value:.0f}")),
    )
    found.check(seconds=limits.get("seconds", 60.0), memory=limits.get("memory", 2e9))
    assert found.code in (0, 3), found.stderr
    assert artifact.exists() == (found.code == 0)
    if found.code == 0:
        assert artifact.stat().st_size <= limits.get("artifact-bytes", 256_000_000)
    else:
        assert "needs more than" in found.stderr and "in rule '" in found.stderr, found.stderr
    return found.code


@sampled("case", (("smiles.gbnf", "gpt2", "canonical"),), CASES)
def test_wild_grammars_keep_the_default_limits(
    case: tuple[str, str, str], data: Callable[[str], Path], tmp_path: Path
) -> None:
    """60 seconds and 2 GB; SMILES took 13 GB and two minutes."""
    code = compiled(data, case, tmp_path / "wild.cst", {})
    assert code == 0 or case[0] != "smiles.gbnf"


@sampled("case", (("smiles.gbnf", "qwen2_5", "canonical"), ("lua.lark", "gpt2", "any")), CASES)
def test_wild_grammars_keep_small_limits(
    case: tuple[str, str, str], data: Callable[[str], Path], tmp_path: Path
) -> None:
    """3 seconds, 200 MB, and a file of 5 MB."""
    compiled(data, case, tmp_path / "wild.cst", dict(SMALL))


@pytest.mark.parametrize("tokenization", ["any", "canonical"])
def test_what_is_too_large_without_rows_is_refused(
    tokenization: str, data: Callable[[str], Path], tmp_path: Path
) -> None:
    """No file of more bytes than asked for is written; the error names the rule."""
    case = "smiles.gbnf", "gpt2", tokenization
    assert compiled(data, case, tmp_path / "small.cst", {"artifact-bytes": 100_000}) == 3
