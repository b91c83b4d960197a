"""What a worker outside works for: an api, by the link, which also keeps checkpoints and signs."""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final, cast

from weft.core.errors import Conflict, Unavailable, WeftError
from weft.core.findings import compare_clocks
from weft.core.states import AttemptKey
from weft.plugins.runners.spawner.beside import begin
from weft.ports.checkpoints import CheckpointFound
from weft.ports.file_store import FileDiffers, FileRefused, HeldFile, Signed, StoreAway, ToSign
from weft.ports.function_signatures import ChunkKey, Refused, SignedBy
from weft.ports.left_files import LeftFile
from weft.ports.patience import until_answered
from weft.ports.store import OfferedStore, WorkerStore
from weft.ports.worker_link import LOG_BYTES_MAX, Hello, LinkFacts
from weft.run.files import running_files
from weft.run.home import Home
from weft.run.host.worker_name import file_name, worker_name
from weft.run.worker_source import WorkerSource
from weft.settings import Settings
from weft.telemetry import metrics
from weft.telemetry.log import log
from weft.wire.exec import SUFFIX
from weft.wire.spec import JobSpec, have_functions
from weft_link.seal import LinkKey
from weft_link.worker.calls import LinkCaller, Looking, finder_of
from weft_link.worker.shipping import Shipper
from weft_link.worker.store import LinkedKeeper, LinkedWorkerStore, LinkNotices


class LinkedSigner:
    """URLs for objects: the api signs, its key never leaves it; see the port `UrlSigner`."""

    def __init__(self, caller: LinkCaller) -> None:
        self._caller = caller

    async def sign(
        self, incarnation_id: int, key: AttemptKey, wanted: Sequence[ToSign]
    ) -> Sequence[Signed]:
        """Ask the api."""
        signed: Sequence[Signed] = await self._caller.call(
            "sign_files", incarnation_id, key, wanted
        )
        return signed


_REMEMBERED_MAX: Final = 10_000


class LinkedSignatures:
    """See the port `FunctionSignatures`: the api has the keys, and the worker none. Chunks that
    were found good are remembered by their bytes.
    """

    def __init__(self, caller: LinkCaller, *, required: bool = True) -> None:
        self._caller = caller
        self._required = required
        self._good: set[tuple[ChunkKey, SignedBy]] = set()

    def signer_of(self, body: bytes, specs: Sequence[JobSpec]) -> SignedBy | None:
        """Return what the link is asked about."""
        return hashlib.sha256(body).digest() if self._required and have_functions(specs) else None

    async def refused(self, found: Mapping[ChunkKey, SignedBy]) -> Mapping[ChunkKey, Refused]:
        """Ask the api, once for each chunk."""
        asked = [one for one in found.items() if one not in self._good]
        if not asked:
            return {}
        verdicts: Sequence[Refused | None] = await self._caller.call(
            "check_functions", self._caller.incarnation_id, asked
        )
        if len(self._good) > _REMEMBERED_MAX:
            self._good.clear()
        refused = {}
        for one, verdict in zip(asked, verdicts, strict=True):
            if verdict is None:
                self._good.add(one)
            else:
                refused[one[0]] = verdict
        return refused


_PIECE_BYTES: Final = LOG_BYTES_MAX // 2


class LinkedCheckpoints:
    """The api keeps them, beside the output."""

    def __init__(self, caller: LinkCaller) -> None:
        self._caller = caller

    async def keep(self, key: AttemptKey, held: HeldFile) -> None:
        """Send it in pieces; the last one makes it the job's."""
        found, at = CheckpointFound(key.attempt, held.n_bytes, held.digest), 0
        while at < held.n_bytes:
            data = await asyncio.to_thread(held.read, at, _PIECE_BYTES)
            at = await self._caller.call(
                "write_checkpoint", self._caller.incarnation_id, key, at, data, found
            )

    async def find(self, key: AttemptKey) -> CheckpointFound | None:
        found: CheckpointFound | None = await self._caller.call(
            "find_checkpoint", self._caller.incarnation_id, key
        )
        return found

    async def read(self, key: AttemptKey, offset: int) -> bytes:
        data: bytes = await self._caller.call(
            "read_checkpoint", self._caller.incarnation_id, key, offset
        )
        return data


class LinkedCarrier:
    """The api keeps files that jobs leave; see the port `FileCarrier`."""

    def __init__(self, caller: LinkCaller) -> None:
        self._caller = caller

    async def keep(self, key: AttemptKey, held: HeldFile) -> None:
        """Send it in pieces."""
        file, at = LeftFile(held.n_bytes, held.digest), -1
        while at < held.n_bytes:
            at = max(at, 0)
            data = await asyncio.to_thread(held.read, at, _PIECE_BYTES)
            if not data and at < held.n_bytes:
                raise FileDiffers("it became shorter while it was kept")
            try:
                at = await self._caller.call(
                    "write_file", self._caller.incarnation_id, key, at, data, file
                )
            except Unavailable as error:
                raise StoreAway(f"{error.message}") from error
            except WeftError as error:
                raise FileRefused(f"the server does not take it: {error.detail}") from error


@asynccontextmanager
async def linked_source(settings: Settings, home: Home) -> AsyncIterator[WorkerSource]:
    """Open the link to an api."""
    link = Link(settings)
    link.looking.running = running_files(settings, home)
    spawner = home.run / f"spawner-{file_name(worker_name(settings))}.sock{SUFFIX}"
    link.looking.begin = partial(begin, spawner)

    async def find_logs() -> Path:
        hello = await link.hello()
        source.lost_after_s = hello.lost_after_s
        if settings.heartbeat_s * 2 > hello.lost_after_s:
            raise Conflict(
                f"heartbeats every {settings.heartbeat_s:g} s are too rare",
                detail=f"The server gives jobs to others after {hello.lost_after_s:g} s.",
                hint="Lower `heartbeat_s` of this worker.",
            )
        link.shipper.root = home.logs / hello.database_id
        return link.shipper.root

    source = WorkerSource(
        store=link.store,
        notices=link.notices,
        offered=link.offered,
        open_secrets=lambda: link.key,
        signatures=LinkedSignatures(link.caller, required=not settings.unsigned_functions),
        signer=LinkedSigner(link.caller),
        find_logs=find_logs,
        run_beside=lambda _logs: [link.shipper.run(), link.looking.run()],
        lost_after_s=settings.lost_after_s,
        keeper_with=partial(LinkedKeeper, link.caller),
        checkpoints=LinkedCheckpoints(link.caller),
        files=LinkedCarrier(link.caller),
    )
    try:
        yield source
    finally:
        link.caller.close()


class Link:
    """The worker's end: its store, its notices, and what ships its output."""

    def __init__(self, settings: Settings) -> None:
        finder = finder_of(settings)
        finder.locate()  # a wrong setting is told at once
        self.caller = LinkCaller(finder)
        self.shipper = Shipper(self.caller)
        self.caller.facts = lambda delay_ms: LinkFacts(
            delay_ms, self.shipper.unshipped_bytes, metrics.input_cache_bytes()
        )
        self.key = LinkKey()
        linked = LinkedWorkerStore(self.caller, self.shipper, self.key)
        self.store = cast("WorkerStore", linked)
        self.offered = cast("OfferedStore", linked)
        self.looking = Looking(self.caller, worker_name(settings))
        self.notices = LinkNotices(self.caller, self.looking)

    async def hello(self) -> Hello:
        """Ask until the api answers. Raise what it refuses."""
        hello: Hello = await until_answered(lambda: self.caller.call("hello"))
        if hello.now is not None:
            clock = compare_clocks(time.time(), hello.now)
            if clock.verdict != "ok":
                log.warning("link.clock_differs", error=clock.found, hint=clock.advice)
        return hello
