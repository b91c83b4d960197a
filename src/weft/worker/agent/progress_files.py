"""How far attempts say that they are in `$WEFT_PROGRESS`: the newest word of each is recorded."""

import asyncio
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final

from weft.core.attempt_key import AttemptKey, parse_attempt_name
from weft.core.progress import PROGRESS_BYTES_MAX, Progress, WrongProgress, read_progress
from weft.ports.patience import until_answered
from weft.ports.store import ProgressReport, WorkerStore
from weft.worker.agent.attempt_files import AttemptFiles, NoPlainFile

PROGRESS: Final = "progress"
"""Their directory in the worker's scratch directory."""


class ProgressFiles(AttemptFiles):
    """The progress of attempts of one incarnation; what is wrong is left out."""

    def __init__(self, directory: Path, store: WorkerStore, incarnation_id: int) -> None:
        super().__init__(directory)
        self._store = store
        self._incarnation_id = incarnation_id
        self._told: dict[AttemptKey, Progress] = {}
        self._telling = asyncio.Lock()
        """An older word is never recorded after a newer one."""

    async def run(self, every_s: float, attempts: AbstractSet[AttemptKey]) -> None:
        """Tell what is new of these attempts, which change, until cancelled."""
        while True:
            await asyncio.sleep(every_s)
            await self.tell(attempts)

    async def tell(self, attempts: AbstractSet[AttemptKey]) -> None:
        """Record what is new. Call it before an end is reported."""
        keys = attempts & {parse_attempt_name(name) for name in self.names()}
        if not keys:
            return
        async with self._telling:
            new = await asyncio.to_thread(self._new, keys)
            if new:
                reports = [
                    ProgressReport(key.batch_id, key.job_id, key.attempt, one.percent, one.text)
                    for key, one in new.items()
                ]
                await until_answered(
                    lambda: self._store.record_progress(self._incarnation_id, reports)
                )
                self._told |= new

    def remove(self, keys: Sequence[AttemptKey]) -> None:
        """Remove the files of attempts, and forget what they said."""
        super().remove(keys)
        for key in self._told.keys() & keys if self._told else ():
            del self._told[key]

    def _new(self, keys: AbstractSet[AttemptKey]) -> dict[AttemptKey, Progress]:
        new = {}
        for key in keys:
            try:
                progress = read_progress(self.content(key, PROGRESS_BYTES_MAX))
            except (NoPlainFile, OSError, WrongProgress):
                continue
            if progress != self._told.get(key):
                new[key] = progress
        return new
