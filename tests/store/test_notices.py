"""Nothing is missed: a listener that falls behind is told to look again."""

import asyncio

import asyncpg
import pytest

from weft.core.errors import StoreUnavailable
from weft.store import notices
from weft.store.notices import PostgresNotices

BURST = "SELECT pg_notify('callers', n::text) FROM generate_series(1, 100) n"


async def test_listening_ends_when_more_is_told_than_is_kept(
    database: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a notice that was dropped said is found when all is looked at again."""
    monkeypatch.setattr(notices, "QUEUE_MAX", 1)
    listening = PostgresNotices(database["weft_driver"]).listen("callers")
    first = await anext(listening)
    admin = await asyncpg.connect(database["admin"])
    await admin.execute(BURST)
    await admin.close()
    async with asyncio.timeout(60):
        with pytest.raises(StoreUnavailable):
            async for _ in listening:
                pass

    assert first == ("", "")
