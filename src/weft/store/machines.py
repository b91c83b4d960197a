"""Machines of pools, in the driver's store."""

from collections.abc import Mapping, Sequence

from weft.ports.store import Row
from weft.store.callers import digest_of
from weft.store.database import StorePart
from weft.store.declared import calls, column, documents, nothing, records, truth


class Machines(StorePart):
    """The driver's calls about machines of pools."""

    @calls(documents)
    async def pool_rounds(self, epoch: int, *, limit_jobs: int) -> Sequence[Row]:
        """Return for each pool that machines are made for: `pool_id`, `plan` (a document of
        `Pool`), `tag`, `machines`, `demand`, from at most `limit_jobs` ready jobs, and `own_jobs`
        that want machines of their own.

        Machines whose worker has come are active from then on. Safe to repeat.
        """

    @calls(
        documents,
        pool_id="of_pool_id",
        flavours=column("new", 0),
        regions=column("new", 1),
        reasons=column("new", 2),
    )
    async def add_machines(
        self, epoch: int, pool_id: int, new: Sequence[tuple[str, str, str]]
    ) -> Sequence[str]:
        """Note machines that are about to be made: flavour, region, reason. Return their names,
        in order; fewer if the pool may have fewer.
        """

    @calls(truth, machine="of_machine", token=("of_hash", digest_of))
    async def add_machine_token(self, epoch: int, machine: str, token: str) -> bool:
        """Let the worker of a machine that is being made reach the api with this token, until the
        machine is gone. Return False if it is not being made any more, or if the user
        `weft-machines` may not work.
        """

    @calls(
        documents,
        pool_id="of_pool_id",
        flavours=column("new", 0),
        regions=column("new", 1),
        reasons=column("new", 2),
        batch_ids=column("new", 3),
        job_ids=column("new", 4),
    )
    async def add_own_machines(
        self, epoch: int, pool_id: int, new: Sequence[tuple[str, str, str, int, int]]
    ) -> Sequence[Row]:
        """Note machines that are about to be made for one job each: flavour, region, reason,
        batch, job. The job waits for its machine from then on. Return `name`, `flavour`,
        `region`, `provider` and `reason` of each; fewer if the pool may have fewer, or if jobs
        are not ready any more. Safe to repeat.
        """

    @calls(truth)
    async def move_machine(self, epoch: int, machine: str, decision: str, reason: str) -> bool:
        """Cordon a machine, uncordon it, or delete it: its worker ends when nothing runs there.

        No running job is touched; one that waits for the machine is ready again, or ends as an
        error after several that did not come. Return False if the machine has another state by
        now, or a person cordoned it. Safe to repeat.
        """

    @calls(nothing)
    async def record_machine(
        self,
        epoch: int,
        machine: str,
        kind: str,
        *,
        provider_id: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Note a machine as `made` or `gone`, or a call about it as `fail`. Safe to repeat."""

    @calls(nothing, machines=lambda shares: [*shares], shares=lambda shares: [*shares.values()])
    async def count_machines(self, epoch: int, shares: Mapping[str, float]) -> None:
        """Count what these machines have cost until now; from now on jobs use these shares of
        them, from 0 to 1. Safe to repeat.
        """

    @calls(
        records,
        provider="of_provider",
        names=lambda names: [*names],
        waits=lambda names, waits: waits or [""] * len(names),
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
        """Compare the names that a provider listed with the machines that are noted. Return what
        was wrong: `pool`, `machine`, `finding`; each of these machines is to be deleted, as by
        `move_machine`.

        `waits`: why each of them has not begun, empty: it has; none given: all have.
        `asked_s`: how long ago the list was asked for. What changed since, or within two minutes
        before, is left for the next time. Safe to repeat.
        """
