"""What a worker outside works for: an api, by the link."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import cast

from weft.core.errors import Conflict
from weft.extensions.link.seal import LinkKey
from weft.extensions.link.worker.calls import LinkCaller
from weft.extensions.link.worker.checkpoints import LinkedCheckpoints
from weft.extensions.link.worker.finder import LinkFinder
from weft.extensions.link.worker.looking import Looking
from weft.extensions.link.worker.shipping import Shipper
from weft.extensions.link.worker.signatures import LinkedSignatures
from weft.extensions.link.worker.signing import LinkedSigner
from weft.extensions.link.worker.store import LinkedKeeper, LinkedWorkerStore, LinkNotices
from weft.ports.patience import until_answered
from weft.ports.store import OfferedStore, WorkerStore
from weft.ports.worker_link import Hello, LinkFacts
from weft.run.files import running_files
from weft.run.home import Home
from weft.run.host.worker_name import worker_name
from weft.run.worker_source import WorkerSource
from weft.settings import Settings
from weft.telemetry import metrics


@asynccontextmanager
async def linked_source(settings: Settings, home: Home) -> AsyncIterator[WorkerSource]:
    """Open the link to an api."""
    link = Link(settings)
    link.looking.running = running_files(settings, home)

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
    )
    try:
        yield source
    finally:
        link.caller.close()


class Link:
    """The worker's end: its store, its notices, and what ships its output."""

    def __init__(self, settings: Settings) -> None:
        assert settings.connect is not None
        finder = LinkFinder(settings.connect, settings.token_file, settings.ca_file)
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
        return hello
