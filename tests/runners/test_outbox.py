"""Records on their way out are written in sets."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

from weft.plugins.runners.simulation.outbox import Outbox
from weft.ports.topics import Record
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
