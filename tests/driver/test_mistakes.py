"""A mistake at any step of any loop: that loop begins anew, and the term and the others go on; and
the loop that hears foreign programs, with a transport and a store that are lists.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import pytest

from contexts import beside
from driver.fake_store import FakeDriverStore
from one_transport import Delivery, OneTransport
from weft.core.states import Reason
from weft.driver import lead
from weft.driver.adapters import Adapters
from weft.driver.lead import Term
from weft.driver.loops import LOOPS, autoscale, following, foreign_jobs, outcomes, schedules
from weft.driver.loops.bell import Bell, DueDate
from weft.driver.loops.foreign_jobs import bodies_of
from weft.driver.loops.loop import Loop, LoopContext
from weft.driver.loops.release import Transports
from weft.ports import patience
from weft.ports.store import DueOffer, DueSchedule, ForeignQueues, Listening, OfferEnd
from weft.ports.transport import OUTCOMES, Route, Transport
from weft.settings import Settings
from weft.store import DriverStore
from weft.wire.spec import JobSpec, decode_chunk, encode_chunk

SETTINGS = Settings(home=Path("/nowhere"), heartbeat_s=0.02)


class Mistaken:
    """A store that fails one loop at its nth call."""

    def __init__(self, store: FakeDriverStore, error: type[Exception], at: int) -> None:
        self._store, self._error, self._at = store, error, at
        self.n_calls = 0

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def call(*args: object, **named: object) -> object:
            self.n_calls += 1
            if self.n_calls == self._at:
                raise self._error(name)
            return await getattr(self._store, name)(*args, **named)

        return call

    @property
    def is_through(self) -> bool:
        """It has failed, and the loop has called again; or it makes fewer calls."""
        return self.n_calls != self._at


def mistaken(loop: Loop, error: type[Exception], at: int) -> tuple[Loop, Mistaken]:
    store = Mistaken(FakeDriverStore(), error, at)

    async def run(context: LoopContext) -> None:
        await loop.run(replace(context, store=cast("DriverStore", store)))

    return replace(loop, run=run), store


@pytest.mark.parametrize("error", [RecursionError, MemoryError, ValueError])
@pytest.mark.parametrize("at", [1, 2, 3])
async def test_every_loop_begins_anew(
    error: type[Exception], at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lead, "_RETRY_LONGEST_S", 0.001)
    pairs = [mistaken(loop, error, at) for loop in LOOPS]
    (fold,) = [store for loop, store in pairs if loop.name == "fold"]
    running = Term(FakeDriverStore(), 0, SETTINGS, Adapters(), loops=[loop for loop, _ in pairs])
    async with beside(running.run()) as task:
        async with asyncio.timeout(30):
            while not all(store.is_through for _, store in pairs) or not fold.n_calls > at:
                assert not task.done(), task.exception()
                running.wake_all()
                await asyncio.wait([task], timeout=0.005)


ERRORS = pytest.mark.parametrize("error", [RecursionError, MemoryError, ValueError])
BAD = 2


def poisoned(call: Callable[..., Any], error: type[Exception]) -> Callable[..., Any]:
    """Return a call that fails for the second item: its first argument with a number."""

    def wrapped(*args: Any, **named: Any) -> Any:  # noqa: ANN401 (any call)
        if any(getattr(one, "schedule_id", getattr(one, "offer_id", 0)) == BAD for one in args):
            raise error("poison")
        return call(*args, **named)

    return wrapped


@ERRORS
async def test_a_schedule_that_cannot_be_moved_waits(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedules, "move_of", poisoned(schedules.move_of, error))
    store, now = FakeDriverStore(), datetime(2026, 1, 1, tzinfo=UTC)
    store.schedules.append(
        [DueSchedule(n, "0 * * * *", "UTC", "skip", now, now) for n in (1, 2, 3)]
    )
    running = Term(store, 0, SETTINGS, Adapters(), loops=[schedules.LOOP])
    async with beside(running.run()), asyncio.timeout(30):
        while not store.calls["schedules due"]:
            await asyncio.sleep(0)

    assert {one.schedule_id: len(one.runs) for one in store.moves} == {1: 1, BAD: 0, 3: 1}
    assert all(one.next_at == now + timedelta(hours=1) for one in store.moves)


class Foreign:
    """The store of foreign jobs, in which each has a chunk of its own."""

    def __init__(self) -> None:
        self.ended: dict[int, Reason] = {}

    async def get_chunks(
        self, batches: Sequence[int], firsts: Sequence[int]
    ) -> dict[tuple[int, int], bytes]:
        chunk = encode_chunk([JobSpec(command=("true",))])
        return dict.fromkeys(zip(batches, firsts, strict=True), chunk)

    async def start_answered(self, *args: Any) -> list[str]:  # noqa: ANN401 (of the port)
        return ["runs" for _ in args[-1]]

    async def end_answered(self, *args: Any) -> list[str]:  # noqa: ANN401 (of the port)
        self.ended |= {one.offer_id: one.reason for one in args[-1]}
        return ["ended" for _ in args[-1]]


@ERRORS
@pytest.mark.parametrize("step", ["_spec_of", "decode_chunk"])
async def test_a_job_of_which_no_message_can_be_made_ends_alone(
    step: str, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, fence, now = Foreign(), UUID(int=1), datetime(2026, 1, 1, tzinfo=UTC)
    offers = [DueOffer(n, 1, n, "t", "q", "x", fence, now, n) for n in (1, BAD, 3)]
    if step == "_spec_of":
        call = poisoned(foreign_jobs._spec_of, error)
    else:
        decode = decode_chunk

        async def get_chunks(batches: Sequence[int], firsts: Sequence[int]) -> Any:  # noqa: ANN401
            found = await Foreign.get_chunks(store, batches, firsts)
            return {key: b"" if key[1] == BAD else body for key, body in found.items()}

        def call(body: bytes) -> Any:  # noqa: ANN401
            if not body:
                raise error("poison")
            return decode(body)

        monkeypatch.setattr(store, "get_chunks", get_chunks)
    monkeypatch.setattr(foreign_jobs, step, call)
    bodies = await foreign_jobs.bodies_of(cast("DriverStore", store), 0, offers)

    assert (set(bodies), store.ended) == ({1, 3}, {BAD: Reason.SYSTEM})


@ERRORS
async def test_a_listener_that_fails_is_heard_anew_and_the_others_go_on(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "RETRY_LONGEST_S", 0.0)
    heard, both = list[str](), asyncio.Event()

    async def hear(key: tuple[str, str]) -> None:
        heard.append(key[0])
        if {*heard} == {"a", "b"} and heard.count("a") > 1:
            both.set()
        if key[0] == "a":
            raise error("poison")
        await asyncio.Event().wait()

    one = following.Following(hear)
    await one.follow({("a", ""), ("b", "")})
    async with asyncio.timeout(30):
        await both.wait()
    one.raise_failure()
    await one.end()

    assert heard.count("b") == 1


@ERRORS
async def test_a_pool_for_which_nothing_can_be_decided_holds_up_no_other(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    decided = []

    async def decide(_: autoscale.Autoscaler, row: dict[str, Any]) -> bool:
        if row["pool_id"] == BAD:
            raise error("poison")
        decided.append(row["pool_id"])
        return False

    async def pool_rounds(*_: object, **__: object) -> list[dict[str, Any]]:
        return [{"pool_id": n, "machines": [], "plan": {"provider": ""}} for n in (1, BAD, 3)]

    store = FakeDriverStore()
    monkeypatch.setattr(store, "pool_rounds", pool_rounds)
    monkeypatch.setattr(autoscale.Autoscaler, "_decide", decide)
    term_of_one = Term(store, 0, SETTINGS, Adapters())
    context = term_of_one._context(autoscale.LOOP)
    scaler = autoscale.Autoscaler(context, autoscale.Providers(get=lambda *_: None))  # type: ignore[arg-type]
    await scaler.round()

    assert decided == [1, 3]


FENCE = UUID(int=7)
WITHIN_S = 30.0


@dataclass
class Store:
    """What the loop asks of a store; an offer is `not_now` once, then it runs."""

    started: list[int] = field(default_factory=list)
    ended: list[OfferEnd] = field(default_factory=list)
    tended: asyncio.Event = field(default_factory=asyncio.Event)
    chunks: Mapping[tuple[int, int], bytes] = field(default_factory=dict)

    async def list_foreign(self, epoch: int, transports: Sequence[str]) -> ForeignQueues:
        """Tell of one tenant."""
        del epoch
        return ForeignQueues([(transports[0], "home")], [1])

    async def start_answered(
        self, epoch: int, transport: str, tenant: str, offers: Sequence[tuple[int, UUID]]
    ) -> Sequence[str]:
        """Note them."""
        assert (epoch, transport, tenant) == (3, "rabbit", "home")
        words = ["runs" if one[0] in self.started else "not_now" for one in offers]
        self.started += [one[0] for one in offers]
        return words

    async def end_answered(
        self, epoch: int, transport: str, tenant: str, ends: Sequence[OfferEnd]
    ) -> Sequence[str]:
        """Note them."""
        del epoch, transport, tenant
        self.ended += ends
        return ["ended"] * len(ends)

    async def tend_foreign(
        self, epoch: int, pool_id: int, listening: Sequence[Listening]
    ) -> Sequence[tuple[int, int]]:
        """Note it."""
        del epoch, pool_id, listening
        self.tended.set()
        return [(1, 2)]

    async def expire_offers(
        self, epoch: int, listening: Sequence[Listening]
    ) -> Sequence[tuple[str, str, int]]:
        """Tell of one."""
        del epoch, listening
        return [("rabbit", "ours", 1)]

    async def get_chunks(
        self, batch_ids: Sequence[int], chunk_firsts: Sequence[int]
    ) -> Mapping[tuple[int, int], bytes]:
        """Return them."""
        return {key: self.chunks[key] for key in zip(batch_ids, chunk_firsts, strict=True)}


def said(offer: int, outcome: str, **fields: Any) -> Delivery:  # noqa: ANN401 (JSON)
    """Return an answer."""
    body = {"offer": f"{offer}.{FENCE}", "outcome": outcome, **fields}
    return Delivery(json.dumps(body).encode())


async def test_answers_count_and_are_acknowledged_whatever_they_say() -> None:
    store = Store()
    deliveries = [
        Delivery(b"{"),
        said(1, "started"),
        said(2, "ended", exit_code=3),
        said(3, "ended", reason="no room"),
    ]
    transports = Transports(
        cast(
            "Mapping[str, Transport]",
            {"rabbit": OneTransport(deliveries, Route("home", OUTCOMES))},
        ),
        cast("DriverStore", store),
    )
    context = LoopContext(
        FakeDriverStore(),
        3,
        Settings(),
        Bell(),
        DueDate(),
        lambda: None,
        lambda _: None,
        adapters=Adapters(transports),
    )
    async with beside(outcomes.LOOP.run(context)), asyncio.timeout(WITHIN_S):
        for one in deliveries:
            await one.over.wait()
        await store.tended.wait()

    assert deliveries[0].refused
    assert not any(one.refused for one in deliveries[1:])
    assert store.ended == [
        OfferEnd(2, FENCE, Reason.EXIT, 3, None),
        OfferEnd(3, FENCE, Reason.EXIT, None, "no room"),
    ]


async def test_jobs_that_need_more_than_a_command_end_without_a_message() -> None:
    specs = [JobSpec(command=("true",)), JobSpec(command=("true",), env={"A": "b"})]
    store = Store(started=[12], chunks={(5, 1): encode_chunk(specs)})
    until = datetime(2030, 1, 1, tzinfo=UTC)
    offers = [
        DueOffer(10 + n, 5, n, "home", "ours", "rabbit", FENCE, until, 1) for n in (1, 2)
    ] + [DueOffer(13, 5, 3, "home", "q", "rabbit")]
    bodies = await bodies_of(cast("DriverStore", store), 3, offers)

    assert list(bodies) == [11]
    assert json.loads(bodies[11])["command"] == ["true"]
    assert [(one.offer_id, one.reason) for one in store.ended] == [(12, Reason.BAD_SPEC)]
