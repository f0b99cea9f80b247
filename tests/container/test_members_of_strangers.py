"""Commands that go back to the grammar of an artifact which a stranger wrote."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.cli import Cli

from constrain.artifacts import Artifact
from constrain.artifacts.errors import ArtifactError
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.options import options_of

pytestmark = pytest.mark.quick


@pytest.fixture
def artifact(default_tokenizer: Tokenizer) -> Artifact:
    """A file with a byte DFA."""
    options = {"tokenization": "any", "prewarm": 0, "engine": "dfa"}
    return compile_grammar("[ab]+c", dialect="regex", tokenizer=default_tokenizer, **options)


def test_no_member_is_drawn_where_no_state_ends(artifact: Artifact, cli: Cli) -> None:
    """All states of a stranger's automaton may lead nowhere."""
    nowhere = np.zeros_like(artifact.arrays["dfa.accepting"])
    arrays = {**artifact.arrays, "dfa.accepting": nowhere}
    Path("x.cst").write_bytes(Artifact(artifact.manifest, arrays).to_bytes())

    for words in (("--seed", "3"), ("--shortest",), ("--all",)):
        drawn = cli("sample", "x.cst", *words)
        assert (1, "no member" in drawn.err) == (drawn.code, True)


def test_options_that_nobody_can_have_had_are_damage(artifact: Artifact) -> None:
    """Whoever reads the grammar once more is told by the error of all damaged files."""
    with pytest.raises(ArtifactError, match="tokenization must be"):
        options_of(replace(artifact.manifest, tokenization="x"))
