"""Heartbeats and ends of many workers outside share transactions, and no fence."""

import asyncio
from typing import Any

import asyncpg
import msgspec
import pytest

from api.test_worker_link import Outside, facts, outside  # noqa: F401 (a fixture)
from builders import end_report, key_of, request
from weft.core.errors import WeftError
from weft.extensions.link.serving import shared_transactions
from weft.ports.store import Claimed

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
