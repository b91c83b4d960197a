"""A pool that grows by pilots on a real Slurm, runs jobs there and shrinks."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.pool_site import PoolSite, pool_site
from runners.slurm_cluster import slurm_cluster

pytestmark = [pytest.mark.engine(name="slurm"), pytest.mark.timeout(900)]
POOL = """
[[pool]]
name = "hpc"
provider = "slurm"
max_workers = 3
idle_s = 2
stale_s = 120
min_work_s = 5
[pool.options]
program = "{program}"
submissions_per_s = 2
[[pool.flavours]]
name = "pilot"
cpu = 1
memory = "512Mi"
walltime_s = {walltime_s}
"""
SMALL = {"cpu": "250m", "memory": "64Mi"}
"""Several of them have room in a pilot."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[PoolSite]:
    with slurm_cluster() as cluster:
        settings = {
            "WEFT_SLURM_CONF": str(cluster.conf),
            "WEFT_SLURM_DIRECTORY": str(tmp_path / "shared"),
        }
        with pool_site(tmp_path, settings, connect="WEFT_SLURM_CONNECT") as weft:
            yield PoolSite(weft, tmp_path, cluster)


def test_a_pool_of_pilots_waits_grows_runs_and_ends(site: PoolSite) -> None:
    site.apply(POOL, walltime_s=600)
    short = b"jobs: [{command: ['true'], queue: hpc}]"
    refused = site.weft.run("submit", "-", stdin=short)
    assert refused.returncode != 0
    assert b"a time limit (timeout_s) of at most 300 s" in refused.stderr
    site.cluster.run("scontrol", "update", "PartitionName=all", "State=DOWN")
    job = {"script": "echo $SLURMD_NODENAME", "timeout_s": 120, "resources": {"cpu": "250m"}}
    batch = site.submit(**job, count=200)
    waiting: list[Any] = []

    def is_waiting() -> bool:
        waiting[:] = site.machines()
        return bool(waiting) and all("PartitionDown" in (one["waits"] or "") for one in waiting)

    site.until(is_waiting, "pilots wait")
    assert "PartitionDown" in site.weft.run("pool", "show", "hpc").stdout.decode()
    (cause, *_) = site.told("why", f"{batch}.j1")["causes"]
    assert "waits at its provider" in cause["text"]
    assert "PartitionDown" in cause["text"]
    site.cluster.run("scontrol", "update", "PartitionName=all", "State=UP")
    site.until(lambda: site.told("status", batch)["complete"], "all jobs have run")
    status = site.told("status", batch)
    assert (status["n_succeeded"], status["n_jobs"]) == (200, 200)
    assert site.told("status", f"{batch}.j200")["attempts"][-1]["worker"].startswith("hpc-")
    site.until(lambda: not site.machines(), "the pilots end")
    assert site.cluster.run("squeue", "-h") == ""
    site.weft.told("audit")
    stays = [one.name for one in (site.path / "shared").rglob("*") if one.name == "token"]
    assert stays == []


def test_a_pilot_near_its_end_takes_no_job_that_would_outlast_it(site: PoolSite) -> None:
    """A job that needs more time gets another pilot; one that fits runs on the old one."""
    site.apply(POOL, walltime_s=300)
    held = f"while [ ! -e {site.path}/end ]; do sleep 0.1; done"
    held_job = f"{site.submit(script=held, timeout_s=120, resources=SMALL)}.j1"
    site.until(lambda: site.told("status", held_job)["state"] == "running", "it runs")
    ((old, *_), *_) = [(one["machine"],) for one in site.machines()]
    begun = time.monotonic()
    site.until(lambda: time.monotonic() > begun + 62, "a minute has passed")
    soon = site.submit(command=["true"], timeout_s=10, resources=SMALL)
    late = site.submit(command=["true"], timeout_s=120, resources=SMALL)
    jobs = [f"{one}.j1" for one in (late, soon)]
    site.until(
        lambda: all(site.told("status", one)["state"] == "success" for one in jobs), "both ran"
    )
    ran = [site.told("status", one)["attempts"][-1]["worker"] for one in jobs]
    (site.path / "end").touch()
    assert ran[0] != old
    assert ran[1] == old
    site.weft.told("audit")
