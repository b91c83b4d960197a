"""A worker of `weft up` that drains: who kills it changes nothing, and it is not started again."""

import os
import signal
import socket
from pathlib import Path

import pytest
from weft_siege.processes import spawner_pids

from faults.waiting import until
from up.weft_up import Up, get, kill, post, prove_audit, temporary_home, up


def state_of(home: Path) -> str:
    return str(get(home, f"/v1/workers/{socket.gethostname()}")["state"])


def drained(weft: Up) -> None:
    """Wait until the worker has ended, and the supervisor knows it."""
    weft.until("up.role_drained", started="worker")
    assert state_of(weft.home) == "deleted"


@pytest.mark.parametrize("victims", ["agent", "agent and driver"])
def test_killed_worker_goes_on_draining(victims: str) -> None:
    with temporary_home() as home, up(home) as weft:
        weft.until_ready()
        go = home.parent / "go"
        job = {"script": f"until [ -e {go} ]; do sleep 0.02; done"}
        batch = post(home, "/v1/batches", {"jobs": [job]})["id"]
        until(lambda: get(home, f"/v1/batches/{batch}")["n_running"], "the job runs")
        path = f"/v1/workers/{socket.gethostname()}/drain"
        assert post(home, path, {"reason": "old"})["state"] == "draining"
        os.kill(weft.pid("worker"), signal.SIGKILL)
        if "driver" in victims:
            os.kill(weft.pid("driver"), signal.SIGKILL)
        weft.until_ready_again("worker")
        assert state_of(home) == "draining"
        go.touch()
        drained(weft)
        until(lambda: get(home, f"/v1/batches/{batch}")["complete"], "the batch is complete")
        attempts = get(home, f"/v1/batches/{batch}/jobs/1/attempts")["items"]
        prove_audit(home)

        assert [one["state"] for one in attempts] == ["success"]


def test_spawner_that_is_killed_with_its_job_ends_the_drain() -> None:
    with temporary_home() as home, up(home) as weft:
        weft.until_ready()
        batch = post(home, "/v1/batches", {"jobs": [{"command": ["sleep", "1000"]}]})["id"]
        until(lambda: get(home, f"/v1/batches/{batch}")["n_running"], "the job runs")
        post(home, f"/v1/workers/{socket.gethostname()}/drain", {})
        pids = spawner_pids(home)
        kill(pids)
        drained(weft)

        assert pids
        assert get(home, f"/v1/batches/{batch}")["n_ready"] == 1
