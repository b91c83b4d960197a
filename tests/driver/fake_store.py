"""A store that answers what a test told it, and says when it was asked."""

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from weft.core.billing.spending import Stage
from weft.core.ends.conditions import Tested
from weft.core.errors import EpochStale, Unavailable, WeftError
from weft.driver.loops.bell import Bell, DueDate
from weft.driver.loops.loop import Loop, LoopContext
from weft.ports.store import (
    Beat,
    DeliveryReport,
    DueCallback,
    DueCondition,
    DueSchedule,
    Folded,
    Operation,
    Patrolled,
    Position,
    Row,
    ScheduleMove,
)
from weft.ports.store.queries import Admitted, Limit
from weft.settings import Settings
from weft.store import DriverStore

SETTINGS = Settings()


class FakeDriverStore(DriverStore):
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
        self.dates: defaultdict[str, deque[float | None]] = defaultdict(deque)
        self.overdue: deque[Sequence[Row]] = deque()
        self.patrolled: deque[Patrolled | None] = deque()
        self.positions: list[Position] = []
        self.conditions: deque[list[DueCondition]] = deque()
        self.busy: list[list[int]] = []
        self.postponing: deque[int] = deque()
        self.postponed: list[float] = []
        self.tested: dict[int, Tested] = {}
        self.gates_due_at: datetime | None = None
        self.idle: deque[bool] = deque()
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
        self.nothing = ()
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

    async def try_lead(self, *, silent_s: float = 100.0) -> int | None:  # noqa: ARG002 (nobody is silent)
        await self._ask("try_lead")
        if not self.lock_free:
            return None
        self.epoch += 1
        return self.epoch

    async def stop_leading(self) -> None:
        """Nobody else wants the lock."""

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
            "sweep_cancelled": self.sweeps,
            "sweep_holds": self.parked,
            "pass_gates": self.gated,
            "settle_children": self.children,
            "count_parent_ends": self.counted,
        }
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

    async def find_sink_store(self, _tenant_id: int, _name: str) -> None:
        """There is none."""

    async def fail_operation(
        self, epoch: int, operation_id: int, problem: Mapping[str, Any]
    ) -> None:
        self.failed.append({"operation_id": operation_id, **problem})
        await self._ask("fail_operation", epoch)

    async def patrol(self, epoch: int, position: Position, *, limit_jobs: int) -> Patrolled | None:
        await self._ask("patrol", epoch)
        assert limit_jobs > 0
        self.positions.append(position)
        return self.patrolled.popleft() if self.patrolled else None

    async def loop_due(
        self,
        epoch: int,
        loop: str,
        busy: Sequence[int] = (),
        *,
        limit: int = 2,
        grace_s: float | None = None,
    ) -> float | None:
        assert len(busy) <= limit
        assert (grace_s is None) == (loop != "reaper")
        await self._ask(f"{loop} due", epoch)
        return self.dates[loop].popleft() if self.dates[loop] else None

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

    async def begin_schedule_runs(self, epoch: int, moves: Sequence[ScheduleMove]) -> int:
        await self._ask("begin_schedule_runs", epoch)
        self.moves.extend(moves)
        return sum(len(move.runs) for move in moves)

    async def beat(self, epoch: int, grace_s: float) -> Beat:
        assert grace_s > 0
        await self._ask("beat", epoch)
        due = {}
        if self.dates["reaper"] and (due_s := self.dates["reaper"].popleft()) is not None:
            due["reaper"] = datetime.now(UTC) + timedelta(seconds=due_s)
        if self.gates_due_at is not None:
            due["gates"] = self.gates_due_at
        if self.callbacks:
            due["callback"] = datetime.now(UTC)
        return Beat(self.idle.popleft() if self.idle else True, due)

    async def judge_limit(self, epoch: int, limit: Limit, stage: Stage, *, near: bool) -> bool:
        self.judged.append((limit.limit_id, stage, near))
        await self._ask("judge_limit", epoch)
        return True

    async def admit_at_limits(
        self, epoch: int, rooms: Mapping[int, Decimal], **_: int
    ) -> Sequence[Admitted]:
        self.rooms.append(rooms)
        await self._ask("admit_at_limits", epoch)
        return self.admitted

    async def preempt_jobs(
        self,
        epoch: int,
        waiting: tuple[int, int],
        stopped: Sequence[tuple[int, int, int]],
        **_: float,
    ) -> int:
        self.preempted.append((waiting, list(stopped)))
        await self._ask("preempt_jobs", epoch)
        return len(stopped)

    async def move_black_hole(
        self, epoch: int, worker_id: int, decision: str, _reason: str, *, retry_s: float
    ) -> str | None:
        self.black_hole_moves.append((worker_id, decision, retry_s))
        await self._ask("move_black_hole", epoch)
        return f"w{worker_id}"

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

    async def record_deliveries(self, epoch: int, reports: Sequence[DeliveryReport]) -> None:
        for one in reports:
            if one.delivered or one.retry_in_s != 0:
                self.callbacks.pop(one.delivery_id, None)
        self.reports.extend(reports)
        await self._ask("record_deliveries", epoch)


def _answering(function: str, answer: Callable[..., object]) -> Callable[..., object]:
    async def call(
        self: FakeDriverStore, epoch: int, *arguments: object, **options: float
    ) -> object:
        # Limits, graces and terms are real ones.
        assert all(value > 0 for value in options.values() if isinstance(value, int | float))
        await self._ask(function, epoch)
        return answer(self, *arguments)

    return call


def _next_of(name: str, default: object) -> Callable[..., object]:
    def answer(store: FakeDriverStore, *_: object) -> object:
        answers = getattr(store, name)
        return answers.popleft() if answers else default

    return answer


_CONSTANT: Mapping[str, object] = {
    "lose_workers": [],
    "remove_old": 0,
    "trim_trail": 0,
    "remove_outputs": 0,
    "reserve_rounds": (),
    "pool_rounds": (),
    "add_own_machines": [],
    "move_machine": True,
    "record_machine": None,
    "count_machines": None,
    "reconcile_machines": (),
    "configure": None,
    "add_machine_token": True,
    "list_notified": None,
    "record_notices": None,
    "due_sources": [],
}
_ANSWERS: Mapping[str, Callable[..., object]] = {
    **{name: _next_of("nothing", answer) for name, answer in _CONSTANT.items()},
    **{
        function: _next_of(name, default)
        for function, name, default in (
            ("stop_overdue", "overdue", []),
            ("due_schedules", "schedules", []),
            ("idle_driver", "idle", True),
            ("next_callback", "next_callbacks", None),
        )
    },
    "test_pool": lambda _, condition_id, pool, free_cpu_m: Tested(
        passed=True, message=f"c{condition_id}: {pool} {free_cpu_m}"
    ),
    "test_gateway": lambda _, condition_id, gateway: Tested(
        passed=True, message=f"c{condition_id}: {gateway}"
    ),
    "store_items": lambda _, _source, items: len(items),
    "add_reservations": lambda _, kept: len(kept),
    "limit_rounds": lambda store: store.limits,
    "preemption_rounds": lambda store: store.preemptions,
    "recent_ends": lambda store: store.ends,
    "black_holes": lambda store: store.black_hole_rows,
    "add_machines": lambda _, _pool_id, new: [flavour for flavour, _, _ in new],
}
"""Calls that only answer: by a list of the test, or as if there were nothing to do."""
for _function, _answer in _ANSWERS.items():
    assert hasattr(DriverStore, _function), _function
    setattr(FakeDriverStore, _function, _answering(_function, _answer))


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


async def run_until(
    store: FakeDriverStore,
    loop: Loop,
    asked: str,
    times: int = 1,
    *,
    settings: Settings = SETTINGS,
    bell: Bell | None = None,
) -> None:
    """Run a loop until it has asked something of the store so often."""
    context = LoopContext(
        store, 0, settings, bell or Bell(), DueDate(), moved=lambda: None, ring=lambda _: None
    )
    running = asyncio.ensure_future(loop.run(context))
    await store.until(asked, times)
    running.cancel()
