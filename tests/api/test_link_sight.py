"""What is seen of workers outside, which have no session of the database."""

import pytest

from api.live import as_admin
from api.test_worker_link import Outside, facts, outside  # noqa: F401 (a fixture)
from weft import __version__
from weft.core.findings import judge
from weft.ports.worker_link import LinkFacts
from weft.store import open_admin
from weft.store.contract import OlderProgramsConnected

# ruff: noqa: F811 (`outside` is a fixture)


async def test_metrics_show_what_a_linked_worker_says(outside: Outside) -> None:
    caller = outside.caller(await outside.token())
    caller.facts = lambda delay_ms: LinkFacts(delay_ms, 7, 9)
    worker = outside.store(caller)
    known = await worker.register_worker(**facts())
    for _ in range(2):
        assert (await worker.heartbeat(known.incarnation_id, [], draining=False)).alive

    page = (await outside.http.get("/metrics")).text

    assert 'weft_link_unshipped_bytes{pool="default",role="api",worker="node1"} 7.0' in page
    assert 'weft_link_input_cache_bytes{pool="default",role="api",worker="node1"} 9.0' in page
    (delay,) = [one for one in page.splitlines() if one.startswith("weft_link_delay_seconds{")]
    assert 0 < float(delay.rpartition(" ")[2]) < 60
    seen = [
        *(await outside.http.get("/v1/workers")).json()["items"],
        *(await outside.http.get("/v1/overview")).json()["workers"],
        (await outside.http.get("/v1/workers/node1")).json(),
    ]
    for one in seen:
        assert (one["link"]["unshipped_bytes"], one["link"]["input_cache_bytes"]) == (7, 9)
        assert one["link"]["delay_ms"] > 0
    for wrong in (LinkFacts(float("nan"), 7, 9), LinkFacts(-1.0, 7, 9), LinkFacts(1.0, -7, 9)):
        caller.facts = lambda _, wrong=wrong: wrong  # type: ignore[misc]
        await worker.heartbeat(known.incarnation_id, [], draining=False)
        assert "node1" not in (await outside.http.get("/metrics")).text
        assert (await outside.http.get("/v1/workers/node1")).json()["link"] is None
    caller.facts = lambda _: None  # one of the release before
    await worker.heartbeat(known.incarnation_id, [], draining=False)
    assert "node1" not in (await outside.http.get("/metrics")).text


async def test_workers_of_equal_names_have_metrics_of_their_own(outside: Outside) -> None:
    await outside.http.put("/v1/pools", json={"pools": [{"name": "other"}]})
    callers = []
    for pool, n_bytes in (("default", 7), ("other", 8)):
        callers.append(caller := outside.caller(await outside.token(pool=pool)))
        caller.facts = lambda delay_ms, n_bytes=n_bytes: LinkFacts(delay_ms, n_bytes, 0)  # type: ignore[misc]
        worker = outside.store(caller)
        known = await worker.register_worker(**facts(pool=pool, incarnation=pool))
        await worker.heartbeat(known.incarnation_id, [], draining=False)

    page = (await outside.http.get("/metrics")).text

    for pool, n_bytes in (("default", 7), ("other", 8)):
        labels = f'pool="{pool}",role="api",worker="node1"'
        assert f"weft_link_unshipped_bytes{{{labels}}} {n_bytes}.0" in page


async def test_linked_workers_count_for_the_site_and_for_the_contract(
    outside: Outside, database: dict[str, str]
) -> None:
    worker = outside.store(outside.caller(await outside.token()))
    await worker.register_worker(**facts(version="0.0.9"))
    async with open_admin(database["admin"]) as admin:
        found = (await outside.http.get("/v1/system")).json()
        assert {"role": "worker", "version": "0.0.9", "n": 1} in found["programs"]
        assert "0.0.9" in {one.check: one.found for one in judge(found)}["versions"]
        status = await admin.status()
        assert [str(one) for one in status.older_programs] == [
            "worker node1 on far, linked, release 0.0.9"
        ]
        with pytest.raises(OlderProgramsConnected, match="linked workers"):
            await admin.contract()
        new = "UPDATE weft.worker_incarnation SET version = $1"
        await as_admin(database, new, __version__)
        assert not (await admin.status()).older_programs
        assert await admin.contract() == []
