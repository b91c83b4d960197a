"""The part of `DriverStore` for machines of pools, and for workers that break."""

from collections.abc import Mapping, Sequence

from weft.ports.store import Row
from weft.store.database import Database
from weft.store.tokens import digest_of


class Machines:
    """The driver's calls about pools and workers. The methods are documented at the port."""

    _database: Database

    async def pool_rounds(self, epoch: int, *, limit_jobs: int) -> Sequence[Row]:
        """Return what there is to decide about each pool."""
        rows = await self._database.call("pool_rounds", epoch=epoch, limit_jobs=limit_jobs)
        return [row[0] for row in rows]

    async def add_machines(
        self, epoch: int, pool_id: int, new: Sequence[tuple[str, str, str]]
    ) -> Sequence[str]:
        """Note machines that are about to be made."""
        rows = await self._database.call(
            "add_machines",
            epoch=epoch,
            of_pool_id=pool_id,
            flavours=[flavour for flavour, _, _ in new],
            regions=[region for _, region, _ in new],
            reasons=[reason for _, _, reason in new],
        )
        return [row[0] for row in rows]

    async def add_machine_token(self, epoch: int, machine: str, token: str) -> bool:
        """Let the worker of a machine reach the api."""
        return bool(
            await self._database.value(
                "add_machine_token", epoch=epoch, of_machine=machine, of_hash=digest_of(token)
            )
        )

    async def add_own_machines(
        self, epoch: int, pool_id: int, new: Sequence[tuple[str, str, str, int, int]]
    ) -> Sequence[Row]:
        """Note machines that are about to be made for one job each."""
        flavours, regions, reasons, batch_ids, job_ids = (
            list(column) for column in zip(*new, strict=True)
        )
        rows = await self._database.call(
            "add_own_machines",
            epoch=epoch,
            of_pool_id=pool_id,
            flavours=flavours,
            regions=regions,
            reasons=reasons,
            batch_ids=batch_ids,
            job_ids=job_ids,
        )
        return [row[0] for row in rows]

    async def move_machine(self, epoch: int, machine: str, decision: str, reason: str) -> bool:
        """Cordon a machine, take that back, or let its worker end."""
        return bool(
            await self._database.value(
                "move_machine", epoch=epoch, machine=machine, decision=decision, reason=reason
            )
        )

    async def record_machine(
        self,
        epoch: int,
        machine: str,
        kind: str,
        *,
        provider_id: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Note what a provider said about a machine."""
        await self._database.call(
            "record_machine",
            epoch=epoch,
            machine=machine,
            kind=kind,
            provider_id=provider_id,
            reason=reason,
        )

    async def count_machines(self, epoch: int, shares: Mapping[str, float]) -> None:
        """Count what machines have cost."""
        await self._database.call(
            "count_machines", epoch=epoch, machines=list(shares), shares=list(shares.values())
        )

    async def reconcile_machines(
        self,
        epoch: int,
        provider: str,
        names: Sequence[str],
        *,
        waits: Sequence[str] = (),
        asked_s: float,
    ) -> Sequence[Row]:
        """Note what a provider has and what it has not."""
        rows = await self._database.call(
            "reconcile_machines",
            epoch=epoch,
            of_provider=provider,
            names=names,
            waits=waits or [""] * len(names),
            asked_s=asked_s,
        )
        return [dict(row) for row in rows]

    async def preemption_rounds(self, epoch: int) -> Sequence[Row]:
        """Return what there is to decide about jobs that could make room."""
        return [row[0] for row in await self._database.call("preemption_rounds", epoch=epoch)]

    async def preempt_jobs(
        self,
        epoch: int,
        waiting: tuple[int, int],
        stopped: Sequence[tuple[int, int, int]],
        *,
        wait_s: float,
    ) -> int:
        """Stop running attempts for a job that waits."""
        return int(
            await self._database.value(
                "preempt_jobs",
                epoch=epoch,
                waiting_batch_id=waiting[0],
                waiting_job_id=waiting[1],
                batch_ids=[batch for batch, _, _ in stopped],
                job_ids=[job for _, job, _ in stopped],
                attempts=[attempt for _, _, attempt in stopped],
                wait_s=wait_s,
            )
        )

    async def recent_ends(
        self, epoch: int, *, window_s: float, fast_s: float, limit_events: int
    ) -> Sequence[Row]:
        """Return how the newest attempts ended."""
        rows = await self._database.call(
            "recent_ends",
            epoch=epoch,
            window_s=window_s,
            fast_s=fast_s,
            limit_events=limit_events,
        )
        return [dict(row) for row in rows]

    async def black_holes(self, epoch: int) -> Sequence[Row]:
        """Return the workers that are cordoned because attempts fail there."""
        return [dict(row) for row in await self._database.call("black_holes", epoch=epoch)]

    async def move_black_hole(
        self, epoch: int, worker_id: int, decision: str, reason: str, *, retry_s: float
    ) -> str | None:
        """Cordon such a worker, let it try one job, or uncordon it."""
        name: str | None = await self._database.value(
            "move_black_hole",
            epoch=epoch,
            of_worker_id=worker_id,
            decision=decision,
            reason=reason,
            retry_s=retry_s,
        )
        return name
