"""The disk of the logs is full: the job says so, and everything else lives."""

from collections.abc import Iterator

import pytest

from contexts import fill_disk, small_disk
from faults.conftest import Facts
from faults.siege import Siege, besieged
from faults.waiting import until
from up.weft_up import get, post, temporary_home

JOB = {"resources": {"cpu": "100m", "memory": "16Mi"}}
LOUD = JOB | {"command": ["head", "-c", "8000000", "/dev/zero"]}
SILENT = JOB | {"command": ["sleep", "2"]}


@pytest.fixture
def cramped(recorded: Facts) -> Iterator[Siege]:
    """Give a weft whose logs have a small disk of their own."""
    with (
        temporary_home() as home,
        small_disk(home / "logs", "2m"),
        besieged(home, recorded=recorded, WEFT_WORKER_FREE_BYTES_MIN="64Ki") as siege,
    ):
        yield siege


def test_full_disk_of_the_logs(cramped: Siege) -> None:
    """It ends the job that filled it, and stops new work until there is room."""
    home, pids = cramped.home, (cramped.weft.pid("worker"), cramped.spawner_pid())
    first = post(home, "/v1/batches", {"name": "disk", "jobs": [LOUD, SILENT]})["id"]
    until(lambda: get(home, f"/v1/batches/{first}")["complete"], "the jobs have ended")
    loud, silent = (get(home, f"/v1/batches/{first}/jobs/{n}") for n in (1, 2))
    attempt = get(home, f"/v1/batches/{first}/jobs/1/attempts")["items"][-1]
    fill_disk(home / "logs" / "filler")
    until(lambda: "'state': 'draining'" in str(get(home, "/v1/workers")), "the worker says so")
    jobs = [JOB | {"command": ["echo", "there is room again"]}] * 20
    batch = post(home, "/v1/batches", {"name": "disk", "jobs": jobs})["id"]
    waiting = get(home, f"/v1/batches/{batch}")
    for path in (home / "logs").rglob("*"):
        if path.is_file():
            path.write_bytes(b"")
    until(lambda: get(home, f"/v1/batches/{batch}")["complete"], "the jobs have ended")
    log = (home / "log" / "worker.log").read_text()

    cramped.recorded.update(jobs=22, lost=0, doubled=0)
    assert (loud["state"], loud["reason"]) == ("error", "disk")
    assert "No space left on device" in str(attempt)
    assert (silent["state"], waiting["n_completed"]) == ("success", 0)
    assert get(home, f"/v1/batches/{batch}")["n_succeeded"] == 20
    assert "worker.disk_full" in log.partition("worker.disk_free")[0]
    assert (cramped.weft.pid("worker"), cramped.spawner_pid()) == pids
