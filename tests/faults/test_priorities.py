"""A driver that dies while it changes the priority of many jobs; the next one goes on."""

import json
import time
from collections.abc import Mapping
from typing import Any

from faults.commands import started
from faults.siege import Siege
from faults.waiting import until
from up.weft_up import prove_audit
from weft import Client

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
