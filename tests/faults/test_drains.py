"""A worker of `weft up` that drains: who kills it changes nothing, and it is not started again."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from faults.waiting import until
from up.weft_up import Up, get, kill, post, prove_audit, temporary_home, up
from weft_siege.processes import spawner_pids


def state_of(home: Path) -> str:
    return str(get(home, f"/v1/workers/{socket.gethostname()}")["state"])


@contextmanager
def draining(script: str) -> Iterator[tuple[Up, int]]:
    """Give a weft whose worker drains, and the batch whose job still runs there."""
    with temporary_home() as home, up(home) as weft:
        weft.until_ready()
        batch = post(home, "/v1/batches", {"jobs": [{"script": script}]})["id"]
        until(lambda: get(home, f"/v1/batches/{batch}")["n_running"], "the job runs")
        path = f"/v1/workers/{socket.gethostname()}/drain"
        assert post(home, path, {"reason": "old"})["state"] == "draining"
        yield weft, batch


def drained(weft: Up) -> None:
    """Wait until the worker has ended, and the supervisor knows it."""
    weft.until("up.role_drained", started="worker")
    assert state_of(weft.home) == "deleted"


@pytest.mark.parametrize("victims", ["worker", "worker and driver"])
def test_killed_worker_goes_on_draining(victims: str, tmp_path: Path) -> None:
    go = tmp_path / "go"
    with draining(f"until [ -e {go} ]; do sleep 0.02; done") as (weft, batch):
        kill(weft.pid(role) for role in victims.split(" and "))
        weft.until_ready_again("worker")
        assert state_of(weft.home) == "draining"
        go.touch()
        drained(weft)
        path = f"/v1/batches/{batch}"
        until(lambda: get(weft.home, path)["complete"], "the batch is complete")
        attempts = get(weft.home, f"{path}/jobs/1/attempts")["items"]
        prove_audit(weft.home)

        assert [one["state"] for one in attempts] == ["success"]


def test_spawner_that_is_killed_with_its_job_ends_the_drain() -> None:
    with draining("exec sleep 1000") as (weft, batch):
        pids = spawner_pids(weft.home)
        kill(pids)
        drained(weft)

        assert pids
        assert get(weft.home, f"/v1/batches/{batch}")["n_ready"] == 1
