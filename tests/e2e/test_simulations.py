"""Simulated jobs on a plain `weft up`: they wait, write, compute, fail and are cancelled there."""

import json
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any

import psutil

from e2e.conftest import Weft, until
from weft import Batch, Client

FOREVER = {"action": "SLEEP", "durationMs": 3_600_000}


def _processes_of_worker(weft: Weft) -> set[int]:
    """Return the processes below the worker. Tests before this one leave some: warm ones."""
    worker = json.loads((weft.home / "run" / "worker.ready").read_text())["pid"]
    return {child.pid for child in psutil.Process(worker).children(recursive=True)}


def simulated(
    client: Client, *jobs: Sequence[Mapping[str, Any]], count: int | None = None
) -> Batch:
    builder = client.create_batch()
    for steps in jobs:
        builder.create_job(simulation={"steps": list(steps)}, count=count)
    return builder.submit()


def test_steps_are_taken_in_order_and_write_to_the_log(weft: Weft) -> None:
    """By a worker of its own, without a process."""
    steps: list[dict[str, Any]] = [
        {"action": "LOG", "message": "one"},
        {"action": "SLEEP", "durationMs": 20},
        {"action": "COMPUTE", "iterations": 50_000},
        {"action": "HTTP_CALL", "url": "http://169.254.169.254/", "latencyMs": 20},
        {"action": "LOG", "message": "two"},
    ]
    with Client(home=weft.home) as client:
        batch = simulated(client, steps, [{"action": "FAIL", "message": "no more"}, FOREVER])
        batch.wait()
        jobs = [batch.get_job(number) for number in (1, 2)]
        (ended,), (failed,) = [job.attempts() for job in jobs]
        shown, output = jobs[0].status(), jobs[0].log()

    assert output == "one\ntwo\n"
    assert (ended["state"], ended["worker"]) == ("success", f"{socket.gethostname()}-simulation")
    assert (failed["state"], failed["exit_code"], failed["message"]) == ("failed", 1, "no more")
    assert shown["spec"]["simulation"]["steps"] == steps


def test_thousands_sleep_side_by_side(weft: Weft) -> None:
    """In no more processes than before."""
    before = _processes_of_worker(weft)
    with Client(home=weft.home) as client:
        batch = simulated(client, [FOREVER], count=2000)
        until(lambda: batch.status()["n_running"] == 2000)
        made = _processes_of_worker(weft) - before
        begun = time.monotonic()
        batch.cancel()
        batch.wait()
        took_s = time.monotonic() - begun
        n_cancelled = batch.status()["n_cancelled"]

    assert len(made) < 10
    assert n_cancelled == 2000
    assert took_s < 30


def test_host_has_no_more_cores_for_them(weft: Weft) -> None:
    """Nor do jobs with a process find room at the worker of simulations."""
    workers = json.loads(weft.run("worker", "ls", "--json").stdout)
    own, of_simulations = sorted(workers, key=lambda one: len(one["worker"]))
    job = {"command": ["true"], "resources": {"cpu": of_simulations["cpu"], "memory": "1Mi"}}
    refused = weft.run("submit", "-", stdin=json.dumps({"jobs": [job]}).encode())
    status = json.loads(weft.run("top", "--json").stdout)

    assert of_simulations["slots"] == 10_000
    assert refused.returncode == 2
    assert f"the largest worker has {own['cpu']:g} cpu" in refused.stderr.decode()
    assert status["workers"][0]["worker"] == own["worker"]
