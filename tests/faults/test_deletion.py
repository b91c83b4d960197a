"""A deletion goes on where it was, whoever is killed."""

from collections.abc import Mapping
from typing import Any

import pytest

from faults.books import query
from faults.siege import Siege
from faults.waiting import until
from up.weft_up import post, prove_audit, run_weft

JOBS = 60_000
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
    until(
        lambda: look()["state"] == "success", "it is done", within_s=120, explain=siege.tail
    )  # fmt: skip

    assert query(siege.home, LEFT, batch_id)[0][0] == 0
    assert siege.ask(f"/v1/batches/{batch_id}") is None
    prove_audit(siege.home)


def running(siege: Siege, batch_id: int) -> bool:
    document = siege.ask(f"/v1/batches/{batch_id}")
    return bool(document and document["n_completed"] > 0)
