"""Notes of running attempts, each a file in a directory of the attempt. They travel apart from
progress and ends, which wait for no note of others.
"""

import asyncio
import math
import os
import time
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from weft.core.errors import ServerReplaced
from weft.core.notes import (
    NOTES_ENDING,
    NOTES_MAX,
    Note,
    WrongNote,
    bytes_max_of,
    checked_note,
    named_note,
)
from weft.core.states import AttemptKey, parse_attempt_name
from weft.ports.patience import Work, run_beside, until_answered
from weft.ports.shared_room import SharedRoom
from weft.ports.store import WorkerStore
from weft.telemetry.log import log
from weft.worker.agent.attempt_files import plain_content
from weft.worker.agent.job_accounts import JobTenants

_IN_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_SEEN_MAX: Final = 1000
"""Of this number of files in its directory the newest notes of an attempt are found."""
_BURST_S: Final = 4.0
"""What a tenant did not use of its rate in so long, it may use at once."""
_OF_A_JOB: Final = 0.25
"""The part of its tenant's rate that a running job has."""
_AT_A_TIME: Final = 4
"""Connections that notes take, and how many of them are in memory."""
_END_S: Final = 30.0
"""An end whose notes would have to wait longer is told without them."""


class _File(NamedTuple):
    """A version of a file: what is equal was told before."""

    changed_ns: int
    inode: int
    n_bytes: int
    name: str


class _Tenant:
    """The turn and the rate of the notes of one tenant: one of it waits for room at a time, so
    that others never wait for many.
    """

    def __init__(self) -> None:
        self.of_running = asyncio.Lock()
        self.turn = asyncio.Lock()
        self._next_at = 0.0

    async def wait(self, n_bytes: int, bytes_per_s: int, *, longest_s: float = math.inf) -> bool:
        """Wait until these bytes are within the rate. False: that would take longer."""
        now = time.monotonic()
        begins_at = max(self._next_at, now - _BURST_S)
        if begins_at - now > longest_s:
            return False
        self._next_at = begins_at + n_bytes / bytes_per_s
        await asyncio.sleep(max(0.0, begins_at - now))
        return True


class NoteFiles:
    """Record the notes of attempts of one incarnation, one of each tenant at a time.

    `bytes_per_s`: how much a tenant may have recorded.
    """

    def __init__(
        self, directory: Path, store: WorkerStore, incarnation_id: int, bytes_per_s: int
    ) -> None:
        self._directory = directory
        self._store = store
        self._incarnation_id = incarnation_id
        self._bytes_per_s = bytes_per_s
        self._job_tenants = JobTenants(store)
        self._tenants: dict[str, _Tenant] = {}
        self._room = SharedRoom(_AT_A_TIME, 1)
        """One of each tenant at a time: its statement may wait for a lock of its own jobs."""
        self._told: dict[AttemptKey, frozenset[_File]] = {}
        self._locks: dict[AttemptKey, asyncio.Lock] = {}
        """An older note is never recorded after a newer one of its title."""
        self._running: set[AttemptKey] = set()
        """Of these what is new is told while they run."""
        self._ending: set[AttemptKey] = set()
        """What is told of these while they run stops."""

    async def run(self, every_s: float, attempts: AbstractSet[AttemptKey]) -> None:
        """Tell what is new of these attempts, which change, until cancelled."""

        async def look(begin: Callable[[Work], None]) -> None:
            while True:
                await asyncio.sleep(every_s)
                for key in (attempts & self._keys()) - self._ending - self._running:
                    self._running.add(key)
                    begin(self._tell_running(key))

        await run_beside(begins=look)

    async def tell_last(self, key: AttemptKey) -> None:
        """Record what is new of an attempt that has ended. Call it before that is reported."""
        path = self._directory / f"{key.name}{NOTES_ENDING}"
        if not path.is_symlink() and not path.is_dir():
            return
        self._ending.add(key)
        await self._tell(key, is_last=True)

    def forget(self, keys: AbstractSet[AttemptKey]) -> None:
        """Forget attempts whose ends are recorded."""
        self._ending -= keys
        self._running -= keys
        for words in (self._told, self._locks):
            for key in words.keys() & keys if words else ():
                del words[key]

    def _keys(self) -> AbstractSet[AttemptKey]:
        try:
            names = os.listdir(self._directory)  # noqa: PTH208 (texts)
        except FileNotFoundError:
            return set()
        found = (name for name in names if name.endswith(NOTES_ENDING))
        keys = (parse_attempt_name(name.removesuffix(NOTES_ENDING)) for name in found)
        return {key for key in keys if key is not None}

    async def _tell_running(self, key: AttemptKey) -> None:
        """Tell notes of one that runs; it begins again when its part of the rate allows it."""
        n_bytes = await self._tell(key, is_last=False)
        await asyncio.sleep(n_bytes / (self._bytes_per_s * _OF_A_JOB))
        self._running.discard(key)

    async def _tell(self, key: AttemptKey, *, is_last: bool) -> int:
        """Record the newest notes that are new, the oldest first; return their bytes. One that
        fails is passed over, as is what is no note: the job may have put anything there.
        """
        path, n_bytes = self._directory / f"{key.name}{NOTES_ENDING}", 0
        files = await asyncio.to_thread(_newest, path)
        if is_last or not self._is_over(key):
            self._told[key] = self._told.get(key, frozenset()).intersection(files)
        for file in files:
            if not is_last and self._is_over(key):
                break
            if file in self._told.get(key, ()):
                continue
            tenant = self._tenants.setdefault(await self._job_tenants.name_of(key), _Tenant())
            if not is_last:
                async with tenant.of_running:  # so that ends wait for one of these at most
                    await tenant.wait(_weight(file), self._bytes_per_s)
                    n_bytes += await self._record(key, path, file, tenant, is_last=False)
            elif await tenant.wait(_weight(file), self._bytes_per_s, longest_s=_END_S):
                await self._record(key, path, file, tenant, is_last=True)
            else:
                log.warning("attempt.notes_cut", key=key, title=file.name)
                break
        return n_bytes

    def _is_over(self, key: AttemptKey) -> bool:
        return key in self._ending or key not in self._running

    async def _record(
        self, key: AttemptKey, path: Path, file: _File, tenant: _Tenant, *, is_last: bool
    ) -> int:
        """Record a note as it is now; return its bytes."""
        if not is_last and self._is_over(key):
            return 0
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock, tenant.turn, self._room.of(tenant):
            if not is_last and self._is_over(key):
                return 0
            file, note = await asyncio.to_thread(_read, path, file)
            if note is not None:
                record = partial(self._store.record_note, self._incarnation_id, key, note)
                try:
                    await until_answered(record)
                except ServerReplaced:
                    raise
                except Exception:
                    log.exception("attempt.note_failed", key=key, title=note.title)
            self._told[key] = self._told.get(key, frozenset()) | {file}
        return file.n_bytes


def _weight(file: _File) -> int:
    """Return how much of the rate a note takes: what is too long is not read, and a statement has
    a price of its own.
    """
    with suppress(WrongNote):
        return 4096 + min(file.n_bytes, bytes_max_of(named_note(file.name)[1]))
    return 0


def _newest(path: Path) -> list[_File]:
    """Return the newest files of an attempt, the oldest first. One that is being written begins
    with a point.
    """
    files = list[_File]()
    with suppress(OSError):
        directory = os.open(path, _IN_DIRECTORY)
        try:
            with os.scandir(directory) as entries:
                files = [
                    _version(entry.name, entry.stat(follow_symlinks=False))
                    for entry in islice(entries, _SEEN_MAX)
                    if entry.name[0] != "." and entry.is_file(follow_symlinks=False)
                ]
        finally:
            os.close(directory)
    return sorted(files)[-NOTES_MAX:]


def _version(name: str, status: os.stat_result) -> _File:
    return _File(status.st_mtime_ns, status.st_ino, status.st_size, name)


def _read(path: Path, file: _File) -> tuple[_File, Note | None]:
    """Return a note as its file is now, and which version that is; None: it is none."""
    with suppress(OSError, WrongNote):
        title, kind = named_note(file.name)
        directory = os.open(path, _IN_DIRECTORY)
        try:
            now = os.stat(file.name, dir_fd=directory, follow_symlinks=False)
            file = _version(file.name, now)
            body = plain_content(file.name, bytes_max_of(kind), directory)
        finally:
            os.close(directory)
        return file, checked_note(title, kind, body)
    return file, None
