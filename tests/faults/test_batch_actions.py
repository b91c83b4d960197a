"""kill -9 while many batches are changed: each is changed once, by the driver that follows."""

from collections.abc import Mapping
from typing import Any

import pytest

from faults.books import in_the_way, query
from faults.siege import Siege
from faults.waiting import until
from up.weft_up import get, post, prove_audit

BATCHES = 30
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'advisory'"
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
        until(lambda: query(siege.home, WAITING)[0][0], "it waits", explain=siege.tail)
        before = operation()
        killed_at = siege.kill(part)
    siege.until_back(part)
    until(lambda: operation()["state"] == "success", "it goes on", explain=siege.tail)
    siege.note_recovery(killed_at)
    after = operation()
    prove_audit(siege.home)

    assert (before["state"], before["result"]["n_changed"]) == (
        "running", BATCHES - BATCHES // 2 - 1,
    )  # fmt: skip
    assert after["result"] == {
        "action": "hold", "query": "name = many", "n_changed": BATCHES - 1, "n_idle": 1,
        "n_skipped": 0, "skipped": {},
    }  # fmt: skip
    for one in ids:
        history = get(siege.home, f"/v1/batches/{one}/history")["items"]
        assert [entry["kind"] for entry in history] == ["held"], one
