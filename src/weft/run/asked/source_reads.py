"""Readings of sources, away from the driver: a process for each, started when first needed.

One that does not answer in time, or says too much, is killed with all that it started. Its
environment holds no settings and no secrets; what its options name is written to its input.
"""

import asyncio
import base64
import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from weft.core.bounded import ENVELOPE_DEPTH_MAX, read_json
from weft.core.errors import SecretKeyMissing
from weft.core.files.file_stores import parse_bucket
from weft.core.lines.source import BROKERS, S3
from weft.plugins.file_stores.s3.signing import NotSigned, ObjectUrls
from weft.ports.shared_room import SharedRoom
from weft.ports.source import READING_BYTES_MAX
from weft.ports.source_reads import SourceRead
from weft.ports.store.sources import DueSource
from weft.ports.transport import TransportError, allowed_connection
from weft.run.host.process_group import kill_group
from weft.settings import Settings
from weft.settings.declare import InvalidSetting
from weft.settings.transports_file import read_transports
from weft.store.worker_files import store_of
from weft.wire.sealed import Opened, OpensSecrets, folded, opened, opened_link

START_S: Final = 30.0
"""What Python and its modules may take to load, beside the first reading."""
IDLE_S: Final = 60.0
"""A process that is not asked for so long ends."""
TRIALS_AT_ONCE: Final = 2
_PAGE: Final = 1000
"""Objects that S3 lists at once."""
_ENVIRONMENT: Final = ("LANG", "LC_ALL", "PATH", "PYTHONPATH", "TZ")


class SourceReads:
    """Reads sources, any number at the same time, each in its own process."""

    def __init__(self, settings: Settings, keys: Callable[[], OpensSecrets]) -> None:
        self._keys = keys
        self._site = {
            "paths": settings.source_paths,
            "private_hosts": settings.source_private_hosts,
            "store_hosts": settings.store_private_hosts,
            "commands": settings.source_commands,
            "items_max": settings.source_items_max,
            "timeout_s": settings.source_timeout_s,
        }
        self._within_s = settings.source_timeout_s
        self._items_max = settings.source_items_max
        self._transports_file = settings.transports_file
        self._urls = ObjectUrls(keys, settings.store_buckets)
        self._processes: dict[int, tuple[str, asyncio.subprocess.Process]] = {}
        """By source, with its kind."""
        self._idle: dict[int, asyncio.TimerHandle] = {}

    async def read(self, source: DueSource) -> SourceRead:
        """Read one; it is not asked for again before this returns."""
        given = {"options": {**source.options}, "cursor": source.cursor}
        try:
            asked = Opened(given, {})
            if source.kind == S3 or source.kind in BROKERS:
                find = self._of_store if source.kind == S3 else self._of_broker
                asked = Opened({"options": find(source), "cursor": source.cursor}, {})
            elif source.sealed is not None:
                options, values = opened(source.options, source.sealed, self._keys())
                asked = Opened({"options": options, "cursor": _unfolded(source, values)}, values)
        except (SecretKeyMissing, NotSigned, TransportError, InvalidSetting, ValueError) as error:
            return SourceRead(error=str(error))
        number = source.source_id
        idle = self._idle.pop(number, None)
        if idle is not None:
            idle.cancel()
        within_s = self._within_s
        try:
            process = self._running(number, source.kind)
            if process is None:
                within_s += START_S
                process = await self._start(number, source.kind)
            async with asyncio.timeout(within_s):
                answer = await _ask(process, asked.options)
        except TimeoutError:
            self._kill(number)
            return SourceRead(error=f"it did not end within {self._within_s:g} s")
        except (OSError, EOFError, ValueError) as error:
            self._kill(number)
            return SourceRead(error=f"its process failed: {error}"[:300])
        except BaseException:
            self._kill(number)
            raise
        self._idle[number] = asyncio.get_running_loop().call_later(IDLE_S, self._kill, number)
        return SourceRead(**folded(answer, asked.values))

    def _of_store(self, source: DueSource) -> Mapping[str, Any]:
        """Return the options with the address of the next page of the list, which is signed here.
        Raise `NotSigned`, `ValueError`.
        """
        options, row = source.options, (source.sealed or {}).get("store")
        if row is None:
            raise ValueError(f"there is no store {options['store']!r}")
        store = store_of([*row[:-1], None if row[-1] is None else base64.b64decode(row[-1])])
        after = str((source.cursor or {}).get("after") or "")
        prefix = str(options.get("prefix", ""))
        url = self._urls.list_url(store, prefix, after, min(self._items_max, _PAGE))
        return {**options, "url": url, "below": parse_bucket(store.url).prefix}

    def _of_broker(self, source: DueSource) -> Mapping[str, Any]:
        """Return the options with the connection that they name. Raise `TransportError`,
        `InvalidSetting`.
        """
        kind, what = BROKERS[source.kind]
        options, tenant = source.options, str((source.sealed or {}).get("tenant"))
        to = allowed_connection(
            read_transports(self._transports_file), str(options["transport"]), tenant, kind,
            "sources", str(options[what]),
        )  # fmt: skip
        return {**options, "connection": {
            "name": to.name, "kind": kind, "address": to.address, "tenants": to.tenants,
            "virtual_host": to.virtual_host, "user": to.user, "password": to.password,
            "ca_file": None if to.ca_file is None else str(to.ca_file),
        }}  # fmt: skip

    async def close(self) -> None:
        """End all processes."""
        for timer in self._idle.values():
            timer.cancel()
        all_ = [process for _, process in self._processes.values()]
        for number in [*self._processes]:
            self._kill(number)
        for process in all_:
            await process.wait()

    def _running(self, number: int, kind: str) -> asyncio.subprocess.Process | None:
        found = self._processes.get(number)
        if found is None or found[1].returncode is not None or found[0] != kind:
            self._kill(number)
            return None
        return found[1]

    async def _start(self, number: int, kind: str) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "weft.run.asked.source",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, start_new_session=True, cwd="/",
            limit=2 * READING_BYTES_MAX,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        )  # fmt: skip
        self._processes[number] = (kind, process)
        assert process.stdin is not None
        process.stdin.write(json.dumps({"kind": kind, **self._site}).encode() + b"\n")
        return process

    def _kill(self, number: int) -> None:
        found = self._processes.pop(number, None)
        if found is not None:
            kill_group(found[1])


class SourceTrials:
    """Reads sources for people who try them: each time in a process of its own, few at a time."""

    def __init__(self, settings: Settings, keys: Callable[[], OpensSecrets]) -> None:
        self._settings, self._keys = settings, keys
        self._room = SharedRoom(TRIALS_AT_ONCE)

    async def read(self, source: DueSource) -> SourceRead:
        """Read one, and leave no process behind."""
        async with self._room.of(source.tenant_id):
            reads = SourceReads(self._settings, self._keys)
            try:
                return await reads.read(source)
            finally:
                await reads.close()


def _unfolded(source: DueSource, values: Mapping[str, str]) -> Mapping[str, Any] | None:
    """Return the cursor of a source as its server gave it."""
    if source.cursor is None:
        return None
    return {name: opened_link(value, values) for name, value in source.cursor.items()}


async def _ask(process: asyncio.subprocess.Process, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer. Raise `EOFError` if it ends without one, `ValueError` for one that is
    none.
    """
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({**asked}).encode() + b"\n")
    await process.stdin.drain()
    line = await process.stdout.readline()
    if not line:
        raise EOFError("it ended without an answer")
    answer: dict[str, Any] = read_json(line, depth_max=ENVELOPE_DEPTH_MAX)
    return answer
