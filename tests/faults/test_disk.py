"""The disk of the logs is full: the job says so, and everything else lives."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contexts import small_disk
from faults.conftest import Facts
from faults.siege import Siege, besieged
from faults.waiting import until
from up.weft_up import get, post, temporary_home

LOUD = ["head", "-c", "8000000", "/dev/zero"]


@pytest.fixture
def cramped(request: pytest.FixtureRequest, recorded: Facts) -> Iterator[Siege]:
    """Give a weft whose logs have a small disk of their own."""
    room = {"WEFT_WORKER_FREE_BYTES_MIN": request.param}
    with (
        temporary_home() as home,
        small_disk(home / "logs", "2m"),
        besieged(home, recorded=recorded, **room) as siege,
    ):
        yield siege


def ran(home: Path, *command: str) -> Any:  # noqa: ANN401 (a document)
    """Run a job to its end; return its document and that of its attempt."""
    job = {"command": command, "resources": {"cpu": "100m", "memory": "16Mi"}}
    batch = post(home, "/v1/batches", {"name": "disk", "jobs": [job]})["id"]
    until(lambda: get(home, f"/v1/batches/{batch}")["complete"], "the job has ended")
    attempts = get(home, f"/v1/batches/{batch}/jobs/1/attempts")
    return get(home, f"/v1/batches/{batch}/jobs/1"), attempts["items"][-1]


@pytest.mark.parametrize("cramped", ["0"], indirect=True)
def test_full_disk_of_the_logs(cramped: Siege) -> None:
    home = cramped.home
    agent, spawner = cramped.weft.pid("worker"), cramped.spawner_pid()
    loud, attempt = ran(home, *LOUD)
    silent, _ = ran(home, "true")
    for path in (home / "logs").rglob("*"):
        if path.is_file():
            path.write_bytes(b"")
    talking, _ = ran(home, "echo", "there is room again")

    cramped.recorded.update(jobs=3, lost=0, doubled=0)
    assert (loud["state"], loud["reason"]) == ("error", "disk")
    assert "No space left on device" in str(attempt)
    assert silent["state"] == "success"
    assert talking["state"] == "success"
    assert (cramped.weft.pid("worker"), cramped.spawner_pid()) == (agent, spawner)


@pytest.mark.parametrize("cramped", ["64Ki"], indirect=True)
def test_nearly_full_disk_stops_new_work_until_there_is_room(cramped: Siege) -> None:
    home, filler = cramped.home, cramped.home / "logs" / "filler"

    filler.write_bytes(bytes((2 << 20) - 40_000 - shutil.disk_usage(home / "logs").used))
    until(lambda: "'state': 'draining'" in str(get(home, "/v1/workers")), "the worker says so")
    jobs = [{"command": ["echo", "a"], "resources": {"cpu": "100m", "memory": "16Mi"}}] * 20
    batch = post(home, "/v1/batches", {"name": "disk", "jobs": jobs})["id"]
    assert get(home, f"/v1/batches/{batch}")["n_completed"] == 0
    filler.unlink()
    until(lambda: get(home, f"/v1/batches/{batch}")["complete"], "the jobs have ended")
    log = (home / "log" / "worker.log").read_text()

    assert get(home, f"/v1/batches/{batch}")["n_succeeded"] == 20
    assert "worker.disk_full" in log.partition("worker.disk_free")[0]
