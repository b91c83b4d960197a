"""What a feed remembers for its streams, and how long these rest when there are many."""

from collections.abc import Sequence
from typing import Any, cast

import pytest

from weft.api.feeds import REST_MAX_S, STREAMS_AT_ONCE, Feed, Feeds, Position, Subscription
from weft.ports.store import ApiStore, Caller, Notices, Row

CALLER = Caller(1, 1, "ada")


class _Store:
    """Has events at positions 1 to `last`."""

    def __init__(self) -> None:
        self.last = 0

    async def list_events(
        self, _caller: Caller, *, after: Position, batch_id: int | None, limit: int
    ) -> tuple[Sequence[Row], Position]:
        assert batch_id is None
        numbers = range(after[0] + 1, min(self.last, after[0] + limit) + 1)
        rows = [{"xid": n, "event_id": 0, "batch_id": n, "jobs": ()} for n in numbers]
        return rows, (max(numbers, default=after[0]), 0)


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


@pytest.mark.parametrize(
    ("n_streams", "least_s", "most_s"),
    [(0, 0, 0), (STREAMS_AT_ONCE, 0, 0), (200, 0.1, 0.5), (100_000, REST_MAX_S, REST_MAX_S)],
)
def test_streams_rest_when_there_are_many(n_streams: int, least_s: float, most_s: float) -> None:
    none: Any = None  # a rest asks nobody
    feeds = Feeds(none, cast("Notices", none), _encode)
    feed = Feed(none, CALLER, _encode)
    for _ in range(n_streams):
        feeds._subscriptions.add(Subscription(feed, CALLER))

    assert feeds.n_streams == n_streams
    assert least_s <= feeds.rest_s() <= most_s
