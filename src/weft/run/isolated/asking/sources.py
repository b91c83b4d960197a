"""Readings of sources, away from the driver: a process for each.

What the options of a source name is opened here, and given to its process with the question.
"""

import base64
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from weft.core.addresses import parse_allowed_hosts
from weft.core.ends.conditions import parse_tester_commands
from weft.core.errors import SecretKeyMissing
from weft.core.files.file_stores import parse_bucket
from weft.core.text.texts import parse_paths
from weft.plugins.file_stores.s3.signing import NotSigned, ObjectUrls
from weft.ports.shared_room import SharedRoom
from weft.ports.source import BROKERS, S3, SOURCE_PLUGINS, SourceRead, SourceSite
from weft.ports.store.sources import DueSource
from weft.ports.transport import TransportError, allowed_connection
from weft.run.isolated.pool import AsksPool, Failed, Pool
from weft.run.isolated.process import Ended
from weft.settings import Settings
from weft.settings.declare import InvalidSetting
from weft.settings.transports_file import read_transports
from weft.store.worker_files import store_of
from weft.wire.sealed import Opened, OpensSecrets, folded, opened, opened_link

TRIALS_AT_ONCE: Final = 2
_ERROR_CHARS_MAX: Final = 300
_PAGE: Final = 1000
"""Objects that S3 lists at once."""


class SourceReads(AsksPool):
    """Reads sources, any number at the same time, each in its own process."""

    def __init__(self, settings: Settings, keys: Callable[[], OpensSecrets]) -> None:
        self._keys = keys
        site = SourceSite(
            paths=parse_paths(settings.source_paths),
            allowed=parse_allowed_hosts(settings.source_private_hosts),
            stores=parse_allowed_hosts(settings.store_private_hosts),
            commands=parse_tester_commands(settings.source_commands),
            items_max=settings.source_items_max,
            timeout_s=settings.source_timeout_s,
        )
        self.pool = Pool("source", settings.source_timeout_s, lambda key: (key[1], site))
        self._items_max = settings.source_items_max
        self._transports_file = settings.transports_file
        self._urls = ObjectUrls(keys, settings.store_buckets)

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
        key, what = (
            (source.source_id, source.kind),
            (asked.options["options"], asked.options["cursor"]),
        )
        for kind in {*SOURCE_PLUGINS.names()} - {source.kind}:  # it had another before
            self.pool.retire((source.source_id, kind))
        try:
            found: SourceRead = await self.pool.ask(key, what, SourceRead)
        except TimeoutError:
            return SourceRead(
                error=f"it did not end within {self.pool.within_s:g} s (source_timeout_s)"
            )
        except Ended as error:
            return SourceRead(error=f"its process failed: {error}"[:_ERROR_CHARS_MAX])
        except Failed as error:
            said = "it takes too much memory" if error.failure.is_memory else str(error)
            found = SourceRead(error=said[:_ERROR_CHARS_MAX])
        return SourceRead(**folded(msgspec.structs.asdict(found), asked.values))

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
        """Return options with their connection. Raise `TransportError`, `InvalidSetting`."""
        kind, what = BROKERS[source.kind]
        options, tenant = source.options, str((source.sealed or {}).get("tenant"))
        to = allowed_connection(
            read_transports(self._transports_file),
            str(options["transport"]),
            tenant,
            kind,
            "sources",
            str(options[what]),
        )
        return {
            **options,
            "connection": {
                "name": to.name,
                "kind": kind,
                "address": to.address,
                "tenants": to.tenants,
                "virtual_host": to.virtual_host,
                "user": to.user,
                "password": to.password,
                "ca_file": None if to.ca_file is None else str(to.ca_file),
            },
        }


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
