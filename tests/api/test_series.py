"""Items of a series become jobs one after another, with what is known of the one before."""

from typing import Any

import httpx

from api.live import LiveApi, LiveWorker
from api.test_sources import apply, audit, items, on
from weft.store import open_driver_store

SERIES = """
[source.scenes]
kind = "directory"
path = "/data/in"
job = "snow"

[job.snow]
command = ["true"]
max_attempts = 1

[configure.snow]
cancel_if = "item.cloud > 90"
series = { key = "item.tile", order = "item.day", within = "60d" }
env = { BEFORE = "series.previous != null ? series.previous.out : 'none'" }
attributes = { out = "'L2A/' + item.key" }
"""
DUE = (
    "UPDATE weft.source_item SET due_at = now() WHERE due_at IS NOT NULL",
    "UPDATE weft.source SET work_at = now()",
)


async def find(database: dict[str, str], **days: str) -> None:
    """Let a driver find scenes of one tile; a name that ends with `x` is cloudy."""
    async with open_driver_store(database["weft_driver"]) as store:
        epoch = await store.try_lead()
        assert epoch is not None
        (due,) = await store.due_sources(epoch, (), limit=9)
        found = [
            {"key": key, "fields": {"tile": "T", "day": day, "cloud": 99 * key.endswith("x")}}
            for key, day in days.items()
        ]
        await store.store_items(epoch, due, found, cursor=None, next_in_s=0, error=None)


async def look(api: LiveApi, database: dict[str, str]) -> None:
    for text in DUE:
        await on(database, text)
    await api.app.source_items.submit_due()


async def reasons(http: httpx.AsyncClient) -> dict[str, Any]:
    answer = await http.get("/v1/sources/scenes/items?series=T&state=waiting")
    return {one["key"]: one["reason"] for one in answer.json()["items"]}


async def test_each_waits_for_the_one_before(
    api: LiveApi, http: httpx.AsyncClient, database: dict[str, str], worker: LiveWorker
) -> None:
    """Cloudy scenes and failed ones are passed over; those of one date wait for the same one."""
    await apply(http, SERIES)
    await find(database, d="2027-04-05", a="2027-04-01T10:00:00Z", bx="2027-04-03", c="2027-04-04",
               c2="2027-04-04", old="2026-01-01")  # fmt: skip
    await look(api, database)
    await look(api, database)
    assert await items(http) == {
        "a": "b1.j1", "old": "b1.j2", "bx": "cancelled", "c": "waiting", "c2": "waiting",
        "d": "waiting",
    }  # fmt: skip
    assert await reasons(http) == {
        "c": "it waits for b1.j1 of series T", "c2": "it waits for b1.j1 of series T",
        "d": "it waits for c2 of series T",
    }  # fmt: skip
    for ready, fails in ((["c", "c2"], ()), (["d"], ("c2",))):
        for claimed in await worker.claim():
            await worker.start([claimed])
            job = (await http.get(f"/v1/batches/1/jobs/{claimed.job_id}")).json()
            await worker.end([claimed], exit_code=int(job["name"] in fails))
        await look(api, database)
        found = await items(http)
        assert all(found[key].startswith("b1.j") for key in ready), found
    jobs = {
        one["name"]: one
        for n in range(1, 6)
        for one in [(await http.get(f"/v1/batches/1/jobs/{n}")).json()]
    }
    assert {name: one["spec"]["env"]["BEFORE"] for name, one in jobs.items()} == {
        "a": "none", "old": "none", "c": "L2A/a", "c2": "L2A/a", "d": "L2A/c"
    }  # fmt: skip
    assert jobs["d"]["attributes"]["series"] == "T"
    await audit(database)
