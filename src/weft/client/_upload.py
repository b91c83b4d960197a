"""Many jobs to one update: bunches of the right size, several at a time, and where it broke off
it can go on.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from weft.client._session import new_key
from weft.core.errors import FieldError, WeftError

if TYPE_CHECKING:
    from weft.client.api import Api

BUNCH_JOBS_MIN = 100
BUNCH_JOBS_MAX = 10_000
BUNCH_BYTES = 1 << 20
"""A bunch of so many bytes is sent, if it has `BUNCH_JOBS_MIN` jobs."""
BUNCH_BYTES_MAX = 8 << 20
"""Half of what the server takes, so that the rest of the request has room."""
PARALLEL = 6

Bunch = tuple[int, list[msgspec.Raw]]
"""Number of its first job in the update (from 1), and the jobs, encoded."""
Job = Mapping[str, Any] | msgspec.Struct | msgspec.Raw


def cut_bunches(
    jobs: Iterable[Job],
    *,
    jobs_min: int = BUNCH_JOBS_MIN,
    jobs_max: int = BUNCH_JOBS_MAX,
    bytes_aim: int = BUNCH_BYTES,
    bytes_max: int = BUNCH_BYTES_MAX,
) -> Iterator[Bunch]:
    """Yield consecutive bunches: of `jobs_min` to `jobs_max` jobs and about `bytes_aim` bytes.

    `bytes_max` goes before `jobs_min`; one job that is larger than a bunch stands alone.
    """
    encode = msgspec.msgpack.Encoder().encode
    first, size = 1, 0
    bunch: list[msgspec.Raw] = []
    for job in jobs:
        body = job if isinstance(job, msgspec.Raw) else msgspec.Raw(encode(job))
        grown = size + len(body)
        is_enough = len(bunch) >= jobs_min and grown > bytes_aim
        if bunch and (is_enough or len(bunch) >= jobs_max or grown > bytes_max):
            yield first, bunch
            first, grown, bunch = first + len(bunch), len(body), []
        bunch.append(body)
        size = grown
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


@dataclass
class Upload:
    """One update on its way to a batch.

    `run` may be called again after it failed, and goes on where it was: the numbers are reserved
    once, by a key of their own, and a bunch that arrived without our knowing is not taken twice.
    """

    n_jobs: int
    jobs: Callable[[], Iterable[Job]]
    """Yields the jobs, numbers instead of names; it may be called again and yields the same."""
    groups: Sequence[Mapping[str, Any]] = ()
    inherit_env: Mapping[str, str] | None = None
    positions: Sequence[int] | None = None
    """Where each job stood in what the user wrote (from 0), for messages; none: here as there."""
    _key: str = field(default_factory=new_key)
    _sent: set[int] = field(default_factory=set)
    """First jobs of the bunches that are there."""

    async def run(
        self, api: "Api", batch_id: int, *, on_sent: Callable[[int], None] | None = None
    ) -> Mapping[str, Any]:
        """Reserve, fill and commit; return the document of the update."""
        update = await api.reserve_update(
            batch_id, n_jobs=self.n_jobs, n_groups=len(self.groups), key=self._key
        )
        if update["committed"]:  # by an earlier run, whose answer was lost
            return update
        update_id = int(update["update_id"])
        for start in range(0, len(self.groups), BUNCH_JOBS_MAX):
            groups = self.groups[start : start + BUNCH_JOBS_MAX]
            await api.add_groups(batch_id, update_id, start + 1, groups)

        async def send(bunch: Bunch) -> None:
            if bunch[0] not in self._sent:
                await self._send(api, batch_id, update_id, bunch)

        await send_bunches(cut_bunches(self.jobs()), send, on_sent=on_sent)
        return await api.commit_update(batch_id, update_id)

    async def _send(self, api: "Api", batch_id: int, update_id: int, bunch: Bunch) -> None:
        first, jobs = bunch
        try:
            await api.add_jobs(batch_id, update_id, first, jobs, inherit_env=self.inherit_env)
        except WeftError as error:
            error.errors = tuple(self._moved(one, first) for one in error.errors)
            raise
        self._sent.add(first)

    def _moved(self, error: FieldError, first: int) -> FieldError:
        """Return the error with the place in the whole instead of that in a bunch."""
        parts = error.pointer.split("/")
        if len(parts) < 3 or parts[1] != "jobs" or not parts[2].isdecimal():  # noqa: PLR2004 (/jobs/N)
            return error
        place = int(parts[2]) + first - 1
        parts[2] = str(place if self.positions is None else self.positions[place])
        return FieldError("/".join(parts), error.message)
