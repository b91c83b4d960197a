"""What tells open pages to read themselves again."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from httpx import AsyncClient

from api.live import DEADLINE_S, EventReader, LiveApi, LiveWorker, fold, make_user, submit
from weft.api import feeds


@contextlib.asynccontextmanager
async def changes(
    http: AsyncClient, query: str = "", **headers: str
) -> AsyncIterator[EventReader]:
    async with http.stream("GET", f"/ui/events{query}", headers=headers) as answer:
        assert answer.status_code == 200, await answer.aread()
        yield EventReader(answer)


async def _told(reader: EventReader) -> tuple[str, Any]:
    id_, kind, data = await reader.next()
    assert kind == "message"
    return id_, msgspec.json.decode(data)


async def test_page_of_a_batch_is_told_its_newest_events_in_short(
    http: AsyncClient, worker: LiveWorker, database: dict[str, str]
) -> None:
    other = await submit(http)
    mine = await submit(http, jobs=[{}] * 12)
    async with changes(http, f"?batch=b{mine}") as reader:
        await http.post(f"/v1/batches/{other}/hold", json={})
        await worker.work()
        await fold(database["weft_driver"])
        told: list[Any] = []
        while "batch.complete" not in [one["kind"] for one in told]:
            told += (await _told(reader))[1]

    assert [one["kind"] for one in told][:2] == ["jobs.running", "jobs.success"]
    assert told[0]["jobs"] == [1, 2, 3, 4, 5]
    assert (told[0]["n_jobs"], told[0]["groups"], told[0]["n_groups"]) == (12, [], 0)


async def test_page_of_everything_is_told_that_something_happened_and_misses_nothing(
    http: AsyncClient,
) -> None:
    """Also while nobody listened."""
    async with changes(http) as reader:
        await submit(http)
        first, told = await _told(reader)
    assert told == []
    await submit(http)
    async with changes(http, **{"last-event-id": first}) as reader:
        second, _ = await _told(reader)
    assert second != first
    async with changes(http, f"?since={first}") as reader:
        assert (await _told(reader))[0] == second


async def test_page_hears_nothing_of_what_others_own(
    api: LiveApi, http: AsyncClient, database: dict[str, str]
) -> None:
    mine = await submit(http)
    await make_user(database["admin"], tenant="other", token="token-of-another")
    async with api.client(authorization="Bearer token-of-another") as other:
        assert (await other.get(f"/ui/events?batch=b{mine}")).status_code == 404
        async with changes(other) as reader:
            await http.post(f"/v1/batches/{mine}/hold", json={})
            await submit(other)
            first, _ = await _told(reader)
        async with other.stream("GET", "/v1/events?since=0-0") as stream:
            assert (await EventReader(stream).event())["id"] == first


async def test_open_pages_are_counted_until_they_close(api: LiveApi, http: AsyncClient) -> None:
    """Each rests for a tenth of a second for each of them; programs that listen do not count."""
    known = api.app.services.feeds
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(http.stream("GET", "/v1/events"))
        for _ in range(7):
            await stack.enter_async_context(changes(http))
        page = await http.get("/ui/batches")
        assert 'data-rest-ms="700"' in page.text
        assert known.rest_s(1, of_page=True) == 7 / feeds.PAGES_PER_S
        assert known.rest_s(1) == 0
    async with asyncio.timeout(DEADLINE_S):
        while 'data-rest-ms="0"' not in (await http.get("/ui/batches")).text:
            pass
