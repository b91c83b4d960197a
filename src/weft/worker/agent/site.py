"""What an agent works with: chosen by `run/worker.py`, the same until the process ends."""

import asyncio
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from weft.core.scheduling.offers import Offer
from weft.ports.file_store import StoreAway
from weft.ports.function_signatures import FunctionSignatures
from weft.ports.log_store import LogKeeper
from weft.ports.runner import Runner
from weft.ports.store import GivingStore, Notices, OfferedStore, WorkerStore
from weft.ports.transport import Transport
from weft.settings import Settings
from weft.telemetry.log import log
from weft.wire.sealed import OpensSecrets, SecretKeys
from weft.worker import boottime
from weft.worker.agent.checkpoints import CheckpointRemoval, TravelSite
from weft.worker.agent.job_accounts import JobAccounts
from weft.worker.agent.object_uploads import FileSite


@dataclass(frozen=True, kw_only=True)
class WorkerFacts:
    """What a worker says about itself."""

    name: str
    host: str
    pool: str
    version: str
    cpu_m: int
    memory_mib: int
    storage_mib: int
    gpu: int
    offers: Mapping[str, Offer]
    """What else it offers: amounts by name, and labels such as the names of its executors."""
    slots: int | None = None
    """How many jobs it runs at a time, whatever they ask for; None: as many as fit."""
    log_place: str | None = None
    """The name of the directory in which it keeps output; None: that of the api."""
    log_directory: str | None = None


@dataclass(frozen=True, kw_only=True)
class FenceTerms:
    """When the spawner stops all jobs by itself because the database may have reassigned them."""

    after_s: float | None = None
    """Time since the database last confirmed this worker; None: never stop (for tests only)."""
    return_s: float = 0.0
    """How long the agent may take to reach the database again after an outage."""
    find_database: Callable[[], str] = str
    """Return the database's socket if the server runs on this host, else nothing."""


class Fence:
    """The permission to continue, for the runner and for outputs, of one incarnation."""

    def __init__(self, runner: Runner, terms: FenceTerms) -> None:
        self._runner = runner
        self._terms = terms
        self._database = terms.find_database()
        self._until_ns = self._over_ns = 0
        self._renewed = asyncio.Event()

    def renew(self, known_ns: int) -> None:
        """Let all continue: the database confirmed this worker at that time."""
        after_s, return_ns = self._terms.after_s, int(self._terms.return_s * 1e9)
        until_ns = 0 if after_s is None else max(known_ns + int(after_s * 1e9), 1)
        self._runner.keep_until(until_ns, database=self._database, return_ns=return_ns)
        self.over_ns()
        self._until_ns = until_ns and max(until_ns, self._until_ns)
        self._renewed.set()

    @property
    def holds(self) -> bool:
        """Say by the clock whether no other worker can have got the attempts of this one."""
        return not self._until_ns or boottime.now_ns() < self._until_ns

    def over_ns(self) -> int:
        """Return for how long it has not held, in all."""
        if self._until_ns and (over_ns := boottime.now_ns() - self._until_ns) > 0:
            self._over_ns += over_ns
            self._until_ns += over_ns
        return self._over_ns

    def check(self) -> None:
        """Raise `StoreAway` unless it holds: what another attempt has left would be replaced."""
        if not self.holds:
            raise StoreAway("its worker may have been declared lost")

    async def until_it_holds(self) -> None:
        """Wait for the renewal. If this worker was declared lost instead, its session ends."""
        while not self.holds:
            if self._renewed.is_set():
                log.warning("worker.outputs_wait")
            self._renewed.clear()
            await self._renewed.wait()


@dataclass
class Disks:
    """Where jobs write. While one is nearly full, each job would only fail there."""

    directories: Sequence[Path] = ()
    free_bytes_min: int = 0
    _were_full: bool = False

    def are_full(self) -> bool:
        """Say whether to start no more jobs; log when that changes."""
        free = ((str(path), _free_bytes(path)) for path in self.directories)
        full = [(path, n_bytes) for path, n_bytes in free if n_bytes < self.free_bytes_min]
        if full and not self._were_full:
            log.warning("worker.disk_full", directory=full[0][0], free_bytes=full[0][1])
        if self._were_full and not full:
            log.info("worker.disk_free")
        self._were_full = bool(full)
        return bool(full)


def _free_bytes(directory: Path) -> int:
    try:
        return shutil.disk_usage(directory).free
    except FileNotFoundError:  # it is made for the first job
        return sys.maxsize
    except OSError:
        return 0


@dataclass(frozen=True, kw_only=True)
class Consumed:
    """The transports whose messages bring jobs, by the names of connections."""

    transports: Mapping[str, Transport]
    store: OfferedStore


@dataclass(frozen=True, kw_only=True)
class AgentSite:
    """The adapters of an agent, and its terms."""

    store: WorkerStore
    """Any adapter of `ports/store/worker.py`: no part of the agent knows how it is reached."""
    notices: Notices
    """The news that belong to this store."""
    giving: GivingStore | None = None
    """The same store, if it claims for workers that sleep."""
    runner: Runner
    facts: WorkerFacts
    grace_ms: int
    """Time between asking a cancelled job to end and killing it."""
    heartbeat_s: float
    fence: FenceTerms
    scratch: Path
    """Where large arguments wait for the processes that read them."""
    log_keeper: LogKeeper
    files: FileSite
    settings: Settings = field(default_factory=Settings)
    checkpoint_removal: CheckpointRemoval
    signatures: FunctionSignatures
    checkpoint_travel: TravelSite | None = None
    """None: the next attempt finds them where they are."""
    open_secrets: Callable[[], OpensSecrets] = SecretKeys
    """Returns what opens the secrets of jobs; it is asked whenever there are some."""
    accounts: JobAccounts | None = None
    consumed: Consumed | None = None
    """What else brings jobs; None: nothing."""
    disks: Disks = field(default_factory=Disks)
