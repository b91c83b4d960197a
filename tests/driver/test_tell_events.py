"""The loop that writes events out: a page is read while the one before it is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from driver.fake_store import FakeDriverStore
from weft.core.access.rights import UserRole
from weft.driver.loops import events_out as loop
from weft.driver.loops.bell import Bell, DueDate
from weft.driver.loops.events_out import EventsOut, tell_events
from weft.driver.loops.loop import LoopContext
from weft.ports.store import Caller, EventReader
from weft.ports.topics import EventSink, Record
from weft.ports.transport import TransportError
from weft.settings import Settings
from weft.store import DriverStore

Position = tuple[int, int]


@dataclass
class Store:
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
        """Store it."""
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


async def tell(store: Store, sink: Sink) -> bool:
    out = EventsOut(
        cast("EventSink", sink), cast("DriverStore", store), "kafka", "default", "ada"
    )  # fmt: skip
    context = LoopContext(
        FakeDriverStore(), 1, Settings(), Bell(), DueDate(), lambda: None, lambda _: None
    )
    return await tell_events(context, out)


async def test_all_events_go_out_once_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "EVENTS_MAX", 3)
    store, sink = Store(8), Sink()

    assert await tell(store, sink)
    assert sink.ids == [f"1-{n}" for n in range(1, 9)]
    assert store.position == (1, 8)
    assert not await tell(store, sink)


async def test_nothing_passes_what_was_not_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page after it was read, and is not written; what was confirmed before it is not written
    again.
    """
    monkeypatch.setattr(loop, "EVENTS_MAX", 3)
    store, sink = Store(8), Sink(refuses="1-5")
    with pytest.raises(TransportError):
        await tell(store, sink)

    assert store.position == (1, 4)
    assert sink.ids == [f"1-{n}" for n in range(1, 7)]
    sink.refuses = ""
    await tell(store, sink)
    assert sink.ids[6:] == [f"1-{n}" for n in range(5, 9)]
