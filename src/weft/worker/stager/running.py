"""Look into the directories of running attempts of workers on this host.

Jobs write there while this reads: no link is followed, nothing but plain files is opened.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from weft.core.files.file_paths import WrongPath
from weft.ports.file_store import FileProblem
from weft.ports.running_files import SECONDS_MAX, RunningAttempt, RunningFile
from weft.wire.documents.files import FileOutput
from weft.worker.stager.directories import Plan, read_plan
from weft.worker.stager.finding import find_outputs, opened_output

_ALL: Final = (FileOutput("**", optional=True),)
_BYTES_MAX: Final = 1 << 62
_PIECE_BYTES: Final = 256 << 10


class RunningDirectories:
    """See the port for the methods. `scratch`: has a directory for each worker, whose name
    `folder_of` gives. Workers of one home may serve several databases, with jobs of equal numbers.
    """

    def __init__(self, scratch: Path, *, folder_of: Callable[[str], str], files_max: int) -> None:
        self._scratch = scratch
        self._folder_of = folder_of
        self._files_max = files_max

    async def listed(self, of: RunningAttempt) -> Sequence[RunningFile]:
        return await asyncio.to_thread(self._list, of)

    async def find(self, of: RunningAttempt, path: str) -> RunningFile | None:
        return await asyncio.to_thread(self._find, of, path)

    async def read(
        self, of: RunningAttempt, path: str, start: int, stop: int
    ) -> AsyncIterator[bytes]:
        while start < stop:
            n_bytes = min(_PIECE_BYTES, stop - start)
            piece = await asyncio.to_thread(self._piece, of, path, start, n_bytes)
            if not piece:
                return
            yield piece
            start += len(piece)

    def _list(self, of: RunningAttempt) -> list[RunningFile]:
        found = self._place(of)
        if found is None:
            return []
        work, plan = found
        with suppress(FileProblem, OSError):
            files = find_outputs(
                work, _ALL, files_max=self._files_max, bytes_max=_BYTES_MAX,
                folder=None if plan.folder is None else Path(plan.folder),
            )  # fmt: skip
            seen = (self._find(of, one.source) for one in sorted(files))
            return [one for one in seen if one is not None]
        return []

    def _find(self, of: RunningAttempt, path: str) -> RunningFile | None:
        found = self._place(of)
        if found is not None:
            with (
                suppress(FileProblem, OSError, WrongPath),
                opened_output(found[0], path, owner=found[1].owner) as fd,
            ):
                facts = os.fstat(fd)
                changed_s = min(max(facts.st_mtime, 0.0), SECONDS_MAX)  # a job sets what it likes
                return RunningFile(path, facts.st_size, changed_s)
        return None

    def _piece(self, of: RunningAttempt, path: str, start: int, n_bytes: int) -> bytes:
        found = self._place(of)
        if found is not None:
            with (
                suppress(FileProblem, OSError, WrongPath),
                opened_output(found[0], path, owner=found[1].owner) as fd,
            ):
                return os.pread(fd, n_bytes, start)
        return b""

    def _place(self, of: RunningAttempt) -> tuple[Path, Plan] | None:
        """Return the directory of an attempt and what becomes of its files."""
        holder = self._scratch / self._folder_of(of.worker) / "files" / of.key.name
        plan = read_plan(holder)
        return None if plan is None else (holder / "work", plan)
