"""What a feed remembers for its streams, whom it wakes, and how long these rest when there are
many.
"""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from cases import cases
from weft.api.feeds import (
    PAGE_REST_MAX_S,
    PAGE_REST_MIN_S,
    REST_MAX_S,
    STREAMS_AT_ONCE,
    Feed,
    Feeds,
    Position,
    remembered,
)
from weft.api.use_cases.watch import EventWatch
from weft.ports.store import Caller, Notices, Row
from weft.store import ApiStore

CALLER = Caller(1, 1, "ada")


NOW = datetime(2026, 11, 23, tzinfo=UTC)


def event_rows(numbers: Iterable[int]) -> list[Row]:
    """Return events, each of the batch with its number."""
    return [
        {
            "xid": n,
            "event_id": 0,
            "batch_id": n,
            "kind": "batch.held",
            "at": NOW,
            "jobs": (),
            "groups": (),
        }
        for n in numbers
    ]


class _Store:
    """Has events at positions 1 to `last`, each of the batch with this number."""

    def __init__(self) -> None:
        self.last = 0

    async def list_events(
        self, caller: Caller, *, after: Position, batch_id: int | None, limit: int
    ) -> tuple[Sequence[Row], Position]:
        assert batch_id is None
        assert not caller.in_turn  # one reader serves the feeds of all
        numbers = range(after[0] + 1, min(self.last, after[0] + limit) + 1)
        return event_rows(numbers), (max(numbers, default=after[0]), 0)


def _encode(row: Row) -> bytes:
    return bytes(1000) + str(row["xid"]).encode()


async def test_streams_get_what_follows_their_position_in_order() -> None:
    store = _Store()
    feed = Feed(cast("ApiStore", store), CALLER, _encode)
    await feed.read((0, 0))
    store.last = 10_000  # more than the memory holds
    await feed.read((0, 0))

    for n in (10_000, 9_999, 9_000):
        assert feed.reaches((n, 0))
        assert [one.position[0] for one in feed.since((n, 0))] == list(range(n + 1, 10_001))
    assert not feed.reaches((0, 0))


async def test_numbers_of_jobs_count_as_memory() -> None:
    feed = Feed(cast("ApiStore", None), CALLER, _encode)
    for row in event_rows(range(300)):
        feed._remember(remembered({**row, "jobs": range(1000)}, _encode))

    assert sum(len(one.jobs) for one in feed._memory) * 40 <= 4 << 20


@cases(
    ("n_own", "n_others", "least_s", "most_s"),
    [
        (0, 0, 0, 0),
        (STREAMS_AT_ONCE, 0, 0, 0),
        (100, 100, 0.1, 0.5),
        (100_000, 0, 10, 10),
        (1, 100_000, REST_MAX_S, REST_MAX_S),
        (1000, 0, 1.5, 2.5),
    ],
)
def test_many_streams_rest(n_own: int, n_others: int, least_s: float, most_s: float) -> None:
    """Those of a tenant that has very many rest so long that they cost others no more."""
    feeds = Feeds(cast("ApiStore", None), cast("Notices", None), _encode)
    feeds._n_of_tenant.update({1: n_own})
    feeds._n_streams = n_own + n_others

    assert least_s <= feeds.rest_s(1) <= most_s


async def test_streams_of_pages_rest_always_and_let_no_other_stream_rest() -> None:
    none: Any = None  # nobody is asked
    feeds = Feeds(none, cast("Notices", none), _encode)
    feeds._n_of_tenant[1] = 1
    found = []
    for n_pages in (1, 10, 200):
        feeds.n_pages = n_pages
        found.append((feeds.rest_s(1, of_page=True), feeds.rest_s(1)))

    assert found == [(PAGE_REST_MIN_S, 0), (1.0, 0), (PAGE_REST_MAX_S, 0)]


async def test_event_wakes_those_to_whom_its_batch_or_all_matter() -> None:
    store = _Store()
    feed = Feed(cast("ApiStore", store), CALLER, _encode)
    await feed.read((0, 0))
    waits = {one: asyncio.create_task(feed.changed(60, one)) for one in (1, 2, None)}
    await asyncio.sleep(0)
    store.last = 1
    await feed.read((0, 0))
    await asyncio.wait({waits[1], waits[None]})
    assert not waits[2].done()
    feed.tell()
    assert all([await one for one in waits.values()])
    del waits
    assert not feed._changed  # what nobody waits for is not kept


async def test_event_in_the_moment_in_which_the_wait_ends_is_not_missed() -> None:
    none: Any = None  # nobody is asked
    feed = Feed(none, CALLER, _encode)
    waiting = asyncio.create_task(feed.changed(0, 7))
    await asyncio.sleep(0)  # its time is up, and it does not know yet
    feed.tell({7})

    assert await waiting


async def test_watch_of_a_quiet_batch_need_not_look_through_what_others_did() -> None:
    none: Any = None  # nobody is asked
    store = _Store()
    feed = Feed(cast("ApiStore", store), CALLER, _encode)
    await feed.read((0, 0))
    watch = EventWatch(none, CALLER, 77_777, (0, 0), of_page=True)
    watch._spoke_at = -1e9  # long ago
    store.last = 10_000  # more than the memory holds
    await feed.read((0, 0))
    assert await watch._wait(feed) == ()

    assert feed.reaches(watch.position)
