"""The description of a driver's loop, and the context in which it works."""

from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any

from weft.driver.adapters import Adapter, Adapters
from weft.driver.loops.bell import Bell, DueDate
from weft.settings import Settings
from weft.store import DriverStore


@dataclass
class Rest:
    """Whether the driver sleeps: then only notices and the heartbeat wake it."""

    is_asleep: bool = False


@dataclass(frozen=True)
class LoopContext:
    """The context of one loop during one term."""

    store: DriverStore
    epoch: int
    settings: Settings
    bell: Bell
    """Rung when there may be work."""
    due: DueDate
    """The loop's next date, as the leader's heartbeats set it."""
    moved: Callable[[], None]
    """Call this after a pass that did something: rings the loops that follow (`Loop.after`)."""
    ring: Callable[[Iterable[str]], None]
    """Rings loops by name."""
    rest: Rest = field(default_factory=Rest)
    adapters: Adapters = field(default_factory=Adapters)

    async def needed(self, kind: type[Adapter]) -> Adapter:
        """Return an adapter. Without it wait for ever: a loop that returns ends the term."""
        while (found := self.adapters.get(kind)) is None:
            await self.bell.heard()
        return found

    async def sweep_all(self, function: str, *, limit_jobs: int) -> int:
        """Repeat a sweep in bounded calls until nothing is left; return how many jobs it met."""
        n_jobs = 0
        while count := await self.store.sweep(function, self.epoch, limit_jobs=limit_jobs):
            n_jobs += count
        return n_jobs


@dataclass(frozen=True)
class Loop:
    """One loop: its name, what it does, and the loops that give it work.

    A loop is woken by its name: `weft._loops_with_work` (after each fold and at the heartbeat of a
    sleeping driver), `weft._loops_due` (dates) and the payload of a notice on channel `driver` all
    name loops.
    """

    name: str
    run: Callable[[LoopContext], Coroutine[Any, Any, None]]
    """Runs until cancelled. `Unavailable` and `EpochStale` end the term; after any other error it
    is run anew."""
    after: tuple[str, ...] = ()
    """Loops that ring this one after a pass that did something."""
