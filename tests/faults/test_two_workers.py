"""A second worker takes jobs over only when the first one has stopped them."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from faults.siege import Siege, besieged
from faults.waiting import until
from up.weft_up import DEADLINE_S, WEFT, post, prove_audit, temporary_home

LOST_AFTER_S = "10"
SCRIPT = """
exec 9>>"$1.lock"
flock -n 9 || echo twice >> "$1"
echo "attempt $WEFT_ATTEMPT_NO" >> "$1"
exec sleep 1000
"""
"""The lock is free when every process of the other attempt has ended."""


@contextmanager
def second_worker(siege: Siege) -> Iterator[None]:
    """Run `weft worker` beside that of `weft up`, until it has registered and beyond."""
    process = subprocess.Popen(
        [WEFT, "worker", "--home", siege.home, "--worker-name", "two"],
        env={**os.environ, **siege.environ},
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        for line in process.stderr:
            sys.stderr.buffer.write(line)
            if b"worker.registered" in line:
                break
        yield
    finally:
        process.terminate()
        process.communicate(timeout=DEADLINE_S)


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_agent_that_is_stopped_leaves_no_job_to_run_twice(recorded: dict[str, object]) -> None:
    with (
        temporary_home() as home,
        besieged(home, recorded=recorded, WEFT_LOST_AFTER_S=LOST_AFTER_S) as siege,
    ):
        said = home.parent / "said"
        job = {"command": ["sh", "-c", SCRIPT, "sh", str(said)], "resources": {"cpu": "100m"}}
        batch = post(home, "/v1/batches", {"jobs": [job]})["id"]
        until(lambda: lines_of(said), "the job runs", explain=siege.tail)
        agent = siege.weft.pid("worker")
        with second_worker(siege):
            os.kill(agent, signal.SIGSTOP)
            try:
                until(lambda: len(lines_of(said)) > 1, "it runs again", explain=siege.tail)
            finally:
                os.kill(agent, signal.SIGCONT)
            post(home, f"/v1/batches/{batch}/cancel", {})
        prove_audit(home)

        assert lines_of(said) == ["attempt 1", "attempt 2"]
