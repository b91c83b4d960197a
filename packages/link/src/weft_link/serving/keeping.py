"""Remove output of workers outside that is to go: that of deleted batches, what is too old, and
the oldest of tenants that have too much. What jobs that have not ended have written stays; once
they have, their checkpoints go.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Final, TypeVar

from weft.core.bounds import LISTED_MAX
from weft.core.errors import WeftError
from weft.ports.spool import Spool, Spooled, SpoolLimits
from weft.ports.worker_link import LinkedStore
from weft.telemetry import metrics
from weft.telemetry.log import log

AskedT = TypeVar("AskedT")
FoundT = TypeVar("FoundT")
_DISK_EVERY_S: Final = 1.0
_STRANGE_S: Final = 86_400.0
_LEFT: Final = 0.9
"""How much of its bound a tenant has left, so that not every look finds something."""


class SpoolKeeping:
    """Looks at the spool from time to time."""

    def __init__(
        self,
        spool: Spool,
        limits: SpoolLimits,
        find_store: Callable[[], LinkedStore],
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._spool = spool
        self._limits = limits
        self._find_store = find_store
        self._clock = clock

    async def watch_disk(self) -> None:
        """Look every second whether the disk has room, until cancelled. This alone waits for a
        slow disk: signs of life do not.
        """
        while True:
            with suppress(OSError):  # `look` tells of it
                await asyncio.to_thread(self._spool.look_at_disk)
            await asyncio.sleep(_DISK_EVERY_S)

    async def look(self) -> None:
        """Remove what is to go."""
        found = await asyncio.to_thread(lambda: list(self._spool.look()))
        metrics.SPOOL_BYTES.set(sum(one.n_bytes for one in found))
        if not found:
            return
        store = self._find_store()
        known = await _really_theirs(store, found)
        await self._remove_strange(found, known)
        await self._remove_known(store, known)

    async def _remove_strange(self, found: Sequence[Spooled], known: Sequence[Spooled]) -> None:
        """Remove folders that nobody wrote to for long, if they hold nothing of any job."""
        newest: defaultdict[str, float] = defaultdict(float)
        for one in found:
            newest[one.folder] = max(newest[one.folder], one.newest)
        before = self._clock().timestamp() - _STRANGE_S
        for folder in newest.keys() - {one.folder for one in known}:
            if newest[folder] < before:
                n_bytes = await asyncio.to_thread(self._spool.remove_folder, folder)
                _note(n_bytes, "strange")

    async def _remove_known(self, store: LinkedStore, found: Sequence[Spooled]) -> None:
        removed = await asked_in_sets(sorted({one.batch_id for one in found}), store.list_removed)
        if removed:
            n_bytes = await asyncio.to_thread(self._spool.forget, removed)
            _note(n_bytes, "deleted")
            found = [one for one in found if one.batch_id not in removed]
        kept = sorted({(one.batch_id, job) for one in found for job in one.checkpoints})
        if ended := await asked_in_sets(kept, store.list_ended_jobs):
            _note(await asyncio.to_thread(self._spool.forget_checkpoints, ended), "ended")
        if self._limits.keep_s is not None:
            found = await self._remove_old(store, found, self._limits.keep_s)
        await self._remove_too_much(store, found)

    async def _remove_old(
        self, store: LinkedStore, found: Iterable[Spooled], keep_s: float
    ) -> list[Spooled]:
        now = self._clock()
        before, left = now.timestamp() - keep_s, []
        why = f"It was removed on {now:%Y-%m-%d}: it was older than {keep_s / 86_400:g} days."
        for one in found:
            n_bytes = await self._drop(store, one, before, why) if one.oldest < before else 0
            _note(n_bytes, "old")
            left.append(one._replace(n_bytes=max(0, one.n_bytes - n_bytes)))
        return left

    async def _remove_too_much(self, store: LinkedStore, found: Sequence[Spooled]) -> None:
        jobs = sorted({(one.batch_id, one.job_id) for one in found})
        users = await asked_in_sets(jobs, store.list_job_users)
        tenants = {user.batch_id: user.tenant_id for user in users}
        of_tenant: defaultdict[int | None, list[Spooled]] = defaultdict(list)
        for one in found:
            of_tenant[tenants.get(one.batch_id)].append(one)
        refused: set[int] = set()
        limit, today = self._limits.tenant_bytes_max, f"{self._clock():%Y-%m-%d}"
        why = f"It was removed on {today}: jobs of one tenant may have {limit} bytes there."
        for some in of_tenant.values():
            n_bytes = sum(one.n_bytes for one in some)
            if n_bytes <= limit:
                continue
            for one in sorted(some, key=lambda one: one.newest):
                if n_bytes > limit * _LEFT:
                    gone = await self._drop(store, one, None, why)
                    _note(gone, "too_much")
                    n_bytes -= gone
            if n_bytes > limit:  # what is left belongs to running jobs
                refused.update(one.batch_id for one in some)
        self._spool.refuse(refused)

    async def _drop(self, store: LinkedStore, one: Spooled, before: float | None, why: str) -> int:
        jobs = await asyncio.to_thread(lambda: self._spool.jobs_of(one, before=before))
        pairs = [(one.batch_id, job) for job in jobs]
        ended = {job for _, job in await asked_in_sets(pairs, store.list_ended_jobs)}
        if not ended:
            return 0
        return await asyncio.to_thread(
            lambda: self._spool.drop(one, ended.__contains__, before=before, why=why)
        )


async def _really_theirs(store: LinkedStore, found: Sequence[Spooled]) -> list[Spooled]:
    """Return what is of batches of which the worker has had a job, or that are deleted. In its
    segments a worker writes whatever it likes, and others shall not pay for that.
    """
    of_folder: defaultdict[str, list[Spooled]] = defaultdict(list)
    for one in found:
        if one.batch_id:
            of_folder[one.folder].append(one)
    known: list[Spooled] = []
    for folder, some in of_folder.items():
        jobs = [(one.batch_id, one.job_id) for one in some]
        theirs = await asked_in_sets(jobs, partial(store.list_run_at, folder))
        left = sorted({one for one, _ in set(jobs) - theirs})
        gone = await asked_in_sets(left, store.list_removed)
        known += [
            one for one in some if (one.batch_id, one.job_id) in theirs or one.batch_id in gone
        ]
    return known


async def looking(look: Callable[[], Awaitable[None]], every_s: float) -> None:
    """Look again and again for what is to go, until cancelled."""
    while True:
        try:
            await look()
        except (WeftError, OSError) as error:  # the next round tries again
            log.warning("spool.not_looked_at", error=f"{error}")
        await asyncio.sleep(every_s)


async def asked_in_sets(
    things: Sequence[AskedT], ask: Callable[[Sequence[AskedT]], Awaitable[Sequence[FoundT]]]
) -> set[FoundT]:
    """Ask the store in bounded sets."""
    found: set[FoundT] = set()
    for first in range(0, len(things), LISTED_MAX):
        found.update(await ask(things[first : first + LISTED_MAX]))
    return found


def _note(n_bytes: int, why: str) -> None:
    if n_bytes:
        metrics.SPOOL_BYTES_REMOVED.labels(why).inc(n_bytes)
        log.info("spool.removed", bytes=n_bytes, why=why)
