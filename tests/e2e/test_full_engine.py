"""An engine that takes few jobs at a time gets many: none is lost, none runs twice.

It stands for 100,000 jobs at an engine that takes 1,000, which take hours: what waits is forty
times as much as what is taken, not a hundred times.
"""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.conftest import Weft
from e2e.test_engines_together import gateway, told, weft
from runners.slurm_cluster import SlurmCluster, slurm_cluster

pytestmark = [pytest.mark.engine(name="slurm"), pytest.mark.timeout(900)]
__all__ = ["weft"]
TAKES = 50
JOBS = 40 * TAKES
WITHIN_S = 800.0


@pytest.fixture
def cluster() -> Iterator[SlurmCluster]:
    with slurm_cluster(CPUS="20", MORE="AccountingStorageEnforce=limits") as found:
        found.run("sacctmgr", "-i", "modify", "user", "root", "set", f"MaxSubmitJobs={TAKES}")
        yield found


def test_forty_times_what_the_engine_takes(
    weft: Weft, cluster: SlurmCluster, tmp_path: Path
) -> None:
    """What it refuses goes when there is room, and its accounting never had more at a time."""
    seen = tmp_path / "seen"
    job = {
        "executor": "slurm",
        "script": f"echo $WEFT_JOB >>{seen}",
        "count": JOBS,
        "resources": {"cpu": "100m", "memory": "16Mi"},
    }
    settings = {
        "WEFT_SLURM_CONF": str(cluster.conf),
        "WEFT_SLURM_DIRECTORY": str(tmp_path / "shared"),
        "WEFT_SLURM_LOOK_S": "0.2",
    }
    most = 0
    with gateway(weft, "slurm", tmp_path / "gateway.log", settings):
        batch, deadline = weft.submit(job), time.monotonic() + WITHIN_S
        while not (status := told(weft, "status", batch))["complete"]:
            assert time.monotonic() < deadline, (most, status)
            waiting = cluster.run("squeue", "-h", "-r", "-t", "PD,R,CG", "-o", "%i").split()
            most = max(most, len(waiting))
    ran = seen.read_text().split()
    refused = (tmp_path / "gateway.log").read_bytes()
    weft.told("audit", timeout_s=120)

    assert status["n_succeeded"] == len(ran) == len(set(ran)) == JOBS
    assert 0 < most <= TAKES
    assert b"worker.engine_away" in refused, "Slurm did refuse"
