"""The calls of a driver."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from weft.core.ends.conditions import Tested
from weft.core.pools.keep import Keep
from weft.ports.store.callbacks import DeliveryReport, DueCallback
from weft.ports.store.callers import Caller, Row
from weft.ports.store.conditions import DueCondition
from weft.ports.store.operations import Operation, Resubmitted
from weft.ports.store.patrol import Patrolled, Position
from weft.ports.store.queries import BatchQuery, JobQuery
from weft.ports.store.schedules import DueSchedule, ScheduleMove
from weft.ports.store.sources import SourceReadings
from weft.ports.store.spending import SpendingStore
from weft.ports.store.submitted import JobRows
from weft.ports.store.subscriptions import SubscriptionStore
from weft.ports.store.worker import StoredFileStore


class Beat(NamedTuple):
    """The answer to a leader's heartbeat; it makes up for lost notices."""

    idle: bool
    """As `DriverStore.idle_driver`."""
    due: Mapping[str, datetime] = {}
    """By loop: when its next work is due, by this host's clock."""


class Folded(NamedTuple):
    """The result of a fold: the number of deltas, and the names of the loops that have work."""

    deltas: int
    loops: Sequence[str] = ()
    """Those that no notice wakes while the fold is awake, such as `cancel` (`driver/loops`)."""


class DriverStore(SpendingStore, SourceReadings, SubscriptionStore, Protocol):
    """The calls of a driver.

    Every call with an epoch raises `EpochStale`, and changes nothing, unless it is the epoch of
    the current term.
    Seconds and dates are as of the call; dates are by this host's clock.
    """

    async def try_lead(self) -> int | None:
        """Begin a term, unless another driver leads; never wait for it.

        Return its epoch, which is greater than all earlier ones, or None. The term lasts until the
        store is closed or its connection breaks. A driver that leads already begins another term.
        """

    async def configure(self, epoch: int, settings: Mapping[str, Any]) -> None:
        """Store the leader's settings that apply to the calls of all roles, by name.

        `losses_max`: how often a running job may be lost and be ready again; then it is an error.
        """

    async def still_lead(self) -> bool:
        """Return whether the connection that holds the lock is alive: the driver's heartbeat.

        False, too, for a driver that does not lead, and if the database is away.
        """

    async def fold_deltas(self, epoch: int) -> Folded:
        """Fold the visible deltas into the sums, each once, and settle completions.

        Documents count the same before and after; groups become complete here.
        """

    async def sweep(self, function: str, epoch: int, *, limit_jobs: int) -> int:
        """Call a SQL function that does one bounded step of a loop.

        Such a function takes `(epoch, limit_jobs)`, is safe to repeat, and returns how many jobs
        it handled, at most `limit_jobs`; 0: nothing is left.
        """

    async def lose_workers(self, epoch: int, grace_s: float) -> Sequence[Row]:
        """End the attempts of workers that were silent longer than the grace, as lost.

        Return for each such worker, once, `worker`, `n_attempts` and `silent_s`.
        """

    async def stop_overdue(
        self, epoch: int, *, limit_jobs: int, confirm_s: float
    ) -> Sequence[Row]:
        """End attempts that are beyond a limit of their queue, and tell their workers.

        The jobs go on once the workers have stopped them. A worker that has not done so after
        `confirm_s` is given up.
        Return `batch_id`, `job_id`, `attempt`, `worker`, `message` and `goes_on` of each attempt;
        of a worker that was given up only `worker` and `message`. Call it again until it returns
        nothing.
        """

    async def patrol(self, epoch: int, position: Position, *, limit_jobs: int) -> Patrolled | None:
        """Look at the next jobs that have not ended, at most `limit_jobs`. Those that have been
        ready or blocked for longer than their queue allows end.

        None: there are no more.
        """

    async def next_due(self, epoch: int, grace_s: float) -> datetime | None:
        """Return when the next worker would be lost, perhaps a past date; None: there is none."""

    async def gates_due(self, epoch: int) -> float | None:
        """Return in how many seconds a gate needs the driver if no notice comes before.

        Negative: it is overdue; None: nothing will be due.
        """

    async def deadlines_due(self, epoch: int) -> float | None:
        """Return in how many seconds a deadline needs the driver, as `gates_due`."""

    async def recovery_due(self, epoch: int) -> float | None:
        """Return in how many seconds a blocked job needs the driver, as `gates_due`."""

    async def conditions_due(self, epoch: int, busy: Sequence[int]) -> float | None:
        """Return in how many seconds a condition needs the driver, as `gates_due`; without those
        that are `busy`.
        """

    async def due_conditions(
        self, epoch: int, busy: Sequence[int], *, limit: int
    ) -> Sequence[DueCondition]:
        """Return the conditions that are to be tested, the longest due first, until `record_tests`
        says how it went. `busy`: those whose tests are under way; they are not returned again.

        A condition without jobs is over: it is removed instead, and returned as that.
        """

    async def postpone_conditions(
        self, epoch: int, condition_ids: Sequence[int], *, limit_jobs: int, due_s: float = 0.0
    ) -> int:
        """Let jobs of conditions that are due wait on, each by its own policy, as their tests have
        not passed; give up those that have waited too long. Return how many; 0: nothing is left.

        `due_s`: only jobs that have been due for so long. Of many jobs the first may be due again
        before the last one waits on.
        """

    async def record_tests(self, epoch: int, tested: Mapping[int, Tested]) -> Sequence[int]:
        """Note what tests said, and when the conditions are tested next. Where one passed, the
        sweep `release_conditions` lets a few jobs go on; after the next test that passes twice as
        many, unless a job has come to the condition meanwhile. Return the conditions at which it
        said something else than the last time.
        """

    async def test_pool(self, epoch: int, condition_id: int, pool: str, free_cpu_m: int) -> Tested:
        """Say whether a pool that serves the tenant of a condition has a worker that takes jobs
        and has this much free; 0: any.
        """

    async def test_gateway(self, epoch: int, condition_id: int, gateway: str) -> Tested:
        """Say whether the engine of a gateway, which serves the tenant of a condition, has
        answered what was submitted to it; a gateway that is silent or gone passes.
        """

    async def schedules_due(self, epoch: int) -> float | None:
        """Return in how many seconds a schedule needs the driver, as `gates_due`. One whose runs
        wait for an api needs it when they have ended.
        """

    async def due_schedules(self, epoch: int, *, limit: int) -> Sequence[DueSchedule]:
        """Return the schedules that are due, the longest due first; without those whose runs wait
        for an api.
        """

    async def begin_schedule_runs(self, epoch: int, moves: Sequence[ScheduleMove]) -> int:
        """Give schedules their runs, which an api submits, and their next dates; return how many
        runs there are now. A repeat changes nothing.
        """

    async def beat(self, epoch: int, grace_s: float) -> Beat:
        """Return whether the leader may sleep on (`idle_driver`), and when each loop is due."""

    async def idle_driver(self, epoch: int) -> bool:
        """Let this driver go to sleep.

        False: there is work; True: a notice on `driver` will follow.
        """

    async def remove_old(self, epoch: int, *, events_keep_s: float, updates_keep_s: float) -> int:
        """Remove, in bounded steps, events and uncommitted updates that are older than this.

        Return how many; 0: nothing is left. Readers of removed events get `EventsGone`.
        """

    async def remove_outputs(self, epoch: int, *, limit: int) -> int:
        """Remove the output and files of complete batches that are older than their tenant or they
        say, and the oldest of a tenant with too much, up to `limit` of each; return how many
        batches were looked at; 0: nothing is left. Their readers are told why.
        """

    async def trim_trail(self, epoch: int, *, keep_s: float, limit: int) -> int:
        """Remove the oldest entries of the trail that were sealed so long ago, and at least a day;
        return how many; 0: nothing is left. What remains is still a chain.
        """

    async def running_operations(self, epoch: int, above_id: int = 0) -> Sequence[Operation]:
        """Return a page of the running operations above a number, oldest first; empty: no more."""

    async def step(self, function: str, epoch: int, operation_id: int, *, limit: int) -> str:
        """Call a SQL function that does one bounded step of an operation.

        Such a function takes `(epoch, of_operation_id, limit_rows)`, is safe to repeat, and
        returns `moved`, `busy` (rows were locked: try again) or `waits` (for something else).
        Of an operation that is over: `moved`.
        """

    async def fill_set(
        self,
        epoch: int,
        operation_id: int,
        job_ids: Sequence[int],
        *,
        looked_upto: int,
        sets_max: int,
    ) -> bool:
        """Add jobs to the set of an operation that has examined all jobs up to a number.

        A repeat adds none twice. The step that reaches the operation's `n_total` shows the set and
        ends the operation. Return False if rows were locked: repeat the same step.
        """

    async def retry_failed(
        self,
        epoch: int,
        operation_id: int,
        *,
        matching: Sequence[int] | None,
        looked_upto: int | None,
        limit: int,
    ) -> str:
        """Do one step of a retry: at most `limit` jobs run again. Return as `step`.

        Of an operation with a query: `matching` are the jobs up to `looked_upto` that it matches,
        ascending; else both are None. The last step ends the operation; its result is `n_retried`,
        and `n_late` if jobs were left out because of their deadlines.
        """

    async def list_resubmitted(
        self, epoch: int, operation_id: int, *, after: int, limit: int
    ) -> Resubmitted | None:
        """Return the next jobs, at most `limit`, that a resubmission copies; `after`: the last
        number that was examined before. None: the operation is over.

        Their `parents` are numbers in the new batch, or negative ones of the old batch if they
        are not there (yet).
        """

    async def add_resubmitted(
        self, epoch: int, operation_id: int, *, after: int, upto: int, job_ids: Sequence[int],
        rows: JobRows | None,
    ) -> None:  # fmt: skip
        """Add jobs to the new batch of a resubmission: `rows`, which were `job_ids`; None: none.
        It has examined the jobs after `after` up to `upto`. A repeat changes nothing.

        Nobody sees the new batch before the step `copy_batch` that follows the last job.
        """

    async def read_chunks(self, batch_id: int, first_jobs: Sequence[int]) -> Mapping[int, bytes]:
        """Return chunks of specs by their first jobs."""

    async def matching_jobs(
        self, tenant_id: int, batch_id: int, wanted: JobQuery
    ) -> Sequence[int]:
        """Return the numbers of the jobs that a query matches, ascending."""

    async def operation_caller(self, epoch: int, operation_id: int) -> Caller | None:
        """Return who has asked for an operation, with their present role, to act on batches; None:
        they were removed.
        """

    async def find_batches(self, caller: Caller, wanted: BatchQuery) -> Sequence[Row]:
        """Return documents of batches that match and that the caller sees, newest first. Raise
        `QueryTooSlow`.
        """

    async def read_batches(self, caller: Caller, batch_ids: Sequence[int]) -> Sequence[Row]:
        """Return the documents of those of these batches that the caller sees, newest first."""

    async def act_on_batch(
        self, caller: Caller, epoch: int, operation_id: int, batch_id: int, *, n_idle: int
    ) -> bool:
        """Do to a batch what an operation on batches is for, and pass it in the same transaction:
        a repeat does nothing. Batches are passed from the highest number to the lowest.

        `n_idle`: batches in which there was nothing to do, between the last one that was passed
        and this one. Return False, and do nothing, if the operation is over, has passed the batch,
        or the caller's role has changed. Raise what the request of the caller would.
        """

    async def pass_batches(
        self,
        epoch: int,
        operation_id: int,
        *,
        down_to: int,
        n_idle: int,
        skipped: str | None = None,
    ) -> bool:
        """Let an operation on batches pass all down to a number; at 1 it ends.

        `skipped`: the code of the error for which the last one could not be changed. Return False
        if the operation is over or has passed that number.
        """

    async def fail_operation(
        self, epoch: int, operation_id: int, problem: Mapping[str, Any]
    ) -> None:
        """End an operation with an error, given as a problem document. A set that it was filling
        is never shown.
        """

    async def reserve_rounds(self, epoch: int, *, after_s: float) -> Sequence[Row]:
        """Return for each pool in which jobs have waited for `after_s`: `jobs` and `workers`, as
        `core.pools.keep` reads them. Workers are not kept any more for jobs that have started or
        do not wait.
        """

    async def add_reservations(self, epoch: int, kept: Sequence[Keep]) -> int:
        """Keep workers for jobs. Return how many are new: a worker is kept for one job, and a job
        has one worker. Of a worker that is kept already `fill_s` counts if it ends earlier.
        """

    async def pool_rounds(self, epoch: int, *, limit_jobs: int) -> Sequence[Row]:
        """Return for each pool that machines are made for: `pool_id`, `plan` (a document of
        `Pool`), `tag`, `machines`, `demand`, from at most `limit_jobs` ready jobs, and `own_jobs`
        that want machines of their own.

        Machines whose worker has come are active from then on. Safe to repeat.
        """

    async def add_machines(
        self, epoch: int, pool_id: int, new: Sequence[tuple[str, str, str]]
    ) -> Sequence[str]:
        """Note machines that are about to be made: flavour, region, reason. Return their names,
        in order; fewer if the pool may have fewer.
        """

    async def add_machine_token(self, epoch: int, machine: str, token: str) -> bool:
        """Let the worker of a machine that is being made reach the api with this token, until the
        machine is gone. Return False if it is not being made any more, or if the user
        `weft-machines` may not work.
        """

    async def add_own_machines(
        self, epoch: int, pool_id: int, new: Sequence[tuple[str, str, str, int, int]]
    ) -> Sequence[Row]:
        """Note machines that are about to be made for one job each: flavour, region, reason,
        batch, job. The job waits for its machine from then on. Return `name`, `flavour`,
        `region`, `provider` and `reason` of each; fewer if the pool may have fewer, or if jobs
        are not ready any more. Safe to repeat.
        """

    async def move_machine(self, epoch: int, machine: str, decision: str, reason: str) -> bool:
        """Cordon a machine, uncordon it, or delete it: its worker ends when nothing runs there.

        No running job is touched; one that waits for the machine is ready again, or ends as an
        error after several that did not come. Return False if the machine has another state by
        now, or a person cordoned it. Safe to repeat.
        """

    async def record_machine(
        self,
        epoch: int,
        machine: str,
        kind: str,
        *,
        provider_id: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Note that a machine is `made` or `gone`, or that a call about it did `fail`. Safe to
        repeat.
        """

    async def count_machines(self, epoch: int, shares: Mapping[str, float]) -> None:
        """Count what these machines have cost until now; from now on jobs use these shares of
        them, from 0 to 1. Safe to repeat.
        """

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

    async def preemption_rounds(self, epoch: int) -> Sequence[Row]:
        """Return for each pool in which jobs of queues with a priority are ready: `pool`,
        `waiting` and `hosts`, documents of `core.preemption`. Jobs that have caused a preemption
        since they last ran are left out.
        """

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

    async def recent_ends(
        self, epoch: int, *, window_s: float, fast_s: float, limit_events: int
    ) -> Sequence[Row]:
        """Return how the newest attempts ended, newest first, as fields of
        `core.black_holes.Ends`: at most `limit_events` events that are at most this old.

        `fast_s`: a failure within this time is one at once. Ends before a worker was last
        uncordoned are left out, and cancelled, preempted and lost attempts.
        """

    async def black_holes(self, epoch: int) -> Sequence[Row]:
        """Return the workers that `move_black_hole` has cordoned, unless they drain: `worker_id`,
        `worker`, `n_tries` that failed, `outcome` of the last one (`none`, `running`, `success`,
        `failure`, `unknown`), and `due_in_s` until there is something to do; None: nothing.
        """

    async def move_black_hole(
        self, epoch: int, worker_id: int, decision: str, reason: str, *, retry_s: float
    ) -> str | None:
        """`cordon` a worker, let it `try` one job, `wait` after a failed try, or `uncordon` it.

        `retry_s`: until the next try, also if this one does not take place. Return its name; None:
        somebody else has changed its state, or it has ended. Safe to repeat.
        """

    async def find_sink_store(self, tenant_id: int, name: str) -> StoredFileStore | None:
        """Return a store of files of a tenant, for messages; None: there is none."""

    async def due_callbacks(
        self,
        epoch: int,
        busy: Sequence[int],
        *,
        limit_all: int,
        limit_tenant: int,
        limit_host: int,
    ) -> Sequence[DueCallback]:
        """Return the callbacks to send now, within limits that include those under way.

        `busy`: the deliveries under way; they are not returned again. The others are returned
        until `record_deliveries` says how they went.
        """

    async def next_callback(self, epoch: int) -> float | None:
        """Return in how many seconds another callback will be due, apart from those that are due
        already; None: there is none.
        """

    async def record_deliveries(self, epoch: int, reports: Sequence[DeliveryReport]) -> None:
        """Record attempts of callbacks. Reports on a delivery that is over change nothing."""
