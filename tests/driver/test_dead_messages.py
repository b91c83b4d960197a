"""The loop that keeps what nobody wants, with a transport and a store that are lists; and the one
that writes events out: a page is read while the one before it is written.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from contexts import beside
from driver.fake_store import FakeDriverStore
from weft.core.access.rights import UserRole
from weft.driver.adapters import Adapters
from weft.driver.loops import dead_messages
from weft.driver.loops import events_out as loop
from weft.driver.loops.bell import Bell, DueDate
from weft.driver.loops.deliveries import Post
from weft.driver.loops.events_out import EventsOut, tell_events
from weft.driver.loops.loop import LoopContext
from weft.driver.loops.release import Transports
from weft.ports.senders import Answered, CallbackSender, Mail
from weft.ports.store import Caller, DeadMessage, EventReader, WantedAgain
from weft.ports.topics import EventSink, Record
from weft.ports.transport import DEAD, Death, Route, Transport, TransportError, route_of
from weft.settings import Settings
from weft.store import DriverStore


@dataclass
class Store:
    """What the loop asks of a store."""

    kept: list[DeadMessage] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def list_travelling(
        self, epoch: int, transports: Sequence[str]
    ) -> Sequence[tuple[str, str, str]]:
        """Tell of one queue."""
        del epoch
        return [(transports[0], "home", "q")]

    async def keep_dead_message(
        self, epoch: int, message: DeadMessage, *, keep_max: int, keep_s: float
    ) -> None:
        """Note it."""
        assert (epoch, keep_max, keep_s > 0) == (3, 1000, True)
        self.kept.append(message)

    async def take_dead_messages(
        self, epoch: int, transports: Sequence[str], *, keep_s: float, limit: int
    ) -> Sequence[WantedAgain]:
        """Want one again."""
        del epoch, keep_s, limit
        return [WantedAgain(7, transports[0], "home", "q", b"again")]

    async def end_dead_messages(self, epoch: int, dead_ids: Sequence[int]) -> None:
        """Note it."""
        assert (epoch, list(dead_ids)) == (3, [7])
        self.ended.set()


@dataclass
class Dead:
    """A delivery of the dead queue; the store must have it when it is acknowledged."""

    store: Store
    body: bytes
    death: Death
    acknowledged: asyncio.Event = field(default_factory=asyncio.Event)

    async def acknowledge(self) -> None:
        """Note it."""
        assert self.store.kept[-1].body == self.body[:65_536]
        self.acknowledged.set()


@dataclass
class Mails:
    """Takes mail."""

    taken: list[Mail] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, mail: Mail) -> Answered:
        """Note it."""
        self.taken.append(mail)
        self.came.set()
        return Answered(status=250)


@dataclass
class OneTransport:
    """It brings what it is given."""

    deliveries: Sequence[Dead]
    sent: list[tuple[Route, bytes]] = field(default_factory=list)

    @asynccontextmanager
    async def consume(self, route: Route, *, limit: int) -> AsyncIterator[Any]:
        """Bring them."""
        assert (route, limit > 0) == (Route("home", DEAD), True)

        async def come() -> AsyncIterator[Dead]:
            for one in self.deliveries:
                yield one
            await asyncio.Event().wait()

        yield come()

    async def publish(self, messages: Sequence[tuple[Route, bytes]]) -> Sequence[bool]:
        """Note them."""
        self.sent += messages
        return [True] * len(messages)


async def test_what_comes_is_kept_before_it_is_acknowledged_and_sent_again_if_wanted() -> None:
    store = Store()
    deliveries = [
        Dead(store, b"{", Death("refused", "weft.home.outcomes", "no JSON", 70_000)),
        Dead(store, bytes(100_000), Death("unroutable", "weft.home.submit.typo")),
        Dead(store, b"1", Death("rejected", "weft.other.submit.q")),
    ]
    transport = OneTransport(deliveries)
    transports = Transports(
        cast("Mapping[str, Transport]", {"rabbit": transport}), cast("DriverStore", store)
    )
    mails, bell = Mails(), Bell()
    post = Post(cast("CallbackSender", None), "", mailer=mails)
    context = LoopContext(
        FakeDriverStore(),
        3,
        Settings(dead_messages_mail="ops@site.example"),
        bell,
        DueDate(),
        lambda: None,
        lambda _: None,
        adapters=Adapters(transports, post),
    )
    async with beside(dead_messages.LOOP.run(context)), asyncio.timeout(30):
        for one in deliveries:
            await one.acknowledged.wait()
        await store.ended.wait()
        bell.ring()
        await mails.came.wait()

    assert [(one.queue, len(one.body), one.n_bytes) for one in store.kept] == [
        ("", 1, 70_000),
        ("typo", 65_536, 100_000),
        (None, 1, 1),
    ]
    assert transport.sent[0] == (Route("home", "q"), b"again")
    (mail,) = mails.taken
    assert (mail.to, mail.subject) == ("ops@site.example", "weft: 3 dead messages")


def test_only_names_of_a_tenants_queues_are_routes() -> None:
    for queue in ("q", "", "a.b"):
        assert route_of("home", Route("home", queue).name) == Route("home", queue)
    for name in ("", "weft.home.dead", "weft.home.submit.", "weft.homes.submit.q", "jobs.run"):
        assert route_of("home", name) is None


Position = tuple[int, int]


@dataclass
class EventStore:
    """Some events, and a stored position."""

    n_events: int
    position: Position = (1, 0)

    async def begin_reader(self, *_: object) -> EventReader:
        """Return the stored position."""
        return EventReader(Caller(1, 1, "ada", UserRole.USER), self.position, removed=False)

    async def list_events(
        self, _: Caller, *, after: Position, batch_id: int | None, limit: int
    ) -> tuple[Sequence[Mapping[str, Any]], Position]:
        """Return the next ones."""
        assert batch_id is None
        numbers = range(after[1] + 1, min(after[1] + limit, self.n_events) + 1)
        rows = [
            dict.fromkeys(("jobs", "groups", "trace_id", "detail", "from_state", "to_state"))
            | {"xid": 1, "event_id": n, "at": datetime.now(UTC), "kind": "x", "batch_id": 7}
            for n in numbers
        ]
        return rows, (1, numbers[-1]) if numbers else after

    async def keep_position(self, _: int, reader: str, xid: int, event_id: int) -> None:
        """EventStore it."""
        assert reader == "events kafka default"
        self.position = (xid, event_id)


@dataclass
class Sink:
    """What was written; it refuses the record that is named."""

    refuses: str = ""
    ids: list[str] = field(default_factory=list)

    async def make(self, partitions: Mapping[str, int]) -> None:
        """Make it."""
        assert partitions == {"weft.default.events": loop.PARTITIONS}

    async def publish(self, records: Sequence[Record]) -> Sequence[bool]:
        """Note them."""
        self.ids += [one.headers["id"] for one in records]
        return [one.headers["id"] != self.refuses for one in records]


async def tell(store: EventStore, sink: Sink) -> bool:
    out = EventsOut(cast("EventSink", sink), cast("DriverStore", store), "kafka", "default", "ada")
    context = LoopContext(
        FakeDriverStore(), 1, Settings(), Bell(), DueDate(), lambda: None, lambda _: None
    )
    return await tell_events(context, out)


async def test_all_events_go_out_once_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "EVENTS_MAX", 3)
    store, sink = EventStore(8), Sink()

    assert await tell(store, sink)
    assert sink.ids == [f"1-{n}" for n in range(1, 9)]
    assert store.position == (1, 8)
    assert not await tell(store, sink)


async def test_nothing_passes_what_was_not_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page after it was read, and is not written; what was confirmed before it is not written
    again.
    """
    monkeypatch.setattr(loop, "EVENTS_MAX", 3)
    store, sink = EventStore(8), Sink(refuses="1-5")
    with pytest.raises(TransportError):
        await tell(store, sink)

    assert store.position == (1, 4)
    assert sink.ids == [f"1-{n}" for n in range(1, 7)]
    sink.refuses = ""
    await tell(store, sink)
    assert sink.ids[6:] == [f"1-{n}" for n in range(5, 9)]
