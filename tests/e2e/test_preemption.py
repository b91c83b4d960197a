"""A running job makes room for one of a queue of higher priority, and runs again later."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Weft, weft_up
from weft import Client

pytestmark = [pytest.mark.slow, pytest.mark.heavy]
WITHIN_S = 90
SETTINGS = {"WEFT_PREEMPT_AFTER_S": "0", "WEFT_PREEMPTED_WAIT_S": "5"}
QUEUE = """
[[queue]]
name = "urgent"
priority = 1
"""


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Weft]:
    file = tmp_path / "queues.toml"
    file.write_text(QUEUE)
    with weft_up(tmp_path / "home", **SETTINGS) as found:
        found.told("queue", "apply", str(file), "--yes")
        yield found


def why(own: Weft, job: str) -> list[str]:
    causes: list[dict[str, Any]] = json.loads(own.run("why", job, "--json").stdout)["causes"]
    return [one["kind"] for one in causes]


@pytest.mark.parametrize("free", [0, 0.5])
def test_a_preemptible_job_makes_room_and_runs_again(
    own: Weft, tmp_path: Path, free: float
) -> None:
    """Where something is free, the worker claims the other job before it has room for it."""
    marks = tmp_path / "marks"
    first = f"trap 'echo stopped >> {marks}; exit 1' TERM; echo began >> {marks}; "
    script = f"{first} [ $WEFT_ATTEMPT_NO = 2 ] && exit 0; sleep 600 & wait"
    with Client(home=own.home) as client:
        (worker, *_) = client.list_workers()
        whole = {"cpu": worker["cpu"]}
        low = client.create_batch()
        most = {"cpu": worker["cpu"] - free}
        job = low.create_job(["sh", "-c", script], preemptible=True, resources=most)
        low_batch = low.submit()
        for document in low_batch.watch():
            if document["n_running"] and marks.exists():
                break
        high = client.create_batch()
        high.create_job(["sleep", "1"], queue="urgent", resources=whole)
        high_batch = high.submit()
        high_batch.wait()
        between = why(own, f"b{low_batch.id}.j1")
        low_batch.wait()
        attempts = job.attempts()

    assert [one["reason"] for one in attempts] == ["preempted", None]
    assert between == ["preempted"]
    assert marks.read_text().split() == ["began", "stopped", "began"]
    own.told("audit")
