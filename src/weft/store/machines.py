"""The part of `DriverStore` for machines of pools, and for workers that break."""

from collections.abc import Mapping, Sequence

from weft.core.pools.keep import Keep
from weft.ports.store import Row
from weft.ports.worker_link import LookStore
from weft.store.database import StorePart
from weft.store.declared import calls, column, documents, nothing, number, records, truth, value
from weft.store.sessions import digest_of
from weft.store.worker_files import ATTEMPT


class Machines(StorePart):
    """The driver's calls about pools and workers."""

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

    @calls(documents)
    async def preemption_rounds(self, epoch: int) -> Sequence[Row]:
        """Return for each pool in which jobs of queues with a priority are ready: `pool`,
        `waiting` and `hosts`, documents of `core.preemption`. Jobs that have caused a preemption
        since they last ran are left out.
        """

    @calls(
        number,
        waiting_batch_id=lambda waiting: waiting[0],
        waiting_job_id=lambda waiting: waiting[1],
        batch_ids=column("stopped", 0),
        job_ids=column("stopped", 1),
        attempts=column("stopped", 2),
    )
    async def preempt_jobs(
        self,
        epoch: int,
        waiting: tuple[int, int],
        stopped: Sequence[tuple[int, int, int]],
        *,
        wait_s: float,
    ) -> int:
        """Stop running attempts that are preemptible for a job that waits; return how many.

        Each ends as preempted and may start again after `wait_s`. 0 if the job that waits has
        caused this before and has not run since. Safe to repeat.
        """

    @calls(records)
    async def recent_ends(
        self, epoch: int, *, window_s: float, fast_s: float, limit_events: int
    ) -> Sequence[Row]:
        """Return how the newest attempts ended, newest first, as fields of
        `core.black_holes.Ends`: at most `limit_events` events that are at most this old.

        `fast_s`: a failure within this time is one at once. Ends before a worker was last
        uncordoned are left out, and cancelled, preempted and lost attempts.
        """

    @calls(records)
    async def black_holes(self, epoch: int) -> Sequence[Row]:
        """Return the workers that `move_black_hole` has cordoned, unless they drain: `worker_id`,
        `worker`, `n_tries` that failed, `outcome` of the last one (`none`, `running`, `success`,
        `failure`, `unknown`), and `due_in_s` until there is something to do; None: nothing.
        """

    @calls(value, worker_id="of_worker_id")
    async def move_black_hole(
        self, epoch: int, worker_id: int, decision: str, reason: str, *, retry_s: float
    ) -> str | None:
        """`cordon` a worker, let it `try` one job, `wait` after a failed try, or `uncordon` it.

        `retry_s`: until the next try, also if this one does not take place. Return its name; None:
        somebody else has changed its state, or it has ended. Safe to repeat.
        """


class Reservations(StorePart):
    """The driver's calls about kept workers."""

    @calls(documents)
    async def reserve_rounds(self, epoch: int, *, after_s: float) -> Sequence[Row]:
        """Return for each pool in which jobs have waited for `after_s`: `jobs` and `workers`, as
        `core.pools.keep` reads them. Workers are not kept any more for jobs that have started or
        do not wait.
        """

    @calls(
        number,
        incarnation_ids=column("kept", 0),
        batch_ids=column("kept", 1),
        job_ids=column("kept", 2),
        fill_seconds=column("kept", 3),
    )
    async def add_reservations(self, epoch: int, kept: Sequence[Keep]) -> int:
        """Keep workers for jobs. Return how many are new: a worker is kept for one job, and a job
        has one worker. Of a worker that is kept already `fill_s` counts if it ends earlier.
        """


class Looks(StorePart):
    """Calls about questions, as `LookStore` of the worker's port has them."""

    ask_look = calls(value, **ATTEMPT, most="limit_open")(LookStore.ask_look)
    read_look = calls(value)(LookStore.read_look)
    answer_look = calls(nothing)(LookStore.answer_look)
    take_look = calls(value)(LookStore.take_look)
