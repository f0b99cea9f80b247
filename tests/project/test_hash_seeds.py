"""What is written of a grammar is the same in each process."""

import json

from support import ROOT, python


def test_nothing_that_is_written_depends_on_hashes() -> None:
    """Files of each engine, tables and drawings: sets of names are never gone through."""
    found = []
    for seed in ("1", "2"):
        ran = python(
            "-m",
            "support.project.all_writers",
            folder=ROOT / "tests",
            variables={"PYTHONHASHSEED": seed},
        )
        assert ran.returncode == 0, ran.stderr.decode()
        found.append(json.loads(ran.stdout))

    assert len(found[0]) > 15
    assert found[0] == found[1]
