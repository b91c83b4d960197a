"""Checkpoints of jobs between their attempts. Those of a worker outside travel: away from here
while an attempt runs and when it ends without success, and here before the next one starts. They
are removed, as what jobs wrote, once their jobs have ended. Nobody tells of a job that ends
elsewhere: while something is kept, all of it is looked at from time to time.

An attempt's directory is that of its job (`kept/b12.j7`), or one of the spawner's stock, with a
link beside it that names the job. `of/b12.j7` says which attempt wrote what is here, so that an
older one does not hide what another machine has brought since.
"""

import asyncio
import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from weft.core.errors import DiskFull, Unavailable, WeftError
from weft.core.states import AttemptKey, Reason
from weft.ports.checkpoints import CheckpointCarrier, CheckpointFound
from weft.ports.file_store import FileDiffers, FileProblem, FileRefused, HeldFile
from weft.ports.log_store import LogKeeper
from weft.ports.patience import until_answered, wait_at_most
from weft.ports.runner import Ended
from weft.ports.store import WorkerStore
from weft.telemetry.log import log
from weft.wire.spawner import Account
from weft.worker.agent.held import HeldAttempts
from weft.worker.private_files import make_private
from weft.worker.stager.packing import Entry, pack, survey
from weft.worker.stager.placing import give, unpack_checkpoint
from weft.worker.trees import remove_tree

_ASKED_MAX = 1000
"""Jobs, or batches, in one question to the database."""
_LINKS_OF_EMPTY = 2
_NAME = re.compile(r"b([1-9][0-9]{0,17})\.j([1-9][0-9]{0,8})")
_TRIES: Final = 3
_OWNER: Final = ".owner"
_NO_OTHER: Final = frozenset({Reason.CANCELLED, Reason.LOST, Reason.OVERDUE})
"""After these no attempt follows, or the server takes nothing of this one any more."""


@dataclass(frozen=True, kw_only=True)
class TravelSite:
    """Where checkpoints are, and how they travel."""

    root: Path
    worker: str
    """Of the directory of the spawner's stock."""
    carrier: CheckpointCarrier
    every_s: float
    bytes_max: int


class CheckpointTravel:
    """The checkpoints of one incarnation; `site` None: they stay where they are."""

    def __init__(self, site: TravelSite | None, held: HeldAttempts) -> None:
        self._site = site
        self._held = held
        self._seen: dict[AttemptKey, list[Entry]] = {}
        """What was brought away, or refused, as it was then."""
        self._at_work = asyncio.Lock()

    async def run(self) -> None:
        """Bring away what changes while attempts run, until cancelled."""
        if self._site is None:
            return
        while True:
            await asyncio.sleep(self._site.every_s)
            try:
                found = await asyncio.to_thread(self._directories)
                for key in [one for one in self._held.by_key if _name(one) in found]:
                    held = self._held.by_key.get(key)
                    if held is not None and held.is_sent and not held.ended:
                        await self._bring_away(key, found[_name(key)])
            except Unavailable:
                continue

    def wants(self, ended: Ended) -> bool:
        """Say whether the end of an attempt is to wait until its checkpoint is away."""
        if self._site is None:
            return False
        is_over = ended.reason is None or ended.reason in _NO_OTHER
        return not is_over and (self._site.root / "kept" / _name(ended.key)).is_dir()

    async def take_away(self, key: AttemptKey) -> None:
        """Bring away what an attempt has left. What is refused is logged: the attempt has ended,
        and its job goes on from what was brought before.
        """
        assert self._site is not None
        directory = self._site.root / "kept" / _name(key)
        await until_answered(lambda: self._bring_away(key, directory))

    def forget(self, key: AttemptKey) -> None:
        """Forget an attempt, once its end is recorded."""
        self._seen.pop(key, None)

    def is_wanted(self, key: AttemptKey) -> bool:
        """Say whether an attempt may find what an earlier one has left elsewhere."""
        return self._site is not None and key.attempt > 1

    async def bring_here(self, key: AttemptKey, account: Account | None) -> None:
        """Bring here what an earlier attempt has left, unless it is. Raise `OSError`."""
        assert self._site is not None
        carrier = self._site.carrier
        try:
            for left in reversed(range(_TRIES)):
                found = await until_answered(lambda: carrier.find(key))
                if found is None or found.attempt <= await asyncio.to_thread(self._here, key):
                    return None
                try:
                    return await self._fetch(key, found, account)
                except FileDiffers:  # another one took its place meanwhile
                    if not left:
                        raise
        except (WeftError, FileProblem) as error:  # an older api keeps none
            log.warning("checkpoints.not_brought", key=key, error=f"{error}")

    async def _fetch(
        self, key: AttemptKey, found: CheckpointFound, account: Account | None
    ) -> None:
        site = self._site
        assert site is not None
        arriving = site.root / "arriving"
        await asyncio.to_thread(make_private, str(arriving))
        fresh = arriving / os.urandom(8).hex()
        with tempfile.TemporaryFile(dir=arriving) as archive:
            at, digest = 0, hashlib.sha256()
            while data := await until_answered(partial(site.carrier.read, key, at)):
                at += await asyncio.to_thread(archive.write, data)
                digest.update(data)
                if at > found.n_bytes:
                    break
            if at != found.n_bytes or digest.digest() != found.digest:
                raise FileDiffers("it is not what was kept")
            archive.seek(0)
            try:
                await asyncio.to_thread(
                    unpack_checkpoint, fresh, archive, bytes_max=max(at, site.bytes_max)
                )
                if account is not None:
                    await asyncio.to_thread(give, fresh, account)
                await asyncio.to_thread(self._place, key, found.attempt, fresh)
            finally:
                if fresh.exists():
                    await asyncio.to_thread(remove_tree, fresh)
        log.info("checkpoints.brought", key=key, bytes=at, attempt=found.attempt)

    def _place(self, key: AttemptKey, attempt: int, fresh: Path) -> None:
        """Give a directory to the job. An older one goes, as what nobody finds goes."""
        assert self._site is not None
        kept = self._site.root / "kept"
        with suppress(FileNotFoundError):
            (kept / _name(key)).rename(kept / f"{os.urandom(8).hex()}.left")
        fresh.rename(kept / _name(key))
        self._note(key, attempt)

    async def _bring_away(self, key: AttemptKey, directory: Path) -> None:
        """Bring away what is there, if it has changed. Raise `Unavailable`; for a full disk, which
        may stay so, nobody waits: the next round tries again.
        """
        async with self._at_work:
            for n_left in reversed(range(_TRIES)):
                try:
                    await self._bring_now(key, directory)
                except (WeftError, FileProblem, OSError) as error:
                    if isinstance(error, Unavailable) and not isinstance(error, DiskFull):
                        raise
                    if n_left and isinstance(error, FileDiffers):
                        continue
                    log.warning("checkpoints.not_kept", key=key, error=f"{error}")
                return

    async def _bring_now(self, key: AttemptKey, directory: Path) -> None:
        site = self._site
        assert site is not None
        entries = await asyncio.to_thread(survey, directory)
        if entries == self._seen.get(key, []):
            return
        try:
            with tempfile.TemporaryFile(dir=site.root) as out:
                digest = await asyncio.to_thread(
                    pack, directory, entries, out, bytes_max=site.bytes_max
                )
                n_bytes = out.seek(0, os.SEEK_END)
                await site.carrier.keep(key, HeldFile(out.fileno(), n_bytes, digest))
        except (Unavailable, FileDiffers):
            raise
        except (WeftError, FileRefused):
            self._seen[key] = entries  # as it is, it is refused again
            raise
        self._seen[key] = entries
        await asyncio.to_thread(self._note, key, key.attempt)

    def _directories(self) -> Mapping[str, Path]:
        """Return the directories of jobs that have one, by their names."""
        assert self._site is not None
        kept, fresh = self._site.root / "kept", self._site.root / "fresh" / self._site.worker
        found = {}
        with suppress(FileNotFoundError):
            found = {path.name: path for path in kept.iterdir()}
        with suppress(FileNotFoundError):
            for path in fresh.glob(f"*{_OWNER}"):
                with suppress(OSError):
                    found[os.readlink(path)] = path.with_name(path.name.removesuffix(_OWNER))  # noqa: PTH115 (the text)
        return found

    def _here(self, key: AttemptKey) -> int:
        """Return which attempt wrote what is here; 0: none, or one that nobody has seen."""
        assert self._site is not None
        with suppress(FileNotFoundError, ValueError):
            if (self._site.root / "kept" / _name(key)).is_dir():
                return int((self._site.root / "of" / _name(key)).read_text())
        return 0

    def _note(self, key: AttemptKey, attempt: int) -> None:
        assert self._site is not None
        directory = self._site.root / "of"
        with suppress(OSError):
            make_private(str(directory))
            (directory / _name(key)).write_text(str(attempt))


Job = tuple[int, int]


def _name(key: AttemptKey) -> str:
    return f"b{key.batch_id}.j{key.job_id}"


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
            if (self._kept / _name(key)).is_dir():
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
            if not await wait_at_most(self._again_s if is_left else None, self._wanted):
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
