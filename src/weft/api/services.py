"""What every use case works with."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from weft.api.feeds import Feeds
from weft.api.open_streams import OpenStreams
from weft.api.readiness import Readiness
from weft.api.web_tokens.providers import Providers
from weft.ports.file_store import FileStore, UrlReader
from weft.ports.log_store import LogStore
from weft.ports.lookup import AsksLookUps
from weft.ports.object_stores import ObjectStores
from weft.ports.running_files import RunningFiles
from weft.ports.sink import MakeMessage
from weft.ports.source import ReadsSources
from weft.ports.store import Caller
from weft.ports.worker_link import ServedLink
from weft.settings.transports_file import TransportDocument
from weft.store import ApiStore
from weft.submission.services import SubmissionServices

PAYERS_KEPT: Final = 10_000


class Payers(NamedTuple):
    """The user and the billing project of a batch."""

    user: str
    project: str


class FindsCallers(Protocol):
    """The part of `Identities` that a login needs."""

    async def caller_of(
        self, headers: Mapping[str, str], scheme: str = "http", address: str = ""
    ) -> Caller:
        """Return the caller of a request. Raise `Unauthenticated`, `TooManyFailedLogins`."""


@dataclass(kw_only=True)
class Services(SubmissionServices):
    """One per application."""

    store: ApiStore
    logs: LogStore
    feeds: Feeds
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server stops: streams end."""
    streams: OpenStreams = field(default_factory=OpenStreams)
    """The answers that go on, which end with the right to them."""
    readiness: Readiness = field(init=False)
    callback_key: str | None = field(default=None, repr=False)
    """Signs the callbacks of all tenants."""
    providers: Providers = field(default_factory=Providers)
    """The issuers at which people log in."""
    transports: Sequence[TransportDocument] = ()
    """The connections over which queues may travel."""
    files: Callable[[str], FileStore] | None = None
    """Returns the files of jobs that a folder of the home keeps; None: this has none."""
    running: RunningFiles | None = None
    """The files of attempts that run on this host."""
    objects: ObjectStores | None = None
    """Opens stores of objects; None: nothing here does."""
    callers: FindsCallers | None = None
    """Find who has a token; failed tries are counted there."""
    web: UrlReader | None = None
    """Looks for files at web servers that jobs will need; None: nothing here does."""
    link: ServedLink | None = None
    """For workers outside; None: this application serves none."""
    source_trials: ReadsSources | None = None
    """Reads sources that people try; None: nothing here does."""
    make_message: MakeMessage | None = None
    """Makes messages of sinks that people try; None: nothing here does."""
    look_ups: AsksLookUps | None = None
    """What configurations of items ask; None: this application asks nothing."""
    _payers: dict[tuple[int, int], Payers] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make what asks the store."""
        super().__post_init__()
        self.readiness = Readiness(self.store.ready)

    async def transports_of(self, caller: Caller) -> Sequence[str]:
        """Return the names of the connections that the caller's tenant has."""
        if not self.transports:
            return []
        tenant = await self.store.tenant_name(caller)
        return [transport.name for transport in self.transports if tenant in transport.tenants]

    async def payers_of(self, caller: Caller, batch_id: int) -> Payers:
        """Return the user and the billing project of a batch that the caller was just shown. They
        are remembered, because a batch keeps them, and they their names.
        """
        key = (caller.tenant_id, batch_id)
        found = self._payers.get(key)
        if found is None:
            row = await self.store.get_batch(caller, batch_id)
            found = Payers(str(row["user"]), str(row["billing_project"]))
            if len(self._payers) >= PAYERS_KEPT:
                self._payers.clear()
            self._payers[key] = found
        return found
