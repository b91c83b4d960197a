"""Packages that jobs require, installed once for all jobs of this worker that require the same.

DIRECTORY/<digest>/env       as Python makes it
complete  its bytes; there when all is installed
"""

import asyncio
import errno
import hashlib
import io
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from weft.core.errors import WeftError
from weft.core.states import AttemptKey
from weft.ports.shared_room import SharedRoom
from weft.ports.tree_cache import Once, free_some
from weft.settings import outer_environment
from weft.telemetry.log import log
from weft.telemetry.metrics import ENVIRONMENT_SECONDS
from weft.wire.requirements import BYTES_MAX, plain_requirements
from weft.wire.spec import JobSpec
from weft.worker.agent.held import HeldAttempts
from weft.worker.agent.job_accounts import JobTenants
from weft.worker.agent.parts import write_parts
from weft.worker.agent.site import AgentSite

_INSTALLER: Final = str(Path(__file__).with_name("installer.sh"))
_LIMITS: Final = str(Path(__file__).with_name("install_limits.py"))
_MEMORY: Final = re.compile(r"MemoryError|memory allocation of|Cannot allocate memory")
_OWN: Final = f"{sys.version_info.major}.{sys.version_info.minor}"
_PAUSE_S: Final = 30.0
_TOO_LONG, _SIGNALLED = 124, 128
"""As `timeout` ends; more or less than nothing: it or what it runs was killed."""


class Environments:
    """One directory for each set of packages and version of Python."""

    def __init__(self, site: AgentSite, held: HeldAttempts) -> None:
        self._directory = site.scratch / "environments"
        self._store, self._settings, self._held = site.store, site.settings, held
        self._tenants = JobTenants(site.store)
        # An index may be silent, and any job may ask for much.
        self._room = SharedRoom(2 * site.settings.staging_files_max)
        self._reading, self._making = Once[bytes](_PAUSE_S), Once[None](_PAUSE_S)

    async def bring(self, key: AttemptKey, spec: JobSpec, on_wait: Callable[[], None]) -> Path:
        """Return the environment of an attempt, which stays until that has ended. Raise
        `WeftError`, `OSError`. `on_wait` is called if it is not there yet.
        """
        assert spec.requirements is not None
        digest, python = spec.requirements.digest, spec.requirements.python or _OWN
        if spec.function is not None and python != _OWN:
            raise WeftError(f"functions run in Python {_OWN} on its worker, not in {python}")
        name = hashlib.sha256(f"{digest} {python}".encode()).hexdigest()
        folder = self._directory / name
        self._held.by_key[key].environment = name
        with suppress(OSError):
            os.utime(folder)  # before the look, so that it is not removed after it
        if not ((folder / "complete").exists() and (folder / "env/bin/python").exists()):
            on_wait()
            read = partial(self._read_text, key, digest, name)
            text = await self._reading.get((key.batch_id, digest), read)
            await self._making.get(name, partial(self._install, key, text, python, folder))
        return folder / "env"

    async def _read_text(self, key: AttemptKey, digest: str, name: str) -> bytes:
        file, read, what = io.BytesIO(), self._store.get_payload_part, "they are"
        with _failing(name):
            await write_parts(file, read, key.batch_id, digest, what=what, bytes_max=BYTES_MAX)
            return await asyncio.to_thread(plain_requirements, file.getvalue())

    async def _install(self, key: AttemptKey, text: bytes, python: str, folder: Path) -> None:
        begun, name = time.monotonic(), folder.name
        with _tally(name), _failing(name):
            async with self._room.of(await self._tenants.name_of(key)):
                self._directory.mkdir(mode=0o711, exist_ok=True)
                room, is_short = self._disk_room()
                code, words = await self._run(text, python, folder, room)
                if (code < 0 or code > _SIGNALLED) and not _MEMORY.search(words):
                    # Nobody's fault: once more.
                    code, words = await self._run(text, python, folder, room)
            has_filled = is_short and "(requirements_cache_bytes)" in words
            if code and ("no space left on device" in words.lower() or has_filled):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if code and _MEMORY.search(words):
                most = self._settings.requirements_memory_bytes
                words = f"it takes more than {most} bytes of memory (requirements_memory_bytes)"
            if code == _TOO_LONG:
                words = "it takes too long (requirements_s)"
            if code:
                raise ValueError(words or f"{code} is the exit code")
        ms, (_, size) = round((time.monotonic() - begun) * 1000), _read(folder)
        log.info("worker.environment_made", environment=name, ms=ms, size=size)
        live = [held for held in self._held.by_key.values() if not held.ended]
        if all(held.executor or not held.is_sent for held in live):  # else it may use any
            used = {name, *(held.environment for held in live)}
            await asyncio.to_thread(self._prune, used)

    def _disk_room(self) -> tuple[int, bool]:
        """Return how many bytes an environment may have, and whether that is because the disk is
        nearly full. Raise `OSError` if it is.
        """
        most = self._settings.requirements_cache_bytes
        free = shutil.disk_usage(self._directory).free - self._settings.worker_free_bytes_min
        if free <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return min(most, free), free < most

    async def _run(self, text: bytes, python: str, folder: Path, room: int) -> tuple[int, str]:
        """Let a program install them that goes on if this process is killed: the next one waits
        for it. Return its exit code and its last words. Raise `OSError`.
        """
        index, seconds = self._settings.requirements_index or "", self._settings.requirements_s
        limits = room, self._settings.requirements_files_max
        process = await asyncio.create_subprocess_exec(
            "timeout",
            "-k",
            "5",
            str(seconds),
            "/bin/sh",
            _INSTALLER,
            folder,
            python,
            sys.executable,
            str(len(text)),
            _LIMITS,
            *map(str, limits),
            str(self._settings.requirements_memory_bytes),
            # It may have a password, which no command shows.
            env={**outer_environment(), "INDEX": index},
            start_new_session=True,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            output, _ = await process.communicate(text)
        except asyncio.CancelledError:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)  # it removes what is half made
            await process.wait()
            raise
        words = output.decode(errors="replace").strip()
        words = words.replace(index, "the index") if index else words
        return process.returncode or 0, re.sub(r"//\S*@", "//", words)  # without logins

    def _prune(self, used: set[str]) -> None:
        bytes_max = self._settings.requirements_cache_bytes
        for name, size in free_some(self._directory, _read, bytes_max, lambda at: at.name in used):
            log.info("worker.environment_removed", environment=name, size=size)


@contextmanager
def _failing(name: str) -> Iterator[None]:
    try:
        yield
    except (WeftError, ValueError) as error:
        log.warning("worker.environment_failed", environment=name, why=str(error))
        raise WeftError(f"its requirements cannot be installed: {error}") from error


@contextmanager
def _tally(name: str) -> Iterator[None]:
    begun, outcome = time.monotonic(), "failed"
    try:
        yield
        outcome = "made"
    except asyncio.CancelledError:
        outcome = "stopped"
        log.info("worker.environment_stopped", environment=name)
        raise
    finally:
        ENVIRONMENT_SECONDS.labels(outcome).observe(time.monotonic() - begun)


def _read(folder: Path) -> tuple[float, int]:
    return folder.stat().st_mtime, int((folder / "complete").read_text())
