"""What several fuzzers change."""

import pytest
from support.fuzzing.samples import samples

from constrain.artifacts import Artifact


@pytest.fixture(scope="session")
def originals(tmp_path_factory: pytest.TempPathFactory, full: bool) -> dict[str, Artifact]:
    """Artifacts of every kind, of which mutated ones are made."""
    return samples(tmp_path_factory.mktemp("tokenizers"), large=full)
