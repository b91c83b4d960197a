"""The directories of attempts with files: `NAME/work` is the job's own, beside it what to do. Also
a look into those of running attempts of workers on this host: jobs write there meanwhile, so no
link is followed, nothing but plain files is opened.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from weft.core.files.file_paths import WrongPath
from weft.core.states import AttemptKey
from weft.ports.file_store import FileProblem
from weft.ports.running_files import SECONDS_MAX, RunningAttempt, RunningFile
from weft.ports.store import KeptFile
from weft.wire.documents.files import FileInput, FileOutput
from weft.worker.stager.finding import find_outputs, opened_output
from weft.worker.trees import remove_tree

_MODE: Final = 0o700
_ENTERED_BY_ALL: Final = 0o711
_PLAN: Final = "plan"
_WORK: Final = "work"
_FEW: Final = 100
"""Files that are removed one by one: a program would take longer to start."""


class Plan(msgspec.Struct, frozen=True):
    """What becomes of an attempt's files; the next agent of this worker reads it, too."""

    outputs: tuple[FileOutput, ...] = ()
    owner: int | None = None
    """Whose files outputs must be; None: jobs run as the worker."""
    staging_ms: int = 0
    storing_ms: int = 0
    kept: tuple[KeptFile, ...] | None = None
    """What was kept when it had ended; None: nothing yet."""
    problem: str = ""
    """Why not all was kept."""
    folder: str | None = None
    """Of the job's application."""
    inputs: tuple[FileInput, ...] = ()
    uploads: Mapping[str, str] = {}
    """Those in parts that were begun, by the address of the object."""


class JobDirectories:
    """One directory per attempt with files. `for_accounts`: jobs run under several."""

    def __init__(self, root: Path, *, for_accounts: bool = False) -> None:
        self._root = root
        self._mode = _ENTERED_BY_ALL if for_accounts else _MODE
        self._plans: dict[AttemptKey, Plan] = {}
        self._made: set[AttemptKey] = set()
        self._removing = ThreadPoolExecutor(1, "removing")

    def adopt(self, kept: Iterable[AttemptKey]) -> None:
        """Take over the directories of these attempts, and remove those of others."""
        keys = {key.name: key for key in kept}
        with suppress(FileNotFoundError):
            for entry in list(self._root.iterdir()):
                plan = read_plan(entry) if entry.name in keys else None
                if plan is None:
                    self._removing.submit(_remove, entry)
                else:
                    self._plans[keys[entry.name]] = plan
                    self._made.add(keys[entry.name])

    def make(self, key: AttemptKey) -> Path:
        """Return the new directory of a job. Raise `OSError`."""
        holder = self._root / key.name
        try:
            for path in (self._root.parent, self._root, holder):
                path.mkdir(mode=_MODE, exist_ok=True, parents=True)
                path.chmod(self._mode)
            work = holder / _WORK
            work.mkdir(mode=_MODE)
        finally:
            self._made.add(key)
        return work

    def work_of(self, key: AttemptKey) -> Path:
        """Return the directory of a job."""
        return self._root / key.name / _WORK

    def plan_of(self, key: AttemptKey) -> Plan | None:
        """Return what becomes of an attempt's files; None: it has none."""
        return self._plans.get(key)

    def keep_plan(self, key: AttemptKey, plan: Plan) -> None:
        """Remember a plan, also for the next agent. Raise `OSError`."""
        fresh = self._root / key.name / f"{_PLAN}.{time.monotonic_ns()}"
        fresh.write_bytes(msgspec.msgpack.encode(plan))
        fresh.replace(self._root / key.name / _PLAN)
        self._plans[key] = plan

    def remove(self, key: AttemptKey) -> None:
        """Remove what an attempt had, if it had any files."""
        if key in self._made:  # each attempt that ends comes here, most without files
            self._made.remove(key)
            self._plans.pop(key, None)
            self._removing.submit(_remove, self._root / key.name)


def _remove(holder: Path) -> None:
    """Remove a directory, in a thread: a job may have made a tree of any size. What stays is
    removed by the next agent.
    """
    with suppress(OSError):
        (holder / _PLAN).unlink(missing_ok=True)
        with suppress(OSError):
            for entry in islice((holder / _WORK).iterdir(), _FEW):
                entry.unlink()
            (holder / _WORK).rmdir()
            holder.rmdir()
            return
        remove_tree(holder)


def read_plan(holder: Path) -> Plan | None:
    """Return what becomes of the files of an attempt, by its place; None: nothing is known."""
    try:
        return msgspec.msgpack.decode((holder / _PLAN).read_bytes(), type=Plan)
    except (OSError, msgspec.DecodeError):
        return None


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
            files, _ = find_outputs(
                work,
                _ALL,
                files_max=self._files_max,
                bytes_max=_BYTES_MAX,
                folder=None if plan.folder is None else Path(plan.folder),
            )
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
