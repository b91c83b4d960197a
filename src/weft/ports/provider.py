"""The port `provider`: it makes machines on which workers run, and deletes them.

A machine is known by its name, which weft chooses, and by the tag of the deployment: a provider
never lists or deletes what lacks either. Every call may be repeated. The worker of a machine
registers itself under the machine's name in its pool; weft learns from that alone that it works.

Calls may fail and hang: the caller limits their time. Built in: `process`, `openstack`, `slurm`,
`kubernetes`, `nomad`, `ssh`. Loaded by the entry points `weft.providers`; each is called with a
`ProviderSite`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

import msgspec

from weft.core.pools import Flavour
from weft.core.pools.pool import Option
from weft.core.scheduling.offers import MACHINE, PREEMPTIBLE
from weft.ports.executor import SectionOf
from weft.ports.plugins import PluginGroup


class ProviderError(Exception):
    """A machine could not be made, found or deleted; the text says why, without secrets.

    `is_full`: there is no room or no quota left; another region may have some.
    """

    def __init__(self, reason: str, *, is_full: bool = False) -> None:
        super().__init__(reason)
        self.is_full = is_full


@dataclass(frozen=True, kw_only=True)
class MachineCredential:
    """With what the worker of a machine reaches the api. Nothing shows it by mistake."""

    token: str = field(repr=False)


class WantedMachine(msgspec.Struct, frozen=True, kw_only=True):
    """A machine to be made."""

    name: str
    pool: str
    flavour: Flavour
    region: str = ""
    options: Mapping[str, Option] = {}
    """Of the pool, for this provider."""
    is_own: bool = False
    """It is made for one job; its worker serves no other."""
    credential: MachineCredential | None = None
    """For its worker alone, if the provider's machines reach the api (`wants_credentials`). Each
    call has another one; all of them end with the machine.
    """

    @property
    def labels(self) -> Mapping[str, str]:
        """Return the labels with which its worker has to start."""
        found = dict(self.flavour.labels)
        if self.region:
            found["region"] = self.region
        if self.flavour.preemptible:
            found[PREEMPTIBLE] = "yes"
        if self.is_own:
            found[MACHINE] = self.name
        return found


class FoundMachine(msgspec.Struct, frozen=True, kw_only=True):
    """A machine that exists, perhaps without a worker yet or any more."""

    name: str
    provider_id: str
    """What the provider calls it."""
    error: str = ""
    """Why it will never work; empty: nothing says so. Such a machine is deleted."""
    waits: str = ""
    """Why it has not begun yet, if its provider has a queue (`has_queue`); empty: it has begun.
    However long it waits, it is not stale.
    """


class Leftover(msgspec.Struct, frozen=True, kw_only=True):
    """A thing beside machines that was made for one or for a pool, and that none needs."""

    kind: str
    """`disk`, `port`, `image` …"""
    provider_id: str
    name: str = ""
    region: str = ""


@dataclass(frozen=True, kw_only=True)
class ProviderSite:
    """What a provider gets to know of the deployment."""

    tag: str
    """Tells this deployment's machines from those of others."""
    environment: Mapping[str, str]
    """In which a worker on this host finds the database; it holds no secret."""
    logs: Path
    """A directory for what machines on this host print."""
    section: SectionOf
    """Gives the section of a plug-in's settings."""


class Provider(Protocol):
    """Makes and deletes machines. Every method raises `ProviderError`."""

    async def list(self) -> Sequence[FoundMachine]:
        """Return all machines of this deployment, of every pool; one that exists twice is there
        twice. weft deletes what it has not asked for, and forgets what is missing.
        """

    async def create(self, wanted: WantedMachine) -> FoundMachine:
        """Make a machine, unless one of this name exists; do not wait for its worker."""

    async def delete(self, name: str) -> None:
        """Delete all machines of a name with all that runs there; none: do nothing. When this
        returns, they are gone or certain to go.
        """

    async def describe(self, name: str) -> FoundMachine | None:
        """Return a machine, or None if no machine has this name."""

    async def close(self) -> None:
        """Forget what belongs to this process. Machines stay."""


@runtime_checkable
class ClearsUp(Protocol):
    """What a provider may do beside. Both methods raise `ProviderError`."""

    async def list_leftovers(self, pools: Sequence[Mapping[str, Option]]) -> Sequence[Leftover]:
        """Return what carries the deployment's tag and is needed by no machine, nor by a pool
        with one of these options.
        """

    async def remove_leftover(self, one: Leftover) -> None:
        """Remove such a thing; one that is gone is no error."""


ProviderFactory = Callable[[ProviderSite], Provider]
"""It may have a static method `wrong_options` as below; the api asks it before a pool is saved.
With `wants_credentials = True` it gets a `credential` for each machine. With `has_queue = True`
its machines may wait to begin: it is asked for its list more often while some do. What machines
leave behind is removed after a while if it is a `ClearsUp`, too.
"""
WrongOptions = Callable[[Mapping[str, Option]], Mapping[str, str]]
"""Returns what is wrong with the options of a pool, by their names. It only looks at them: the api
has no `ProviderSite`, and may run on another host than the driver.
"""

PROVIDER_PLUGINS: Final = PluginGroup[ProviderFactory]("weft.providers", "provider of machines")
