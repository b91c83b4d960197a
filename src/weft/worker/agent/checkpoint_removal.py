"""Remove what jobs kept between their attempts, once they have ended; and what they wrote.

A job may end elsewhere, or without another attempt; nobody tells. So while something is kept, this
looks at all of it from time to time, and also when a batch was removed.
"""

import asyncio
import os
import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from weft.core.states import AttemptKey
from weft.ports.log_store import LogKeeper
from weft.ports.patience import until_answered
from weft.ports.store import WorkerStore
from weft.telemetry.log import log
from weft.worker.trees import remove_tree

_ASKED_MAX = 1000
"""Jobs, or batches, in one question to the database."""
_LINKS_OF_EMPTY = 2
_NAME = re.compile(r"b([1-9][0-9]{0,17})\.j([1-9][0-9]{0,8})")

Job = tuple[int, int]


class CheckpointRemoval:
    """The directories that spawners keep for jobs, and the loop that removes them."""

    def __init__(self, store: WorkerStore, root: Path, *, again_s: float) -> None:
        self._store = store
        self._kept = root / "kept"
        self._attempts = root / "of"
        self._again_s = again_s
        self._jobs: set[Job] = set()
        self._any = True
        self._wanted = asyncio.Event()
        self._wanted.set()

    def on_recorded(self, keys: Iterable[AttemptKey]) -> None:
        """Look at the jobs of these attempts, whose ends are recorded."""
        if self._is_empty():
            return
        for key in keys:
            if (self._kept / f"b{key.batch_id}.j{key.job_id}").is_dir():
                self._jobs.add((key.batch_id, key.job_id))
                self._wanted.set()

    def _is_empty(self) -> bool:
        """Say whether certainly nothing is kept: a directory has a link from each one in it, on
        file systems that count them; the others say 1.
        """
        try:
            return self._kept.stat().st_nlink == _LINKS_OF_EMPTY
        except FileNotFoundError:
            return True

    def look(self) -> None:
        """Look at everything that is kept."""
        self._any = True
        self._wanted.set()

    async def run(self) -> None:
        """Remove what is to go, until cancelled."""
        is_left = False
        while True:
            try:
                async with asyncio.timeout(self._again_s if is_left else None):
                    await self._wanted.wait()
            except TimeoutError:
                self._any = True
            self._wanted.clear()
            jobs, is_any = self._jobs, self._any
            self._jobs, self._any = set(), False
            try:
                is_left = await self._remove_from(jobs, is_any=is_any)
            except OSError as error:
                is_left = True
                log.warning("checkpoints.not_removed", error=f"{error}")

    async def _remove_from(self, jobs: set[Job], *, is_any: bool) -> bool:
        """Remove what belongs to jobs that have ended, or to none; return whether any is left."""
        names = await asyncio.to_thread(self._names)
        kept = {(int(match[1]), int(match[2])) for match in map(_NAME.fullmatch, names) if match}
        gone = [name for name in names if not _NAME.fullmatch(name)]
        asked = sorted(kept if is_any else kept & jobs)
        for first in range(0, len(asked), _ASKED_MAX):
            for batch_id, job_id in await self._ended(asked[first : first + _ASKED_MAX]):
                kept.discard((batch_id, job_id))
                gone.append(f"b{batch_id}.j{job_id}")
        if gone:
            await asyncio.to_thread(self._remove, gone)
            log.info("checkpoints.removed", count=len(gone), first=gone[0])
        return bool(kept)

    async def _ended(self, jobs: Sequence[Job]) -> Sequence[Job]:
        return await until_answered(lambda: self._store.list_ended_jobs(jobs))

    def _names(self) -> list[str]:
        try:
            return [entry.name for entry in self._kept.iterdir()]
        except FileNotFoundError:
            return []

    def _remove(self, names: Sequence[str]) -> None:
        """Remove directories. Each is renamed first, so that no attempt finds half of it."""
        for name in names:
            path = self._kept / f"{os.urandom(8).hex()}.left"
            try:
                (self._kept / name).rename(path)
            except FileNotFoundError:  # another worker of this home was faster
                continue
            (self._attempts / name).unlink(missing_ok=True)
            remove_tree(path)


# It looks through everything when notices may have been missed, as at its start, and on a notice
# at the batch that it names.


class LogRemoval:
    """The batches to look at, and the loop that does it."""

    def __init__(self, store: WorkerStore, keeper: LogKeeper) -> None:
        self._store = store
        self._keeper = keeper
        self._removed: set[int] = set()
        self._any = False
        self._wanted = asyncio.Event()

    def look(self, batch_id: int | None) -> None:
        """Look at a batch that was removed; None: at all of them."""
        if batch_id is None:
            self._any = True
        else:
            self._removed.add(batch_id)
        self._wanted.set()

    async def run(self) -> None:
        """Remove what is to go, until cancelled."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            batches, is_any = self._removed, self._any
            self._removed, self._any = set(), False
            try:
                await self._remove_from(batches, is_any=is_any)
            except OSError as error:
                log.warning("logs.not_removed", error=f"{error}")

    async def _remove_from(self, batches: set[int], *, is_any: bool) -> None:
        """Remove the output of those that the database has removed: a notice proves nothing."""
        kept = set(await self._keeper.batches())
        left = sorted(kept if is_any else kept & batches)
        for first in range(0, len(left), _ASKED_MAX):
            asked = left[first : first + _ASKED_MAX]
            removed = await until_answered(partial(self._store.list_removed, asked))
            if removed:
                await self._keeper.remove(removed)
                log.info("logs.removed", batches=len(removed), first=min(removed))
