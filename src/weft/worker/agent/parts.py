"""What is fetched part by part before attempts are handed over: large arguments of functions into
files, and packed folders, unpacked once for all jobs of this worker.
"""

import asyncio
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from typing import IO, Final

import msgspec

from weft.core.errors import WeftError
from weft.core.states import AttemptKey
from weft.ports.patience import until_answered
from weft.ports.store import WorkerStore
from weft.ports.tree_cache import Once
from weft.wire.app_folder import BadFolder, unpack
from weft.wire.payload import DIGEST, parts_of
from weft.wire.plain_files import open_plain
from weft.wire.spec import JobSpec
from weft.worker.private_files import make_private

_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
KEPT_S: Final = 7 * 86_400
"""A folder that no job has run for this time is removed when an agent begins."""
ReadPart = Callable[[int, bytes, int], Awaitable[tuple[int, bytes] | None]]
"""Returns a part of what has this digest among what jobs of a batch need, counted from 1, and the
length of the whole; None: there is none.
"""


async def write_parts(
    file: IO[bytes],
    read: ReadPart,
    batch_id: int,
    digest: str,
    *,
    what: str,
    bytes_max: int = sys.maxsize,
) -> None:
    """Write all parts to a file. Raise `OSError`; `WeftError` if it is not whole: nobody looked
    before, and another batch may have other bytes by this digest. `what`: "its arguments are".
    """
    content, part, n_parts = hashlib.sha256(), 0, 1
    while part < n_parts:
        part += 1
        row = await until_answered(partial(read, batch_id, bytes.fromhex(digest), part))
        if row is None:
            raise WeftError(f"{what} missing")
        if row[0] > bytes_max:
            raise WeftError(f"{what} larger than {bytes_max} bytes")
        n_parts = parts_of(row[0])
        await asyncio.to_thread(file.write, row[1])
        content.update(row[1])
    if content.hexdigest() != digest:
        raise WeftError(f"{what} not as announced")


class ArgumentFiles:
    """One file per attempt. The process of the call removes it when it has read it; what an
    attempt that never got so far left is removed when that ends.
    """

    def __init__(self, store: WorkerStore, directory: Path) -> None:
        self._store = store
        self._directory = directory
        self._there: set[str] = set()
        """Names of files that may exist."""

    def adopt(self, keys: Iterable[AttemptKey]) -> None:
        """Take over the files of these attempts, and remove those that an earlier agent left."""
        if not self._directory.exists():
            return
        kept = {key.name for key in keys}
        for file in self._directory.iterdir():
            if file.name in kept:
                self._there.add(file.name)
            else:
                file.unlink(missing_ok=True)

    async def fetch(self, key: AttemptKey, spec: JobSpec) -> JobSpec:
        """Return a spec that names the file with its arguments. Raise `OSError` if that cannot be
        written, `WeftError` if the payload is not whole.
        """
        function = spec.function
        assert function is not None
        assert function.arguments_digest is not None
        make_private(os.fspath(self._directory))
        file = self._directory / key.name
        self._there.add(key.name)
        with os.fdopen(open_plain(file, _FLAGS), "wb") as out:
            await write_parts(
                out,
                self._store.get_payload_part,
                key.batch_id,
                function.arguments_digest,
                what="its arguments are",
            )
        called = msgspec.structs.replace(function, arguments_file=str(file))
        return msgspec.structs.replace(spec, function=called)

    def remove(self, key: AttemptKey) -> None:
        """Remove the file of an attempt, if there is one."""
        if self._there and key.name in self._there:
            self._there.discard(key.name)
            (self._directory / key.name).unlink(missing_ok=True)


class Folders:
    """One directory for each content, named by its digest; programs copy it."""

    def __init__(self, read_part: ReadPart, directory: Path, what: str) -> None:
        self._read_part = read_part
        self._directory = directory
        self._what = what
        """Such as "its application"."""
        self._making = Once[None]()

    def tidy(self) -> None:
        """Remove what an earlier agent left half unpacked, and what was not used for long."""
        if not self._directory.exists():
            return
        before = time.time() - KEPT_S
        for path in self._directory.iterdir():
            if not DIGEST.fullmatch(path.name) or path.stat().st_mtime < before:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()

    async def fetch(self, batch_id: int, digest: str, bytes_max: int) -> Path:
        """Return the folder of this content. Raise `OSError` if that cannot be written,
        `WeftError` if it is not whole.
        """
        folder = self._directory / digest
        if folder.is_dir():  # it gets its name when it is whole
            os.utime(folder)
        else:
            make = partial(self._make, batch_id, digest, bytes_max)
            await self._making.get((batch_id, digest), make)
        return folder

    async def _make(self, batch_id: int, digest: str, bytes_max: int) -> None:
        # Jobs may run as other users, who read what they know the name of and never write here.
        self._directory.mkdir(mode=0o711, exist_ok=True)
        folder = self._directory / digest
        packed, half = (folder.with_suffix(f".{batch_id}-{word}") for word in ("packed", "half"))
        try:
            with packed.open("w+b") as file:
                what = f"{self._what} is"
                await write_parts(file, self._read_part, batch_id, digest, what=what)
                file.seek(0)
                shutil.rmtree(half, ignore_errors=True)
                await asyncio.to_thread(unpack, file, half, bytes_max)
            if not folder.is_dir():
                half.rename(folder)
        except BadFolder as error:
            raise WeftError(f"{self._what} cannot be unpacked: {error}") from error
        finally:
            packed.unlink(missing_ok=True)
            shutil.rmtree(half, ignore_errors=True)
