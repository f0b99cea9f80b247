"""A cluster does a batch as processes of this machine do: the same bytes, whoever is killed."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import ROOT

from constrain.compiler import CompileJob, CompileOptions, compile_job, compile_many
from constrain.compiler.batch.dask import ClusterError, dask_executor

REGEX = CompileOptions(dialect="regex", tokenization="any", prewarm=0, thin=True)
JOBS = [CompileJob(f"[a-e]{{{n}}}x", REGEX, None, f"job {n}") for n in range(1, 13)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers of this machine."""
    why = "pip install 'constrain-grammar[cluster]' for a cluster to test on"
    distributed = pytest.importorskip("distributed", reason=why)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as running:
        yield running


def content(folder: Path) -> dict[str, bytes]:
    """All files of a store."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_killed_worker_of_dask_costs_no_job(cluster: Any, tmp_path: Path) -> None:
    """Its jobs are run again; the store has the bytes that one process writes."""
    killed: list[int] = []

    def kill(_: Any) -> None:
        if not killed:
            killed.append(next(iter(cluster.workers.values())).process.pid)
            os.kill(killed[0], signal.SIGKILL)

    address = cluster.scheduler_address.removeprefix("tcp://")
    with dask_executor(f"dask://{address}") as executor:
        results = compile_many(JOBS, store=tmp_path / "dask", executor=executor, on_result=kill)
        again = compile_many(JOBS, store=tmp_path / "dask", executor=executor)
    for job in JOBS:
        compile_job(job, str(tmp_path / "here"))

    assert killed
    assert {each.status for each in results} <= {"compiled", "present"}
    assert {"present"} == {each.status for each in again}
    assert content(tmp_path / "here") == content(tmp_path / "dask")


@pytest.mark.quick
@pytest.mark.parametrize("url", ["spark://host", "dask://"])
def test_what_is_no_cluster_is_refused(url: str) -> None:
    """By its URL, before anything is imported."""
    with pytest.raises(ClusterError, match="expected dask://HOST:PORT"), dask_executor(url):
        pass


def test_ray_does_jobs_in_four_lines(tmp_path: Path) -> None:
    """Those of the documents."""
    ray = pytest.importorskip("ray", reason="pip install ray for a cluster of Ray to test on")
    jobs = JOBS[:3]
    code = re.findall(
        r"```python\n(.*?)```", (ROOT / "examples/cluster/README.md").read_text(), re.S
    )
    ray.init(num_cpus=1, include_dashboard=False)
    try:
        found: dict[str, Any] = {"jobs": jobs}
        exec(code.replace("s3://bucket/grammars", str(tmp_path)), found)
    finally:
        ray.shutdown()

    assert ["compiled"] * 3 == [each.status for each in found["results"]]


@pytest.mark.quick
def test_shares_of_a_manifest_are_all_jobs() -> None:
    """As many as it has pods."""
    text = (ROOT / "examples/cluster/indexed-job.yaml").read_text(encoding="utf-8")

    assert re.findall(r"completions: (\d+)", text) == re.findall(
        r"JOB_COMPLETION_INDEX/(\d+)", text
    )
    assert "completionMode: Indexed" in text
