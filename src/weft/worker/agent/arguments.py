"""Large arguments of functions, fetched into files before their attempts are handed over."""

import asyncio
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import msgspec

from weft.core.attempt_key import AttemptKey
from weft.core.errors import WeftError
from weft.ports.patience import until_answered
from weft.ports.store import WorkerStore
from weft.wire.payload import parts_of
from weft.wire.plain_files import open_plain
from weft.wire.spec import JobSpec
from weft.worker.private_files import make_private

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


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
        await self._write(file, key.batch_id, bytes.fromhex(function.arguments_digest))
        called = msgspec.structs.replace(function, arguments_file=str(file))
        return msgspec.structs.replace(spec, function=called)

    async def _write(self, file: Path, batch_id: int, digest: bytes) -> None:
        found, part, n_parts = hashlib.sha256(), 0, 1
        with os.fdopen(open_plain(file, _FLAGS), "wb") as out:
            while part < n_parts:
                part += 1
                n_bytes, body = await self._read_part(batch_id, digest, part)
                n_parts = parts_of(n_bytes)
                await asyncio.to_thread(_append, out, found, body)
        if found.digest() != digest:
            raise WeftError("its arguments are not those that were announced")

    async def _read_part(self, batch_id: int, digest: bytes, part: int) -> tuple[int, bytes]:
        row = await until_answered(lambda: self._store.get_payload_part(batch_id, digest, part))
        if row is None:
            raise WeftError("its arguments are missing")
        return row

    def remove(self, key: AttemptKey) -> None:
        """Remove the file of an attempt, if there is one."""
        if self._there and key.name in self._there:
            self._there.discard(key.name)
            (self._directory / key.name).unlink(missing_ok=True)


def _append(out: BinaryIO, found: "hashlib._Hash", body: bytes) -> None:
    out.write(body)
    found.update(body)
