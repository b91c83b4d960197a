"""The loop that keeps what nobody wants, with a transport and a store that are lists."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, cast

from driver.fake_store import FakeDriverStore
from weft.driver.adapters import Adapters
from weft.driver.loops import dead_messages
from weft.driver.loops.bell import Bell, DueDate
from weft.driver.loops.deliveries import Post
from weft.driver.loops.loop import LoopContext
from weft.driver.loops.release import Transports
from weft.ports.senders import Answered, CallbackSender, Mail
from weft.ports.store import DeadMessage, WantedAgain
from weft.ports.transport import DEAD, Death, Route, Transport, route_of
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
        FakeDriverStore(), 3, Settings(dead_messages_mail="ops@site.example"), bell, DueDate(),
        lambda: None, lambda _: None, adapters=Adapters(transports, post),
    )  # fmt: skip
    loop = asyncio.ensure_future(dead_messages.LOOP.run(context))
    try:
        async with asyncio.timeout(30):
            for one in deliveries:
                await one.acknowledged.wait()
            await store.ended.wait()
            bell.ring()
            await mails.came.wait()
    finally:
        loop.cancel()
        with suppress(asyncio.CancelledError):
            await loop

    assert [(one.queue, len(one.body), one.n_bytes) for one in store.kept] == [
        ("", 1, 70_000), ("typo", 65_536, 100_000), (None, 1, 1),
    ]  # fmt: skip
    assert transport.sent[0] == (Route("home", "q"), b"again")
    (mail,) = mails.taken
    assert (mail.to, mail.subject) == ("ops@site.example", "weft: 3 dead messages")


def test_only_names_of_a_tenants_queues_are_routes() -> None:
    for queue in ("q", "", "a.b"):
        assert route_of("home", Route("home", queue).name) == Route("home", queue)
    for name in ("", "weft.home.dead", "weft.home.submit.", "weft.homes.submit.q", "jobs.run"):
        assert route_of("home", name) is None
