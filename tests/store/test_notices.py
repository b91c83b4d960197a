"""Nothing is missed: a listener that falls behind is told to look again, and so are all that share
a connection, if that ends.
"""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from weft.core.errors import StoreUnavailable
from weft.store import notices
from weft.store.notices import Notice, PostgresNotices

BURST = "SELECT pg_notify('callers', n::text) FROM generate_series(1, 100) n"
LISTENING = "FROM pg_stat_activity WHERE usename = 'weft_driver' AND query LIKE 'LISTEN%'"


async def _until_it_ends(listening: AsyncIterator[Notice]) -> None:
    async with asyncio.timeout(60):
        with pytest.raises(StoreUnavailable):
            async for _ in listening:
                pass


async def test_listening_ends_when_more_is_told_than_is_kept(
    database: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a notice that was dropped said is found when all is looked at again; so is what the end
    of the connection hid. Others that listen in this process are not disturbed.
    """
    shared = PostgresNotices(database["weft_driver"])
    admin = await asyncpg.connect(database["admin"])
    other, both = shared.listen("queues"), shared.listen("queues", "callers")
    monkeypatch.setattr(notices, "QUEUE_MAX", 1)
    listening = shared.listen("callers")
    first = [await anext(one) for one in (other, both, listening)]
    assert await admin.fetchval(f"SELECT count(*) {LISTENING}") == 1
    await admin.execute(BURST)
    await _until_it_ends(listening)
    await both.aclose()
    await admin.execute("SELECT pg_notify('callers', ''), pg_notify('queues', '3')")
    heard = await anext(other)
    await admin.execute(f"SELECT pg_terminate_backend(pid) {LISTENING}")
    await _until_it_ends(other)
    again = shared.listen("callers")
    first.append(await anext(again))
    await admin.execute(BURST.replace("100", "1"))

    assert first == [("", "")] * 4
    assert heard == ("queues", "3")
    assert await anext(again) == ("callers", "1")
    await again.aclose()
    await admin.close()
