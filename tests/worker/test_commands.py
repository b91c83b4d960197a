"""Commands from the store through the agent to processes."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from weft.core.attempt_key import AttemptKey
from weft.core.command import Command
from weft.core.states import Reason
from weft.wire.spec import JobSpec
from worker.fake_store import FakeStore
from worker.worker_process import Worker

KEY = AttemptKey(1, 1, 1)


@pytest.fixture
async def worker(short_path: Path) -> AsyncIterator[Worker]:
    one = Worker(short_path, FakeStore())
    await one.start()
    yield one
    await one.end()


def sh(script: str, **changes: object) -> JobSpec:
    return JobSpec(command=("/bin/sh", "-c", script), **changes)  # type: ignore[arg-type]


WAITS = "trap 'echo got; exit 7' USR1; while :; do sleep 0.02; done"


async def test_signal_reaches_the_first_process(worker: Worker) -> None:
    worker.store.submit(sh(WAITS))
    await worker.store.until_started(1)
    worker.store.tell(Command(5, KEY, 10))
    (report,) = await worker.store.until(1)

    assert await worker.store.until_obeyed(1) == [(5, "")]
    assert (report.exit_code, worker.output(report)) == (7, b"got\n")


async def test_signal_while_nobody_listens_is_delivered_later(worker: Worker) -> None:
    worker.store.submit(sh(WAITS))
    await worker.store.until_started(1)
    await worker.crash()
    worker.store.tell(Command(5, KEY, 10))
    await worker.start()
    (report,) = await worker.store.until(1)

    assert report.exit_code == 7


async def test_extended_job_runs_beyond_its_limit(worker: Worker, short_path: Path) -> None:
    """As long as it needs."""
    gate = short_path / "gate"
    script = f"until [ -e {gate} ]; do sleep 0.02; done"
    worker.store.asks_again = True
    worker.store.tell(Command(5, KEY, extra_ms=600_000))
    worker.store.submit(sh(script, timeout_s=3.0), sh("sleep 60", timeout_s=3.0))
    assert await worker.store.until_obeyed(1) == [(5, "")]
    (timed_out,) = await worker.store.until(1)
    gate.touch()
    ends = await worker.store.until(2)

    assert (timed_out.job_id, timed_out.reason) == (2, Reason.TIMEOUT)
    assert [end.exit_code for end in ends if end.job_id == 1] == [0]


async def test_extension_of_a_job_without_a_limit_is_refused(worker: Worker) -> None:
    worker.store.submit(sh("sleep 60"))
    await worker.store.until_started(1)
    worker.store.tell(Command(5, KEY, extra_ms=600_000))

    assert await worker.store.until_obeyed(1) == [(5, "it has no time limit")]
