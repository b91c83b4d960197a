"""What a worker works for: a database with a login of its own, or an api by the link. Whether the
database is a PostgreSQL on this host is found by who listens on its socket.
"""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, unquote, urlsplit

from weft.plugins.file_stores.s3.signing import StoreSigner
from weft.plugins.log_stores.s3.changes import Changes
from weft.ports.checkpoints import CheckpointCarrier
from weft.ports.file_store import UrlSigner
from weft.ports.function_signatures import FunctionSignatures
from weft.ports.left_files import FileCarrier
from weft.ports.log_store import LogKeeper
from weft.ports.store import GivingStore, Notices, OfferedStore, WorkerStore
from weft.ports.topics import RunLedger
from weft.run.home import Home
from weft.run.host.worker_name import file_name_of
from weft.run.log_stores import (
    find_log_directory,
    log_bucket_of,
    shipped_directory,
    shipper_of,
    until_replaced,
)
from weft.run.login import login_dsn
from weft.run.role_main import begin_schema_check
from weft.run.secret_keys import read_secret_keys
from weft.settings import Settings
from weft.store import open_topic_runs, open_worker_store
from weft.wire.sealed import OpensSecrets
from weft.worker.agent.specs import Signatures
from weft.worker.noting_store import NotingStore

_CREDENTIALS = struct.Struct("3i")


def local_socket(dsn: str) -> str:
    """Return the path of the socket on which a PostgreSQL of this host listens now; empty if the
    DSN names another way to it, if nobody listens, or if it is a proxy or a pooler.
    """
    path = socket_path(dsn)
    return path if path and _listener_of(path) == "postgres" else ""


def socket_path(dsn: str) -> str:
    """Return the path of the Unix socket that a DSN names; empty if it names none.

    >>> socket_path("postgresql://me:pw@/weft?host=/run/pg&port=5433")
    '/run/pg/.s.PGSQL.5433'
    >>> socket_path("postgresql://me:pw@%2Frun%2Fpg/weft"), socket_path("postgresql://me@db/weft")
    ('/run/pg/.s.PGSQL.5432', '')
    """
    parts = urlsplit(dsn)
    query = parse_qs(parts.query)
    host, _, port = parts.netloc.rpartition("@")[2].partition(":")
    directory = query.get("host", [unquote(host)])[0]
    number = query.get("port", [port or "5432"])[0]
    return f"{directory}/.s.PGSQL.{number}" if directory.startswith("/") else ""


def _listener_of(path: str) -> str:
    """Return the name of the program that listens on a socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as probe:
        try:
            probe.connect(path)
            data = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            pid, _, _ = _CREDENTIALS.unpack(data)
            return Path(f"/proc/{pid}/comm").read_text().strip()
        except OSError:
            return ""


@dataclass(kw_only=True)
class WorkerSource:
    """The adapters of a worker that differ by how it reaches the store."""

    store: WorkerStore
    notices: Notices
    open_secrets: Callable[[], OpensSecrets]
    signatures: FunctionSignatures
    find_logs: Callable[[], Coroutine[Any, Any, Path]]
    """Returns the directory of this home for the output of this database's jobs."""
    run_beside: Callable[[Path], list[Coroutine[Any, Any, None]]]
    """Returns what runs beside the agent; one that fails says why the worker must not go on."""
    signer: UrlSigner
    lost_after_s: float
    """After how much silence jobs are given to others; final when the directory is found."""
    find_database: Callable[[], str] = str
    """Returns the database's socket if the server runs on this host, else nothing."""
    keeper_with: Callable[[LogKeeper], LogKeeper] = field(default=lambda here: here)
    """Returns what removes output, here and where it was brought."""
    checkpoints: CheckpointCarrier | None = None
    """Carries them to where workers elsewhere find them; None: they stay in the home."""
    files: FileCarrier | None = None
    """Brings what jobs leave to where the server reads it; None: its home is this one."""
    giving: GivingStore | None = None
    """The same store, if it claims for workers that sleep."""
    offered: OfferedStore | None = None
    """For those who take jobs from transports."""
    shipped_to: Callable[[str], str | None] = lambda _database_id: None
    """Says where output is shipped to, by the database; None: it stays here, or goes to an api."""
    runs: RunLedger | None = None
    """For those who run what records of topics ask for; None: workers outside run none."""
    begun: list[asyncio.Task[Any]] = field(default_factory=list)

    def begin_beside(self, logs: Path) -> list[asyncio.Task[Any]]:
        """Begin what runs beside the agent."""
        return [*self.begun, *map(asyncio.create_task, self.run_beside(logs))]


@asynccontextmanager
async def direct_source(settings: Settings, home: Home) -> AsyncIterator[WorkerSource]:
    """Open the store with the worker's own login."""
    dsn = login_dsn(settings, "weft_worker")
    async with (
        open_worker_store(dsn, grace_s=settings.lost_after_s, pooler=settings.pooler) as store,
        open_topic_runs(dsn, settings.pooler) as runs,
    ):
        bucket, changes = log_bucket_of(settings), Changes()
        noting = store if bucket is None else cast("Any", NotingStore(store, changes))

        def run_beside(logs: Path) -> list[Coroutine[Any, Any, None]]:
            others = (
                []
                if bucket is None
                else [
                    shipper_of(
                        bucket, settings, logs, store, changes, file_name_of(settings)
                    ).run()
                ]
            )
            return [until_replaced(store, logs), *others]

        yield WorkerSource(
            store=noting,
            notices=store.notices,
            giving=noting,
            offered=noting,
            runs=runs,
            open_secrets=(keys := partial(read_secret_keys, settings, home)),
            signatures=Signatures(store, keys, required=not settings.unsigned_functions),
            signer=StoreSigner(lambda: store, keys, settings.store_buckets),
            find_logs=lambda: find_log_directory(home, store, dsn),
            run_beside=run_beside,
            shipped_to=partial(shipped_directory, settings),
            lost_after_s=settings.lost_after_s,
            find_database=lambda: local_socket(dsn),
            begun=[await begin_schema_check(store)],
        )
