"""The loop that hears foreign programs, with a transport and a store that are lists."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

from driver.fake_store import FakeDriverStore
from one_transport import Delivery, OneTransport
from weft.core.states import Reason
from weft.driver.adapters import Adapters
from weft.driver.loops import outcomes
from weft.driver.loops.bell import Bell, DueDate
from weft.driver.loops.foreign_jobs import bodies_of
from weft.driver.loops.loop import LoopContext
from weft.driver.loops.release import Transports
from weft.ports.store import DueOffer, ForeignQueues, Listening, OfferEnd
from weft.ports.transport import OUTCOMES, Route, Transport
from weft.settings import Settings
from weft.store import DriverStore
from weft.wire.spec import JobSpec, encode_chunk

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
        Delivery(b"{"), said(1, "started"), said(2, "ended", exit_code=3),
        said(3, "ended", reason="no room"),
    ]  # fmt: skip
    transports = Transports(
        cast(
            "Mapping[str, Transport]",
            {"rabbit": OneTransport(deliveries, Route("home", OUTCOMES))},
        ),
        cast("DriverStore", store),
    )
    context = LoopContext(
        FakeDriverStore(), 3, Settings(), Bell(), DueDate(), lambda: None, lambda _: None,
        adapters=Adapters(transports),
    )  # fmt: skip
    loop = asyncio.ensure_future(outcomes.LOOP.run(context))
    try:
        async with asyncio.timeout(WITHIN_S):
            for one in deliveries:
                await one.over.wait()
            await store.tended.wait()
    finally:
        loop.cancel()
        with suppress(asyncio.CancelledError):
            await loop

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
