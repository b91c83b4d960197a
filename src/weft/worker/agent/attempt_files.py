"""Files in which running attempts say something to the agent: one for each that wrote one. And
messages for them, each a file in a directory of the attempt.
"""

import asyncio
import errno
import os
import stat
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from weft.core.ends.conditions import FILE_BYTES_MAX, Ask, WrongAsk, read_ask
from weft.core.files.products import WrongProducts, read_products
from weft.core.notes import NOTES_ENDING
from weft.core.progress_file import PROGRESS_BYTES_MAX, Progress, WrongProgress, read_progress
from weft.core.states import AttemptKey, Reason, parse_attempt_name
from weft.ports.patience import until_answered
from weft.ports.runner import Ended, without_products
from weft.ports.store import ProgressReport, WorkerStore
from weft.settings import Settings
from weft.wire.documents.files import FileInput
from weft.worker.private_files import make_private
from weft.worker.trees import TreeRemovals

_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_IN_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class AttemptFiles:
    """One file per attempt, if it wrote one. The job may have put anything in its place."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._removals = TreeRemovals()

    def prepare(self, kept: Iterable[AttemptKey]) -> None:
        """Make the directory, and remove what attempts left that are not these."""
        make_private(os.fspath(self._directory))
        names = {key.name for key in kept}
        for entry in self._directory.iterdir():
            if entry.name.removesuffix(NOTES_ENDING) not in names:
                self._removals.remove(entry)

    def names(self) -> Collection[str]:
        """Return the names of attempts that have one."""
        try:
            names = os.listdir(self._directory)  # noqa: PTH208 (texts)
        except FileNotFoundError:
            return ()
        return {name.removesuffix(NOTES_ENDING) for name in names}

    def is_written(self, key: AttemptKey) -> bool:
        """Say whether an attempt put something into its file, which all have in sandboxes, or
        in its place.
        """
        with suppress(OSError):
            status = os.lstat(self._directory / key.name)
            return status.st_size > 0 or not stat.S_ISREG(status.st_mode)
        return False

    def content(self, key: AttemptKey, bytes_max: int) -> bytes:
        """Return what an attempt wrote, or one byte too many. Raise `OSError`."""
        return plain_content(self._directory / key.name, bytes_max)

    def remove(self, keys: Sequence[AttemptKey]) -> None:
        """Remove the files of attempts, if there are any: one look for all, as most have none."""
        names = self.names()
        for name in {key.name for key in keys}.intersection(names) if names else ():
            for ending in ("", NOTES_ENDING):
                self._removals.remove(self._directory / f"{name}{ending}")


def plain_content(path: Path | str, bytes_max: int, directory: int | None = None) -> bytes:
    """Return what a plain file holds, or one byte too many. Raise `OSError` for any other."""
    descriptor = os.open(path, _FLAGS, dir_fd=directory)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file")
        return os.read(descriptor, bytes_max + 1)
    finally:  # `os.fdopen` leaves a directory open
        os.close(descriptor)


BLOCKS: Final = "blocks"
"""Their directory in the worker's scratch directory."""


class BlockFiles(AttemptFiles):
    """What attempts ask to wait for."""

    def read(self, key: AttemptKey) -> tuple[Ask | None, str]:
        """Return what an attempt asks for, or None; and what is ignored. Raise `WrongAsk`."""
        try:
            return read_ask(self.content(key, FILE_BYTES_MAX))
        except FileNotFoundError:
            return None, ""
        except OSError as error:
            raise WrongAsk(f"it cannot be read: {error.strerror}") from error


PROGRESS: Final = "progress"
"""Their directory in the worker's scratch directory."""


class ProgressFiles(AttemptFiles):
    """Progress of attempts of one incarnation; what is wrong is left out.

    The notes of an attempt (`NoteFiles`) are in a directory beside its progress, so that one look
    finds both.
    """

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

    def is_written(self, key: AttemptKey) -> bool:
        with suppress(OSError):
            if os.listdir(self._directory / f"{key.name}{NOTES_ENDING}"):  # noqa: PTH208 (texts)
                return True
        return super().is_written(key)

    def remove(self, keys: Sequence[AttemptKey]) -> None:
        super().remove(keys)
        for key in self._told.keys() & keys if self._told else ():
            del self._told[key]

    def _new(self, keys: AbstractSet[AttemptKey]) -> dict[AttemptKey, Progress]:
        new = {}
        for key in keys:
            try:
                progress = read_progress(self.content(key, PROGRESS_BYTES_MAX))
            except (OSError, WrongProgress):
                continue
            if progress != self._told.get(key):
                new[key] = progress
        return new


PRODUCTS: Final = "products"
"""Their directory in the worker's scratch directory."""
_WITH_PRODUCTS: Final = frozenset({None, Reason.EXIT})
"""Ends that may be successes: a lifecycle says which exit codes are."""


class ProductFiles(AttemptFiles):
    """What attempts of one incarnation have made."""

    def __init__(
        self, directory: Path, settings: Settings, store: WorkerStore, incarnation_id: int
    ) -> None:
        super().__init__(directory)
        self._settings = settings
        self._store = store
        self._incarnation_id = incarnation_id

    async def keep(self, ended: Ended, inputs: Sequence[FileInput]) -> Ended:
        """Record the products of an attempt that has ended; return how its end is to be reported.
        The database keeps them if its job has ended well.
        """
        if ended.reason not in _WITH_PRODUCTS:
            return ended
        try:
            products = await asyncio.to_thread(self.read, ended.key)
        except WrongProducts as error:
            return without_products(ended, str(error))
        if products:
            got = [msgspec.to_builtins(one) for one in inputs] or None
            await until_answered(
                lambda: self._store.record_products(
                    self._incarnation_id, ended.key, products, inputs=got
                )
            )
        return ended

    def read(self, key: AttemptKey) -> Sequence[dict[str, Any]]:
        """Return the products that an attempt names. Raise `WrongProducts`."""
        n_max, bytes_max = self._settings.products_max, self._settings.product_bytes_max
        try:
            content = self.content(key, bytes_max)
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise WrongProducts(error.strerror) from error
        return read_products(content, products_max=n_max, bytes_max=bytes_max)


MESSAGES: Final = "messages"
"""Their directory in the worker's scratch directory."""
_UNFINISHED: Final = ".unfinished"
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class MessageFiles(AttemptFiles):
    """One directory per attempt that got a message. The job may put anything in its place."""

    def add(self, key: AttemptKey, number: int, text: str) -> str:
        """Give an attempt a message; return why not, or nothing. A repeat is the same file."""
        path = self._directory / key.name
        try:
            path.mkdir(mode=0o700, exist_ok=True)
            directory = os.open(path, _IN_DIRECTORY)
            try:
                _write(directory, f"{number:012}", text.encode())
            finally:
                os.close(directory)
        except OSError as error:
            return f"it cannot be written: {error.strerror}"
        return ""

    def wait(self) -> None:
        """Wait until what was removed is gone."""
        self._removals.wait()


def _write(directory: int, name: str, body: bytes) -> None:
    """Make a file that is complete as soon as it has its name."""
    with suppress(FileNotFoundError):
        os.unlink(_UNFINISHED, dir_fd=directory)
    with os.fdopen(os.open(_UNFINISHED, _NEW, 0o600, dir_fd=directory), "wb") as file:
        file.write(body)
    os.rename(_UNFINISHED, name, src_dir_fd=directory, dst_dir_fd=directory)
