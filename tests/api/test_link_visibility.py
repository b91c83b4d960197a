"""Workers outside: what is seen of them, and which transactions they share."""

import asyncio
from typing import Any

import asyncpg
import msgspec
import pytest

from api.live import as_admin
from api.test_worker_link import Outside, facts, outside  # noqa: F401 (a fixture)
from builders import end_report, key_of, request
from weft import __version__
from weft.core.errors import WeftError
from weft.core.findings import judge
from weft.extensions.link.serving import shared_transactions
from weft.ports.store import Claimed
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


# ruff: noqa: F811 (`outside` is a fixture)


@pytest.mark.parametrize("call", ["heartbeat", "complete_attempts"])
async def test_calls_of_many_workers_share_a_transaction(
    outside: Outside, admin: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Whatever one of them sends, is lost or locked, the others are answered as if alone."""
    monkeypatch.setattr(shared_transactions, "GATHER_S", 60.0)
    monkeypatch.setattr(shared_transactions, "TOGETHER_MAX", 6)
    await outside.submit(6)
    token = await outside.token()
    stores = [outside.store(outside.caller(token)) for _ in range(6)]
    ids: list[int] = []
    has: list[Claimed] = []
    for n, store in enumerate(stores):
        registered = await store.register_worker(**facts(name=f"node{n}", incarnation=f"i{n}"))
        ids.append(registered.incarnation_id)
        has += await store.claim_jobs(ids[-1], request(1))
    await admin.fetch("SELECT weft._lose_incarnation($1, clock_timestamp())", ids[0])

    async def answers(**wrong: int) -> list[Any]:
        async def ask(n: int) -> object:
            store, one = stores[n], has[2 if n == 1 else n]  # the second tells of another's job
            if call == "complete_attempts":
                report = end_report(one)
                report = msgspec.structs.replace(report, **wrong) if n == 1 else report
                return await store.complete_attempts(ids[n], [report])
            key = (wrong.get("cpu_ms", 1), *key_of(one)[1:]) if n == 1 else key_of(one)
            return (await store.heartbeat(ids[n], [key], draining=False)).alive

        return await asyncio.gather(*map(ask, range(6)), return_exceptions=True)

    good, lost = (True, False) if call == "heartbeat" else (["ok"], ["stale"])
    n_writes = {
        "heartbeat": "SELECT count(DISTINCT xmin::text) FROM weft.worker_incarnation "
        "WHERE incarnation_id = ANY ($1)",
        "complete_attempts": "SELECT count(DISTINCT xmin::text) FROM weft.attempt "
        "WHERE incarnation_id = ANY ($1)",
    }[call]
    found = await answers()
    assert found == [lost, good if call == "heartbeat" else lost, *[good] * 4]
    assert await admin.fetchval(n_writes, ids[2:]) == 1
    monkeypatch.setattr(
        shared_transactions, "TOGETHER_MAX", 5
    )  # what no worker can say never joins them
    found = await answers(cpu_ms=2**63)
    assert (found[0], found[2:]) == (lost, [good] * 4)
    assert isinstance(found[1], WeftError)
    monkeypatch.setattr(shared_transactions, "TOGETHER_MAX", 6)
    async with admin.transaction():
        await admin.execute(
            "SELECT FROM weft.worker_incarnation WHERE incarnation_id = $1 FOR UPDATE", ids[5]
        )
        asked = [
            asyncio.create_task(store.heartbeat(worker, [], draining=False))
            for store, worker in zip(stores, ids, strict=True)
        ]
        await asyncio.wait(asked[:5])
        assert not asked[5].done()
    assert (await asked[5]).alive
