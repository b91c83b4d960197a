"""What people are told of runs that travel over topics and that nobody answers; records on their
way out are written in sets.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from contexts import beside
from weft.core.states import AttemptKey
from weft.plugins.runners.simulation.exchange import Exchange, Outbox, Travel
from weft.plugins.runners.simulation.steps import Adder, Output
from weft.ports.topics import JobTopics, Record
from weft.ports.transport import TransportError


class Topics:
    """Takes records up to the first that is too large, as librdkafka does; counts the calls."""

    def __init__(self) -> None:
        self.n_calls = 0

    async def publish(self, records: Sequence[Record]) -> Sequence[bool]:
        """Take what comes before."""
        self.n_calls += 1
        await asyncio.sleep(0)
        n_kept = next((n for n, one in enumerate(records) if one.value), len(records))
        if not n_kept:
            raise TransportError("nothing was confirmed")
        return [n < n_kept for n in range(len(records))]


def _record(value: bytes = b"") -> Record:
    return Record("run-job", "job", value, {})


async def test_what_waits_is_written_together() -> None:
    topics = Topics()
    outbox = Outbox(cast("Any", topics))

    assert all(await asyncio.gather(*(outbox.write(_record()) for _ in range(1000))))
    assert topics.n_calls <= 3


async def test_a_record_that_cannot_be_written_holds_up_no_other_for_long() -> None:
    """Those behind it are told, and their next try succeeds."""
    outbox = Outbox(cast("Any", Topics()))
    some = [_record(), _record(b"too large"), _record()]

    assert await asyncio.gather(*map(outbox.write, some)) == [True, False, False]
    assert not await outbox.write(some[1])
    assert await outbox.write(some[2])


TRAVEL = Travel("kafka", "7d3a0c9e-3f0c-4d55-9f43-6a8c8f1f8c11", "trace")


class QuickExchange(Exchange):
    """Says at once what others say after ten seconds."""

    say_after_s = 0.01


class SilentTopics:
    """Takes records, except the first refusals; nobody reads them."""

    def __init__(self, n_refusals: int) -> None:
        self.n_refusals = n_refusals

    async def make(self, partitions: object) -> None:
        """Have them all."""

    async def publish(self, records: Sequence[Record]) -> Sequence[bool]:
        """Take them, unless they are to be refused."""
        self.n_refusals -= 1
        if self.n_refusals >= 0:
            raise TransportError("away")
        return [True for _ in records]

    @asynccontextmanager
    async def follow(self, *_: object) -> AsyncIterator[AsyncIterator[Any]]:
        """Bring nothing."""
        yield self._nothing()

    @asynccontextmanager
    async def consume(self, *_: object, limit: int) -> AsyncIterator[AsyncIterator[Any]]:
        """Bring nothing."""
        del limit
        yield self._nothing()

    async def _nothing(self) -> AsyncIterator[Any]:
        await asyncio.Event().wait()
        yield None


def topics_of(n_refusals: int) -> JobTopics:
    fake = cast("Any", SilentTopics(n_refusals))
    none = cast("Any", None)
    return JobTopics(
        name="kafka",
        topics=fake,
        tenant="default",
        door="jobweaver",
        ledger=none,
        group="workers",
        limit=1,
        answer_s=0.05,
        keep_s=60.0,
        refusal=lambda _: None,
    )


@pytest.mark.parametrize(
    ("n_refusals", "first"),
    [
        (0, "nobody has answered its run over kafka yet; asked 2 times"),
        (1, "the topics of kafka do not take its run"),
    ],
)
async def test_people_are_told_why_a_run_waits(n_refusals: int, first: str) -> None:
    exchange = QuickExchange(topics_of(n_refusals), "owner", Adder(1))
    output = Output(AttemptKey(1, 1, 1), cast("Any", None), 0)
    said: asyncio.Queue[str] = asyncio.Queue()
    sending = exchange.send(TRAVEL, (), output, 1, said.put_nowait)
    async with beside(exchange.run()), beside(sending), asyncio.timeout(20):
        told = [await said.get() for _ in range(2)]

    assert told[0] == first
    assert told[1].startswith("nobody has answered its run over kafka yet; asked ")
