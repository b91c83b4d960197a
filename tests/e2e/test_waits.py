"""Why jobs wait: what `run`, `wait`, `each`, `status` and `jobs` say about it."""

import re
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e.conftest import Weft
from e2e.test_batches import submit
from e2e.test_holds import first_line

pytestmark = pytest.mark.heavy
DATE = "jobs: [{command: ['true'], not_before: 2100-01-02T03:04:00Z}]"


def told(weft: Weft, *arguments: str) -> str:
    """Return the first line that a command says while it waits."""
    with weft.started(*arguments) as process:
        line = first_line(process)
        process.send_signal(signal.SIGINT)
        process.wait(60)
    return line


def row(text: str, start: str) -> str:
    (found,) = (line for line in text.splitlines() if line.startswith(start))
    return found


def shown(weft: Weft, batch: str, job: str) -> tuple[str, str, str]:
    """Return what `status` of the job and of its batch, and `jobs` say."""
    of_job, of_batch = (weft.run("status", name).stdout.decode() for name in (job, batch))
    jobs = weft.run("jobs", batch).stdout.decode()
    waits = [line for line in of_batch.splitlines() if line.startswith("Waits\t")]
    return row(of_job, "Why\t"), waits[0] if waits else "", row(jobs, f"{job}\t")


def test_a_date_is_told_wherever_the_job_waits(weft: Weft, tmp_path: Path) -> None:
    batch = submit(weft, tmp_path, DATE)
    job = f"{batch}.j1"
    why, waits, listed = shown(weft, batch, job)
    waiting = told(weft, "wait", batch)
    running = told(weft, "run", "--not-before", "2100-01-02T03:04:00Z", "--", "true")
    each = told(weft, "each", "--not-before", "2100-01-02T03:04:00Z", "--", "echo", ":::", "a")
    weft.run("cancel", batch)

    assert re.search(r"\tstarts at 2100-01-0\d \d\d:\d\d UTC \(in \d+ d\)$", why)
    assert waits.startswith(f"Waits\twaits: {job} starts at 2100-01-0")
    assert "starts at 2100-01-0" in listed
    assert waiting.startswith(f"weft: {batch} waits: {job} starts at 2100-01-0")
    assert "j1 starts at 2100-01-0" in running
    assert "j1 starts at 2100-01-0" in each


@contextmanager
def cordoned(weft: Weft) -> Iterator[str]:
    name = socket.gethostname()
    assert weft.run("worker", "cordon", name).returncode == 0
    try:
        yield name
    finally:
        weft.run("worker", "uncordon", name)


def test_a_cordoned_worker_is_told_with_the_command_that_ends_it(
    weft: Weft, tmp_path: Path
) -> None:
    with cordoned(weft) as name:
        batch = submit(weft, tmp_path, "jobs: [{command: ['true']}]")
        why, waits, listed = shown(weft, batch, f"{batch}.j1")
        waiting = told(weft, "wait", batch)
    ended = weft.run("wait", batch)

    says = f"waits for a worker: {name} is cordoned; `weft worker uncordon {name}`"
    assert why == f"Why\t{says}"
    assert waits == f"Waits\t{says}"
    assert says in listed
    assert waiting == f"weft: {batch} {says}\n"
    assert ended.returncode == 0
