"""Many jobs into one update: cut into bunches by number and size, several requests at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

BUNCH_JOBS = 5_000
BUNCH_BYTES = 8 << 20
"""Half of what the server takes, so that the rest of the request has room."""
PARALLEL = 6

Bunch = tuple[int, list[msgspec.Raw]]
"""Number of its first job in the update (from 1), and the jobs, encoded."""


def cut_bunches(
    jobs: Iterable[Mapping[str, Any] | msgspec.Struct],
    *,
    jobs_max: int = BUNCH_JOBS,
    bytes_max: int = BUNCH_BYTES,
) -> Iterator[Bunch]:
    """Yield consecutive bunches within both limits; one job that is larger than a bunch stands
    alone.
    """
    encode = msgspec.msgpack.Encoder().encode
    first, size = 1, 0
    bunch: list[msgspec.Raw] = []
    for job in jobs:
        body = encode(job)
        if bunch and (len(bunch) >= jobs_max or size + len(body) > bytes_max):
            yield first, bunch
            first, size, bunch = first + len(bunch), 0, []
        bunch.append(msgspec.Raw(body))
        size += len(body)
    if bunch:
        yield first, bunch


async def send_bunches(
    bunches: Iterator[Bunch],
    send: Callable[[Bunch], Awaitable[object]],
    *,
    parallel: int = PARALLEL,
    on_sent: Callable[[int], None] | None = None,
) -> None:
    """Send each bunch, `parallel` requests at a time. `on_sent` is told how many jobs each held.

    Only so many bunches exist at once, so an endless iterator costs no memory. The first error
    ends all and is raised.
    """

    async def work() -> None:
        # All workers draw from one iterator: nobody awaits inside it, so no two get the same
        # bunch.
        for bunch in bunches:
            await send(bunch)
            if on_sent is not None:
                on_sent(len(bunch[1]))

    workers = [asyncio.create_task(work()) for _ in range(parallel)]
    try:
        # No TaskGroup: up to Python 3.12.7 one that failed leaves its task half cancelled, for
        # which the next `asyncio.timeout` of 3.11.3 and older is a cancellation.
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
