"""The driver is killed amid steps: children, changes of many batches, priorities, deletions."""

import json
import time
from collections.abc import Mapping
from typing import Any

import pytest

from faults.books import in_the_way, query, read_books
from faults.commands import started
from faults.siege import Batch, Siege
from faults.waiting import until
from up.weft_up import get, post, prove_audit, run_weft
from weft import Client

CHILDREN = 20_000
IN_SECOND_SET = 9_000
"""The first set has 5,000 children, the second the next 10,000."""
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"
ROW = "SELECT FROM weft.job WHERE batch_id = $1 AND job_id = $2 FOR UPDATE"
"""Of a child, at which the driver has to wait in its second set."""
TOLD = "SELECT count(*) FROM weft.job WHERE batch_id = $1 AND state = 0"


@pytest.mark.parametrize("part", ["driver", "postgres"])
def test_killed_between_two_children(siege: Siege, part: str) -> None:
    gate = siege.home.parent / "gate"
    wait = f"until [ -e {gate} ]; do sleep 0.05; done"
    document = {
        "name": "scatter",
        "jobs": [
            {"name": "source", "command": ["/bin/sh", "-c", wait]},
            {"name": "scatter", "count": CHILDREN, "parents": ["source"]},
            {"name": "gather", "command": ["/bin/true"], "parents": ["scatter"]},
        ],
    }
    batch = Batch(post(siege.home, "/v1/batches", document)["id"], [], siege.evidence())
    with in_the_way(siege.home, ROW, batch.batch_id, IN_SECOND_SET):
        gate.touch()
        until(lambda: query(siege.home, WAITING)[0][0], "the driver waits", explain=siege.tail)
        told = CHILDREN + 1 - query(siege.home, TOLD, batch.batch_id)[0][0]
        killed_at = siege.kill(part)
    siege.until_back(part)
    siege.until_work_goes_on(batch, killed_at)
    siege.until_complete(batch)
    books = read_books(siege.home, batch.batch_id)
    prove_audit(siege.home)

    assert told == 5_000
    assert books.states == {"success": CHILDREN + 2}
    assert books.succeeded_twice() == []
    assert books.overlaps() == []


BATCHES = 30
BATCH_ACTIONS_WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'advisory'"
LOCK = "SELECT pg_advisory_xact_lock($1::bigint)"
JOB = {"command": ["true"], "not_before": "2999-01-01T00:00:00Z"}


@pytest.mark.parametrize("part", ["driver", "postgres"])
def test_killed_while_batches_are_held(siege: Siege, part: str) -> None:
    document = {"name": "many", "jobs": [JOB]}
    ids = [post(siege.home, "/v1/batches", document)["id"] for _ in range(BATCHES)]
    post(siege.home, f"/v1/batches/{ids[0]}/hold", {})

    def operation() -> Mapping[str, Any]:
        found = siege.ask(f"/v1/operations/{begun['id']}")
        return found or {"state": "unknown"}

    with in_the_way(siege.home, LOCK, ids[BATCHES // 2]):
        body = {"action": "hold", "query": "name = many"}
        begun = post(siege.home, "/v1/batch-actions", body)
        until(
            lambda: query(siege.home, BATCH_ACTIONS_WAITING)[0][0], "it waits", explain=siege.tail
        )
        before = operation()
        killed_at = siege.kill(part)
    siege.until_back(part)
    until(lambda: operation()["state"] == "success", "it goes on", explain=siege.tail)
    siege.note_recovery(killed_at)
    after = operation()
    prove_audit(siege.home)

    assert (before["state"], before["result"]["n_changed"]) == (
        "running",
        BATCHES - BATCHES // 2 - 1,
    )
    assert after["result"] == {
        "action": "hold",
        "query": "name = many",
        "n_changed": BATCHES - 1,
        "n_idle": 1,
        "n_skipped": 0,
        "skipped": {},
    }
    for one in ids:
        history = get(siege.home, f"/v1/batches/{one}/history")["items"]
        assert [entry["kind"] for entry in history] == ["held"], one


JOBS = 60_000


def held_array(siege: Siege) -> int:
    """Submit many jobs that do not start; return their batch."""
    with Client(home=siege.home) as client:
        b = client.create_batch().submit()
        b.hold()
        builder = client.update_batch(b.id)
        builder.create_job(["true"], count=JOBS)
        builder.submit()
    return b.id


def test_driver_killed_between_two_steps(siege: Siege) -> None:
    batch = held_array(siege)

    def operation() -> Mapping[str, Any]:
        page = siege.ask(f"/v1/operations?batch={batch}")
        return page["items"][0] if page and page["items"] else {"done": 0}

    with started(siege.home, "set", f"b{batch}", "--priority", "5", "--json") as command:
        until(lambda: operation()["done"], "it is on its way", explain=siege.tail)
        siege.kill("driver")
        killed_at, then = time.monotonic(), operation()
        until(lambda: operation()["done"] > then["done"], "it goes on", explain=siege.tail)
        siege.note_recovery(killed_at)
        code = command.finish()
    said = json.loads(b"".join(command.lines))
    jobs = [siege.ask(f"/v1/batches/{batch}/jobs/{job}") for job in (1, JOBS // 2, JOBS)]

    assert 0 < then["done"] < JOBS
    assert (code, said["state"], said["done"], said["total"]) == (0, "success", JOBS, JOBS)
    assert said["result"] == {"group_id": 0, "priority": 5, "n_changed": JOBS}
    assert [(job["priority"], job["state"], job["held"]) for job in jobs] == [
        (5, "ready", True)
    ] * 3
    prove_audit(siege.home)


LEFT = "SELECT count(*) FROM weft.job WHERE batch_id = $1"
KILLS = 3


@pytest.mark.parametrize("part", ["driver", "postgres"])
def test_deletion_during_kills(siege: Siege, part: str) -> None:
    document = {"jobs": [{"count": JOBS, "command": ["true"]}, {"command": ["sleep", "1000"]}]}
    batch_id = post(siege.home, "/v1/batches", document)["id"]
    until(lambda: running(siege, batch_id), "something runs")
    run_weft("delete", f"b{batch_id}", "--yes", "--no-wait", "--home", str(siege.home))
    (operation,) = siege.ask(f"/v1/operations?batch={batch_id}")["items"]

    def look() -> Mapping[str, Any]:
        found: Mapping[str, Any] = until(
            lambda: siege.ask(f"/v1/operations/{operation['id']}"), "the api answers"
        )
        return found

    def went_on(after: int) -> bool:
        now = look()
        return bool(now["done"] > after or now["state"] != "running")

    done = 0
    for _ in range(KILLS):
        # Between two ranges of jobs, or within one.
        until(lambda after=done: went_on(after), "it goes on", within_s=120, explain=siege.tail)  # type: ignore[misc]
        done = look()["done"]
        siege.strike(part)
    until(lambda: look()["state"] == "success", "it is done", within_s=120, explain=siege.tail)

    assert query(siege.home, LEFT, batch_id)[0][0] == 0
    assert siege.ask(f"/v1/batches/{batch_id}") is None
    prove_audit(siege.home)


def running(siege: Siege, batch_id: int) -> bool:
    document = siege.ask(f"/v1/batches/{batch_id}")
    return bool(document and document["n_completed"] > 0)
