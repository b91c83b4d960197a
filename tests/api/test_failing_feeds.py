"""A feed that cannot be read does not keep the others from their events."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, cast

import pytest

from api.test_feed_memory import event_rows
from weft.api.feeds import AWAY_FEEDS, Feed, Feeds, Position
from weft.core.errors import Unavailable
from weft.ports.store import Caller, Notices, Row
from weft.store import ApiStore

UNAVAILABLE = Unavailable("away", detail="It is away.", hint="Wait.")
ADA, BOB = Caller(1, 1, "ada"), Caller(1, 2, "bob")


class _Store:
    """Has one event more each time that ada's were read, until there are `last`. Bob's reads fail
    until ada has all of hers.
    """

    def __init__(self, error: Exception, last: int) -> None:
        self.error = error
        self.last = last
        self.n_events = 0
        self.n_failures = 0

    async def events_now(self) -> Position:
        return (self.n_events, 1)

    async def wait_for_events(self, **_: bool) -> bool:
        return False

    async def list_events(
        self, caller: Caller, *, after: Position, batch_id: int | None, limit: int
    ) -> tuple[Sequence[Row], Position]:
        assert (batch_id, limit > 0) == (None, True)
        await asyncio.sleep(0)
        if caller.user_id == BOB.user_id and self.n_events < self.last:
            self.n_failures += 1
            raise self.error
        numbers = range(after[0] + 1, self.n_events + 1)
        if caller.user_id == ADA.user_id and self.n_events < self.last:
            self.n_events += 1
        return event_rows(numbers), (max(numbers, default=after[0]), 0)


class _Notices:
    """Tells nothing: only what a feed asks for itself wakes the reader."""

    async def listen(self, channel: str) -> AsyncIterator[str]:
        assert channel == "events"
        await asyncio.Event().wait()
        yield ""


def _feeds(store: Any) -> Feeds:  # noqa: ANN401 (a stand-in)
    return Feeds(cast("ApiStore", store), cast("Notices", _Notices()), lambda _: b"")


async def _read_until(feed: Feed, last: int) -> list[int]:
    """Return the numbers of the events that a feed remembers when it has come to the last one."""
    async with asyncio.timeout(60):
        while feed.position is None or feed.position < (last, 0):
            await feed.changed(60)
    return [one.position[0] for one in feed.since((0, 0))]


@pytest.mark.heavy
@pytest.mark.parametrize("error", [RuntimeError("broken"), UNAVAILABLE], ids=str)
async def test_failing_feed_leaves_the_others_alone_and_is_read_again(error: Exception) -> None:
    store = _Store(error, 50)
    feeds = _feeds(store)
    # His is the first that is read.
    async with feeds.open(BOB) as failing, feeds.open(ADA) as other:
        seen = await _read_until(other, 50)
        n_failures = store.n_failures
        await _read_until(failing, 50)
        failures = failing.failures
    await feeds.finish()

    assert seen == list(range(1, 51))
    assert 1 <= n_failures < 25  # it rests, while ada's is read
    assert failures == 0


async def test_away_for_all_is_noticed_after_a_few() -> None:
    """However many feeds there are: each would wait for a connection."""
    store = _Store(UNAVAILABLE, 1)
    feeds = _feeds(store)
    for number in range(100):
        feeds._feeds[1, number, False] = Feed(cast("ApiStore", store), BOB, lambda _: b"")
    with pytest.raises(Unavailable):
        await feeds._read_all()

    assert store.n_failures == AWAY_FEEDS
