"""A bad node behind a gateway is avoided and shown; what attempts used is in their history."""

import time
from pathlib import Path

import pytest

from contexts import fixture_of
from e2e.conftest import Weft
from e2e.test_engines_together import gateway, told, weft
from runners.slurm_cluster import SlurmCluster, slurm_cluster

pytestmark = [pytest.mark.engine(name="slurm"), pytest.mark.timeout(600)]
__all__ = ["weft"]
BAD = "n1"
SCRIPT = f"""
[ "$SLURMD_NODENAME" != {BAD} ] || exit 1
i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done
"""
BATCHES = 4
WITHIN_S = 300.0
cluster = fixture_of(slurm_cluster, "module")


def test_bad_node_is_avoided_and_shown(weft: Weft, cluster: SlurmCluster, tmp_path: Path) -> None:
    """The gateway goes on to take jobs, which succeed on the other node."""

    def submit(count: int) -> str:
        job = {
            "name": "one",
            "executor": "slurm",
            "script": SCRIPT,
            "count": count,
            "resources": {"cpu": "100m", "memory": "16Mi"},
        }
        return weft.submit(job)

    settings = {
        "WEFT_SLURM_CONF": str(cluster.conf),
        "WEFT_SLURM_DIRECTORY": str(tmp_path / "shared"),
        "WEFT_SLURM_LOOK_S": "0.2",
    }
    with gateway(weft, "slurm", tmp_path / "gateway.log", settings):
        deadline = time.monotonic() + WITHIN_S
        while not (avoids := told(weft, "worker", "show", "slurm")["avoids"]):
            assert time.monotonic() < deadline
            for batch in [submit(8) for _ in range(BATCHES)]:
                weft.run("wait", batch, timeout_s=WITHIN_S)
        shown = weft.run("worker", "show", "slurm").stdout.decode()
        later = submit(6)
        weft.run("wait", later, timeout_s=WITHIN_S)
        status = told(weft, "status", later)
        last = told(weft, "status", f"{later}.j1")["attempts"][-1]

    assert [one["node"] for one in avoids] == [BAD]
    assert "failed at once here" in avoids[0]["reason"]
    assert f"{BAD} until " in shown
    assert (status["n_succeeded"], status["n_jobs"]) == (6, 6)
    assert f"on {BAD}" not in last["message"]
    assert last["cpu_ms"] > 0
    assert told(weft, "worker", "show", "slurm")["state"] != "cordoned"
