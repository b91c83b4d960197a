"""A store that answers what a test told it, and says when it was asked."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from driver.fake_sources import FakeSources
from weft.core.billing.spending import Stage
from weft.core.ends.conditions import Tested
from weft.core.errors import EpochStale, Unavailable, WeftError
from weft.core.pools.keep import Keep
from weft.ports.store import (
    BatchQuery,
    Beat,
    Caller,
    DeliveryReport,
    DueCallback,
    DueCondition,
    DueSchedule,
    Folded,
    JobQuery,
    JobRows,
    Operation,
    Patrolled,
    Position,
    Resubmitted,
    Row,
    ScheduleMove,
)
from weft.ports.store.spending import Admitted, Limit
from weft.store import DriverStore


class FakeDriverStore(FakeSources, DriverStore):
    """One leader's lock, a list of answers per function; empty: nothing to do."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.asked = asyncio.Condition()
        self.lock_free = True
        self.leads = True
        self.epoch = 0
        self.folds: deque[int] = deque()
        self.sweeps: deque[int] = deque()
        self.children: deque[int] = deque()
        self.counted: deque[int] = deque()
        self.parked: deque[int] = deque()
        self.gated: deque[int] = deque()
        self.next_gates: deque[float | None] = deque()
        self.next_deadlines: deque[float | None] = deque()
        self.next_recoveries: deque[float | None] = deque()
        self.overdue: deque[Sequence[Row]] = deque()
        self.patrolled: deque[Patrolled | None] = deque()
        self.positions: list[Position] = []
        self.next_conditions: deque[float | None] = deque()
        self.conditions: deque[list[DueCondition]] = deque()
        self.busy: list[list[int]] = []
        self.postponing: deque[int] = deque()
        self.postponed: list[float] = []
        self.tested: dict[int, Tested] = {}
        self.gates_due_at: datetime | None = None
        self.idle: deque[bool] = deque()
        self.due: deque[datetime | None] = deque()
        self.operations: deque[list[Operation]] = deque()
        self.found: list[Operation] = []
        self.steps: deque[bool | WeftError] = deque()
        self.failed: list[Mapping[str, Any]] = []
        self.callbacks: dict[int, DueCallback] = {}
        self.next_callbacks: deque[float | None] = deque()
        self.reports: list[DeliveryReport] = []
        self.schedules: deque[list[DueSchedule]] = deque()
        self.moves: list[ScheduleMove] = []
        self.ends: list[Row] = []
        self.preemptions: list[Row] = []
        self.preempted: list[tuple[tuple[int, int], list[tuple[int, int, int]]]] = []
        self.limits: list[Limit] = []
        self.judged: list[tuple[int, Stage, bool]] = []
        self.rooms: list[Mapping[int, Decimal]] = []
        self.admitted: list[Admitted] = []
        self.black_hole_rows: list[Row] = []
        self.black_hole_moves: list[tuple[int, str, float]] = []
        self.away = False

    async def until(self, function: str, times: int) -> None:
        """Wait until a function was called so often."""
        async with asyncio.timeout(30), self.asked:
            await self.asked.wait_for(lambda: self.calls[function] >= times)

    async def _ask(self, function: str, epoch: int | None = None) -> None:
        async with self.asked:
            self.calls[function] += 1
            self.asked.notify_all()
        if self.away:
            raise Unavailable("the database is away")
        if epoch is not None and epoch != self.epoch:
            raise EpochStale(f"epoch {epoch} is over")

    async def try_lead(self) -> int | None:
        await self._ask("try_lead")
        if not self.lock_free:
            return None
        self.epoch += 1
        return self.epoch

    async def still_lead(self) -> bool:
        await self._ask("still_lead")
        return self.leads

    async def fold_deltas(self, epoch: int) -> Folded:
        await self._ask("fold_deltas", epoch)
        waiting = {
            "cancel": self.sweeps,
            "settle": self.children,
            "hold": self.parked,
            "gates": self.gated,
            "operate": self.operations,
        }
        loops = [loop for loop, left in waiting.items() if left]
        return Folded(self.folds.popleft() if self.folds else 0, loops)

    async def sweep(self, function: str, epoch: int, *, limit_jobs: int) -> int:
        await self._ask(function, epoch)
        answers = {
            "sweep_cancelled": self.sweeps, "sweep_holds": self.parked,
            "pass_gates": self.gated, "settle_children": self.children,
            "count_parent_ends": self.counted,
        }  # fmt: skip
        left = answers.get(function)
        count = left.popleft() if left else 0
        assert count <= limit_jobs
        return count

    async def running_operations(self, epoch: int, above_id: int = 0) -> Sequence[Operation]:
        """A list is what one pass finds; a page holds one operation."""
        await self._ask("running_operations", epoch)
        if above_id == 0:
            self.found = self.operations.popleft() if self.operations else []
        return [one for one in self.found if one.operation_id > above_id][:1]

    async def step(self, function: str, epoch: int, operation_id: int, *, limit: int) -> str:
        assert min(operation_id, limit) > 0
        await self._ask(function, epoch)
        step = self.steps.popleft()
        if isinstance(step, WeftError):
            raise step
        return "moved" if step else "waits"

    async def fill_set(
        self,
        epoch: int,
        operation_id: int,
        job_ids: Sequence[int],
        *,
        looked_upto: int,
        sets_max: int,
    ) -> bool:
        raise NotImplementedError

    async def retry_failed(
        self,
        epoch: int,
        operation_id: int,
        *,
        matching: Sequence[int] | None,
        looked_upto: int | None,
        limit: int,
    ) -> str:
        raise NotImplementedError

    async def list_resubmitted(
        self, epoch: int, operation_id: int, *, after: int, limit: int
    ) -> Resubmitted | None:
        raise NotImplementedError

    async def add_resubmitted(
        self, epoch: int, operation_id: int, *, after: int, upto: int, job_ids: Sequence[int],
        rows: JobRows | None,
    ) -> None:  # fmt: skip
        raise NotImplementedError

    async def read_chunks(self, batch_id: int, first_jobs: Sequence[int]) -> Mapping[int, bytes]:
        raise NotImplementedError

    async def matching_jobs(
        self, tenant_id: int, batch_id: int, wanted: JobQuery
    ) -> Sequence[int]:
        raise NotImplementedError

    async def operation_caller(self, epoch: int, operation_id: int) -> Caller | None:
        raise NotImplementedError

    async def find_batches(self, caller: Caller, wanted: BatchQuery) -> Sequence[Row]:
        raise NotImplementedError

    async def read_batches(self, caller: Caller, batch_ids: Sequence[int]) -> Sequence[Row]:
        raise NotImplementedError

    async def act_on_batch(
        self, caller: Caller, epoch: int, operation_id: int, batch_id: int, *, n_idle: int
    ) -> bool:
        raise NotImplementedError

    async def pass_batches(
        self,
        epoch: int,
        operation_id: int,
        *,
        down_to: int,
        n_idle: int,
        skipped: str | None = None,
    ) -> bool:
        raise NotImplementedError

    async def fail_operation(
        self, epoch: int, operation_id: int, problem: Mapping[str, Any]
    ) -> None:
        self.failed.append({"operation_id": operation_id, **problem})
        await self._ask("fail_operation", epoch)

    async def lose_workers(self, epoch: int, grace_s: float) -> Sequence[Row]:
        assert grace_s > 0
        await self._ask("lose_workers", epoch)
        return []

    async def next_due(self, epoch: int, grace_s: float) -> datetime | None:
        assert grace_s > 0
        await self._ask("next_due", epoch)
        return self.due.popleft() if self.due else None

    async def gates_due(self, epoch: int) -> float | None:
        await self._ask("gates_due", epoch)
        return self.next_gates.popleft() if self.next_gates else None

    async def deadlines_due(self, epoch: int) -> float | None:
        await self._ask("deadlines_due", epoch)
        return self.next_deadlines.popleft() if self.next_deadlines else None

    async def stop_overdue(self, epoch: int, **_limits: float) -> Sequence[Row]:
        await self._ask("stop_overdue", epoch)
        return self.overdue.popleft() if self.overdue else []

    async def patrol(self, epoch: int, position: Position, *, limit_jobs: int) -> Patrolled | None:
        await self._ask("patrol", epoch)
        assert limit_jobs > 0
        self.positions.append(position)
        return self.patrolled.popleft() if self.patrolled else None

    async def recovery_due(self, epoch: int) -> float | None:
        await self._ask("recovery_due", epoch)
        return self.next_recoveries.popleft() if self.next_recoveries else None

    async def conditions_due(self, epoch: int, busy: Sequence[int]) -> float | None:  # noqa: ARG002
        await self._ask("conditions_due", epoch)
        return self.next_conditions.popleft() if self.next_conditions else None

    async def due_conditions(
        self, epoch: int, busy: Sequence[int], *, limit: int
    ) -> Sequence[DueCondition]:
        self.busy.append(list(busy))
        await self._ask("due_conditions", epoch)
        due = self.conditions.popleft() if self.conditions else []
        assert len(due) <= limit
        return due

    async def postpone_conditions(
        self, epoch: int, condition_ids: Sequence[int], *, limit_jobs: int, due_s: float = 0.0
    ) -> int:
        assert min(*condition_ids, limit_jobs) > 0
        self.postponed.append(due_s)
        await self._ask("postpone_conditions", epoch)
        return self.postponing.popleft() if self.postponing else 0

    async def record_tests(self, epoch: int, tested: Mapping[int, Tested]) -> Sequence[int]:
        self.tested.update(tested)
        await self._ask("record_tests", epoch)
        return list(tested)

    async def test_pool(self, epoch: int, condition_id: int, pool: str, free_cpu_m: int) -> Tested:
        await self._ask("test_pool", epoch)
        return Tested(passed=True, message=f"c{condition_id}: {pool} {free_cpu_m}")

    async def schedules_due(self, epoch: int) -> float | None:
        await self._ask("schedules_due", epoch)
        return None

    async def due_schedules(self, epoch: int, *, limit: int) -> Sequence[DueSchedule]:
        assert limit > 0
        await self._ask("due_schedules", epoch)
        return self.schedules.popleft() if self.schedules else []

    async def begin_schedule_runs(self, epoch: int, moves: Sequence[ScheduleMove]) -> int:
        await self._ask("begin_schedule_runs", epoch)
        self.moves.extend(moves)
        return sum(len(one.runs) for one in moves)

    async def beat(self, epoch: int, grace_s: float) -> Beat:
        assert grace_s > 0
        await self._ask("beat", epoch)
        due = {}
        if self.due and (due_at := self.due.popleft()) is not None:
            due["reaper"] = due_at
        if self.gates_due_at is not None:
            due["gates"] = self.gates_due_at
        if self.callbacks:
            due["callback"] = datetime.now(UTC)
        return Beat(self.idle.popleft() if self.idle else True, due)

    async def idle_driver(self, epoch: int) -> bool:
        await self._ask("idle_driver", epoch)
        return self.idle.popleft() if self.idle else True

    async def remove_old(self, epoch: int, **_: float) -> int:
        await self._ask("remove_old", epoch)
        return 0

    async def trim_trail(self, epoch: int, **_: float) -> int:
        await self._ask("trim_trail", epoch)
        return 0

    async def remove_outputs(self, epoch: int, **_: float) -> int:
        await self._ask("remove_outputs", epoch)
        return 0

    async def reserve_rounds(self, epoch: int, *, after_s: float) -> Sequence[Row]:  # noqa: ARG002
        await self._ask("reserve_rounds", epoch)
        return ()

    async def add_reservations(self, epoch: int, kept: Sequence[Keep]) -> int:
        await self._ask("add_reservations", epoch)
        return len(kept)

    async def pool_rounds(self, epoch: int, *, limit_jobs: int) -> Sequence[Row]:  # noqa: ARG002
        await self._ask("pool_rounds", epoch)
        return ()

    async def limit_rounds(self, epoch: int) -> Sequence[Limit]:
        await self._ask("limit_rounds", epoch)
        return self.limits

    async def judge_limit(self, epoch: int, limit: Limit, stage: Stage, *, near: bool) -> bool:
        self.judged.append((limit.limit_id, stage, near))
        await self._ask("judge_limit", epoch)
        return True

    async def admit_at_limits(
        self,
        epoch: int,
        rooms: Mapping[int, Decimal],
        *,
        limit_jobs: int,  # noqa: ARG002
    ) -> Sequence[Admitted]:
        self.rooms.append(rooms)
        await self._ask("admit_at_limits", epoch)
        return self.admitted

    async def preemption_rounds(self, epoch: int) -> Sequence[Row]:
        await self._ask("preemption_rounds", epoch)
        return self.preemptions

    async def preempt_jobs(
        self,
        epoch: int,
        waiting: tuple[int, int],
        stopped: Sequence[tuple[int, int, int]],
        *,
        wait_s: float,  # noqa: ARG002
    ) -> int:
        self.preempted.append((waiting, list(stopped)))
        await self._ask("preempt_jobs", epoch)
        return len(stopped)

    async def recent_ends(
        self,
        epoch: int,
        *,
        window_s: float,  # noqa: ARG002
        fast_s: float,  # noqa: ARG002
        limit_events: int,  # noqa: ARG002
    ) -> Sequence[Row]:
        await self._ask("recent_ends", epoch)
        return self.ends

    async def black_holes(self, epoch: int) -> Sequence[Row]:
        await self._ask("black_holes", epoch)
        return self.black_hole_rows

    async def move_black_hole(
        self,
        epoch: int,
        worker_id: int,
        decision: str,
        reason: str,  # noqa: ARG002
        *,
        retry_s: float,
    ) -> str | None:
        self.black_hole_moves.append((worker_id, decision, retry_s))
        await self._ask("move_black_hole", epoch)
        return f"w{worker_id}"

    async def add_machines(
        self,
        epoch: int,
        pool_id: int,  # noqa: ARG002
        new: Sequence[tuple[str, str, str]],
    ) -> Sequence[str]:
        await self._ask("add_machines", epoch)
        return [flavour for flavour, _, _ in new]

    async def add_own_machines(
        self,
        epoch: int,
        pool_id: int,  # noqa: ARG002
        new: Sequence[tuple[str, str, str, int, int]],  # noqa: ARG002
    ) -> Sequence[Row]:
        await self._ask("add_own_machines", epoch)
        return []

    async def move_machine(self, epoch: int, machine: str, decision: str, reason: str) -> bool:  # noqa: ARG002
        await self._ask("move_machine", epoch)
        return True

    async def record_machine(
        self,
        epoch: int,
        machine: str,  # noqa: ARG002
        kind: str,  # noqa: ARG002
        *,
        provider_id: str | None = None,  # noqa: ARG002
        reason: str | None = None,  # noqa: ARG002
    ) -> None:
        await self._ask("record_machine", epoch)

    async def count_machines(self, epoch: int, shares: Mapping[str, float]) -> None:  # noqa: ARG002
        await self._ask("count_machines", epoch)

    async def reconcile_machines(
        self,
        epoch: int,
        provider: str,  # noqa: ARG002
        names: Sequence[str],  # noqa: ARG002
        *,
        waits: Sequence[str] = (),  # noqa: ARG002
        asked_s: float,  # noqa: ARG002
    ) -> Sequence[Row]:
        await self._ask("reconcile_machines", epoch)
        return ()

    async def due_callbacks(
        self,
        epoch: int,
        busy: Sequence[int],
        *,
        limit_all: int,
        limit_tenant: int,
        limit_host: int,
    ) -> Sequence[DueCallback]:
        assert limit_all >= limit_tenant
        assert limit_host > 0
        await self._ask("due_callbacks", epoch)
        due = [one for one in self.callbacks.values() if one.delivery_id not in busy]
        return due[: limit_all - len(busy)]

    async def next_callback(self, epoch: int) -> float | None:
        await self._ask("next_callback", epoch)
        return self.next_callbacks.popleft() if self.next_callbacks else None

    async def record_deliveries(self, epoch: int, reports: Sequence[DeliveryReport]) -> None:
        for one in reports:
            if one.delivered or one.retry_in_s != 0:
                self.callbacks.pop(one.delivery_id, None)
        self.reports.extend(reports)
        await self._ask("record_deliveries", epoch)


class FakeNotices:
    """Notices that a test sends; `lose` breaks the connection."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[tuple[str, str] | None] = asyncio.Queue()
        self.listening = asyncio.Event()

    def send(self, channel: str = "driver", payload: str = "") -> None:
        self._queue.put_nowait((channel, payload))

    def lose(self) -> None:
        self._queue.put_nowait(None)

    async def listen(self, *channels: str) -> AsyncIterator[tuple[str, str]]:
        yield ("", "")
        self.listening.set()
        while (notice := await self._queue.get()) is not None:
            if notice[0] in channels:
                yield notice
        self.listening.clear()
        raise Unavailable("the connection is lost")
