"""Signals and messages to jobs of two workers, while the agent of one of them is dead."""

import os
from pathlib import Path

from faults.siege import Siege
from faults.test_two_workers import second_worker
from faults.waiting import until
from weft import Client

SCRIPT = """
trap 'echo signal >> "$1"' USR1
echo begun >> "$1"
until grep -q signal "$1" && [ "$(cat "$WEFT_MESSAGES"/*)" = "one two " ]; do sleep 0.1; done
echo heard >> "$1"
"""
"""It ends when nothing that was sent to it was lost, and no message came twice."""


def test_commands_survive_the_agent(siege: Siege) -> None:
    n_jobs, home = 4, siege.home
    cpu_m = len(os.sched_getaffinity(0)) * 1000 // 2
    said = [home.parent / f"said-{number}" for number in range(n_jobs)]

    def lines(path: Path) -> list[str]:
        return path.read_text().splitlines() if path.exists() else []

    with second_worker(siege), Client(home=home) as client:
        bb = client.create_batch()
        jobs = [
            bb.create_job(
                ["sh", "-c", SCRIPT, "sh", str(path)], resources={"cpu": f"{cpu_m}m"}
            )
            for path in said
        ]  # fmt: skip
        batch = bb.submit()
        until(
            lambda: all(job.status()["started_at"] for job in jobs), "all run", explain=siege.tail
        )
        workers = {job.attempts()[-1]["worker"] for job in jobs}
        for job in jobs:
            job.message("one ")
        siege.kill("agent")
        for job in jobs:
            job.message("two ")
            job.signal("USR1")
        siege.until_back("agent")
        ended = batch.wait(timeout_s=120)
        told = [
            sorted(one["message"] for one in commands_of(siege, batch.id, job.job_id))
            for job in jobs
        ]

    assert len(workers) == 2
    assert ended["state"] == "success"
    assert {tuple(dict.fromkeys(lines(path))) for path in said} == {("begun", "signal", "heard")}
    assert (
        told
        == [
            [
                "USR1 was delivered",
                "a message of 4 B was delivered",
                "a message of 4 B was delivered",
            ]
        ]
        * n_jobs
    )


def commands_of(siege: Siege, batch: int, job: int) -> list[dict[str, str]]:
    """Return what the history of a job says of its commands."""
    found = siege.ask(f"/v1/batches/{batch}/jobs/{job}/history")
    return [one for one in found["items"] if one["subtype"] in {"signal", "message"}]
