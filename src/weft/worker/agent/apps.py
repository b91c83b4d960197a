"""Folders of applications, fetched and unpacked once for all jobs of this worker."""

import asyncio
import hashlib
import os
import shutil
import time
from pathlib import Path
from typing import IO, Final

import msgspec

from weft.core.errors import WeftError
from weft.ports.patience import until_answered
from weft.ports.store import WorkerStore
from weft.wire.app_folder import BadFolder, unpack
from weft.wire.payload import DIGEST, parts_of
from weft.wire.spec import AppSpec, JobSpec

KEPT_S: Final = 7 * 86_400
"""A folder that no job has run for this time is removed when an agent begins."""


class AppFolders:
    """One directory for each content, named by its digest; programs copy it."""

    def __init__(self, store: WorkerStore, directory: Path) -> None:
        self._store = store
        self._directory = directory
        self._fetching: dict[str, asyncio.Task[Path]] = {}

    def tidy(self) -> None:
        """Remove what an earlier agent left half unpacked, and what was not used for long."""
        if not self._directory.exists():
            return
        before = time.time() - KEPT_S
        for path in self._directory.iterdir():
            if not DIGEST.fullmatch(path.name) or path.stat().st_mtime < before:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()

    async def fetch(self, batch_id: int, spec: JobSpec) -> JobSpec:
        """Return a spec that names the folder of its application. Raise `OSError` if that cannot
        be written, `WeftError` if it is not whole.
        """
        app = spec.app
        assert app is not None
        folder = self._directory / app.digest
        if app.digest in self._fetching:
            await asyncio.shield(self._fetching[app.digest])
        elif folder.is_dir():
            os.utime(folder)
        else:
            task = asyncio.create_task(self._make(batch_id, app))
            self._fetching[app.digest] = task
            task.add_done_callback(lambda _: self._fetching.pop(app.digest, None))
            await asyncio.shield(task)
        return msgspec.structs.replace(spec, app=msgspec.structs.replace(app, folder=str(folder)))

    async def _make(self, batch_id: int, app: AppSpec) -> Path:
        # Jobs may run as other users, who read and never write here.
        self._directory.mkdir(mode=0o755, exist_ok=True)
        folder = self._directory / app.digest
        packed, half = folder.with_suffix(".packed"), folder.with_suffix(".half")
        try:
            with packed.open("w+b") as file:
                await self._write(file, batch_id, bytes.fromhex(app.digest))
                file.seek(0)
                shutil.rmtree(half, ignore_errors=True)
                await asyncio.to_thread(unpack, file, half, app.n_bytes_max)
            half.rename(folder)
        except BadFolder as error:
            raise WeftError(f"its application cannot be unpacked: {error}") from error
        finally:
            packed.unlink(missing_ok=True)
            shutil.rmtree(half, ignore_errors=True)
        return folder

    async def _write(self, file: IO[bytes], batch_id: int, digest: bytes) -> None:
        found, part, n_parts = hashlib.sha256(), 0, 1
        while part < n_parts:
            part += 1
            n_bytes, body = await self._read_part(batch_id, digest, part)
            n_parts = parts_of(n_bytes)
            await asyncio.to_thread(file.write, body)
            found.update(body)
        if found.digest() != digest:
            raise WeftError("its application is not the one that was announced")

    async def _read_part(self, batch_id: int, digest: bytes, part: int) -> tuple[int, bytes]:
        row = await until_answered(lambda: self._store.get_app_part(batch_id, digest, part))
        if row is None:
            raise WeftError("its application is missing")
        return row
