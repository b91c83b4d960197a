"""The loop that makes and deletes machines of pools, as `core/pools/decide.py` says.

A round asks the database for each pool's machines and for the head of its queue, decides, notes
the decisions, and only then calls the provider, each call in a task of its own with a limit of
time: a provider that hangs delays nobody. A leader that dies in between leaves machines that were
noted and not made, or not deleted; the next one repeats these calls, which providers allow.

While no pool is described it asks nothing but after folds; while machines come and go, or jobs
wait, it looks again after `autoscale_s`.
"""

import asyncio
import time
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

import msgspec

from weft.core.errors import WorkerEnded
from weft.core.pools import Decision, Demand, Machine, Pool, decide, offers_of
from weft.driver.loops.loop import Loop, LoopContext, Providers
from weft.ports.provider import ProviderError, WantedMachine
from weft.ports.store import Row
from weft.telemetry import metrics
from weft.telemetry.log import get_logger

log = get_logger()

GAP_S = 2.0
"""Between two rounds at least, however often it is rung."""
CLOSED_FIRST_S = 30.0
CLOSED_LONGEST_S = 900.0


async def _run(context: LoopContext) -> None:
    if context.providers is None:
        while True:
            await context.bell.heard()
    await Autoscaler(context, context.providers).run()


class Autoscaler:
    """One term's rounds, and its calls of providers."""

    def __init__(self, context: LoopContext, providers: Providers) -> None:
        self._context = context
        self._store = context.store
        self._epoch = context.epoch
        self._settings = context.settings
        self._providers = providers
        self._calls: dict[str, asyncio.Task[None]] = {}
        """Calls under way, by machine: one at a time for each."""
        self._made: set[str] = set()
        self._idle: dict[str, tuple[str, float]] = {}
        """What tells that a worker has claimed, and since when nothing was seen to run there."""
        self._closed: dict[tuple[str, str], tuple[float, float]] = {}
        """By pool and region: until when no machine is made there, and how long that was."""

    async def run(self) -> None:
        """Decide until cancelled; the next term repeats calls that were under way."""
        try:
            while True:
                begun = time.monotonic()
                is_moving = await self.round()
                await self._context.bell.heard(self._settings.autoscale_s if is_moving else None)
                await asyncio.sleep(max(0.0, begun + GAP_S - time.monotonic()))
                self._forget_ended()
        finally:
            for task in self._calls.values():
                task.cancel()
            await asyncio.gather(*self._calls.values(), return_exceptions=True)

    async def round(self) -> bool:
        """Decide once for every pool; return whether there is a reason to look again by itself."""
        rows = await self._store.pool_rounds(
            self._epoch, limit_jobs=self._settings.autoscale_jobs_max
        )
        names = {one["name"] for row in rows for one in row["machines"]}
        self._idle = {name: known for name, known in self._idle.items() if name in names}
        self._made &= names
        moving = [await self._decide(row) for row in rows]
        return any(moving)

    async def _decide(self, row: Row) -> bool:
        pool = msgspec.convert(row["plan"], Pool)
        demand = msgspec.convert(row["demand"], list[Demand])
        machines = [self._machine(one, pool) for one in row["machines"]]
        decisions = decide(pool, demand, machines, self._closed_regions(pool))
        for one in decisions:
            if one.machine is not None and await self._move(one.machine, one):
                _tell(pool, one)
        await self._create(pool, row, [one for one in decisions if one.kind == "create"])
        for one in row["machines"]:
            if one["state"] == "creating" and one["name"] not in self._made:
                self._start_making(pool, row["tag"], one)
            elif one["state"] == "deleting" and not one["has_worker"]:
                self._call(one["name"], self._delete(pool, row["tag"], one["name"]))
        ours = [one for one in machines if one.flavour is not None]
        return bool(demand or decisions or len(ours) != pool.min_workers) and bool(
            ours or pool.max_workers
        )

    async def _move(self, machine: str, one: Decision) -> bool:
        try:
            return await self._store.move_machine(self._epoch, machine, one.kind, one.reason)
        except WorkerEnded:  # just now: the next round sees it
            return False

    def _machine(self, row: Row, pool: Pool) -> Machine:
        """Return a machine with what its flavour says of it, if it has no worker yet."""
        flavours = {one.name: one for one in pool.flavours}
        flavour = flavours.get(row["flavour"] or "")
        facts = {name: value for name, value in row.items() if name != "busy_key"}
        if facts["memory_mib"] is None:
            facts["memory_mib"] = 0 if flavour is None else flavour.memory_mib
            facts["offers"] = (
                {} if flavour is None else offers_of(pool.name, flavour, row["region"])
            )
        return msgspec.convert({**facts, "idle_s": self._idle_s(row)}, Machine)

    def _idle_s(self, row: Row) -> float:
        now = time.monotonic()
        key, since = self._idle.get(row["name"], ("", now))
        if row["n_running"] or key != row["busy_key"]:
            since = now
        self._idle[row["name"]] = (row["busy_key"], since)
        return now - since

    async def _create(self, pool: Pool, row: Row, new: Sequence[Decision]) -> None:
        if not new:
            return
        names = await self._store.add_machines(
            self._epoch,
            row["pool_id"],
            [(one.flavour, one.region, one.reason) for one in new],
        )
        for name, one in zip(names, new, strict=False):
            _tell(pool, msgspec.structs.replace(one, machine=name))
            self._start_making(
                pool, row["tag"], {"name": name, "flavour": one.flavour, "region": one.region}
            )

    def _start_making(self, pool: Pool, tag: str, row: Mapping[str, Any]) -> None:
        flavours = [one for one in pool.flavours if one.name == row["flavour"]]
        if not flavours or row["name"] in self._calls:
            return
        wanted = WantedMachine(
            name=row["name"],
            pool=pool.name,
            flavour=flavours[0],
            region=row["region"],
            options=pool.options,
        )
        self._call(wanted.name, self._make(pool, tag, wanted))

    def _call(self, name: str, call: Coroutine[Any, Any, None]) -> None:
        """Begin a call, unless one for this machine is under way."""
        if name in self._calls:
            call.close()
            return
        self._calls[name] = asyncio.create_task(call)

    async def _make(self, pool: Pool, tag: str, wanted: WantedMachine) -> None:
        self._made.add(wanted.name)
        try:
            async with asyncio.timeout(self._settings.provider_timeout_s):
                found = await self._providers(pool.provider or "", tag).create(wanted)
        except Exception as error:  # noqa: BLE001 (a plug-in raises what it likes)
            await self._failed(pool, wanted.name, error)
            self._close_region(pool, wanted.region)
            # Perhaps it was made all the same: it has to be deleted.
            reason = "it could not be made"
            await self._store.move_machine(self._epoch, wanted.name, "delete", reason)
            self._context.bell.ring()
            return
        self._closed.pop((pool.name, wanted.region), None)
        await self._store.record_machine(
            self._epoch, wanted.name, "made", provider_id=found.provider_id
        )

    async def _delete(self, pool: Pool, tag: str, name: str) -> None:
        try:
            async with asyncio.timeout(self._settings.provider_timeout_s):
                await self._providers(pool.provider or "", tag).delete(name)
        except Exception as error:  # noqa: BLE001 (as above)
            await self._failed(pool, name, error)
            return
        await self._store.record_machine(self._epoch, name, "gone", reason="it is deleted")

    async def _failed(self, pool: Pool, name: str, error: Exception) -> None:
        reason = str(error) if isinstance(error, ProviderError) else type(error).__name__
        if isinstance(error, TimeoutError):
            reason = f"no answer within {self._settings.provider_timeout_s:g} s"
        metrics.PROVIDER_FAILURES.labels(pool.provider or "").inc()
        log.warning("pool.provider_failed", pool=pool.name, machine=name, error=reason)
        await self._store.record_machine(self._epoch, name, "fail", reason=reason)

    def _close_region(self, pool: Pool, region: str) -> None:
        _, before_s = self._closed.get((pool.name, region), (0.0, 0.0))
        for_s = min(before_s * 2 or CLOSED_FIRST_S, CLOSED_LONGEST_S)
        self._closed[pool.name, region] = (time.monotonic() + for_s, for_s)

    def _closed_regions(self, pool: Pool) -> Sequence[str]:
        now = time.monotonic()
        return [
            region
            for (name, region), (until, _) in self._closed.items()
            if name == pool.name and until > now
        ]

    def _forget_ended(self) -> None:
        """Make room for other calls, or raise a defect: then this term is over."""
        for name, task in list(self._calls.items()):
            if task.done():
                del self._calls[name]
                task.result()


def _tell(pool: Pool, one: Decision) -> None:
    metrics.POOL_DECISIONS.labels(one.kind).inc()
    log.info("pool.decided", pool=pool.name, kind=one.kind, machine=one.machine, why=one.reason)


LOOP = Loop("autoscale", _run, after=("fold",))
