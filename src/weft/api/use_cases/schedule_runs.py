"""Submit the runs of schedules as their owners, when a driver has found them due.

Each api does so; the database gives a run to one of them. One that dies on the way is replaced by
another when its time is over, and the idempotency key lets no run be submitted twice.
"""

import hashlib
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

from weft.api.services import Services
from weft.api.use_cases.due_work import DueWork, defect
from weft.api.use_cases.schedules import key_of, with_attributes
from weft.core.access.rights import Right, require
from weft.core.errors import Unavailable, WeftError
from weft.core.ids import format_batch_id, format_schedule_id
from weft.core.schedules import zone_of
from weft.ports.shared_room import SharedRoom
from weft.ports.store import Action, Notices, Origin, ScheduleRun, acting
from weft.submission import submit
from weft.telemetry.log import log
from weft.telemetry.metrics import SCHEDULE_RUNS
from weft.telemetry.trace import new_trace_id
from weft.wire.documents.batches import BatchDocument

RUNS_AT_ONCE: Final = 10
"""Half of them of one tenant: it may have to wait until something is evaluated for it."""
LEASE_S: Final = 60.0
"""After this time another api submits a run that this one has not ended."""
_DEFECT: Final = defect(
    "the run could not be submitted", "; the schedule goes on at its next time"
)

DecodeBatch = Callable[[bytes], BatchDocument]
"""Reads a stored batch document as a request is read."""


class ScheduleRuns:
    """Submits what is due, until cancelled."""

    def __init__(self, services: Services, notices: Notices, decode: DecodeBatch) -> None:
        self._services = services
        self._decode = decode
        self._due = DueWork(notices, "schedules", self.submit_due, "schedules.failed")
        self._room = SharedRoom(RUNS_AT_ONCE)
        self.settled = self._due.settled
        """Waits until no run is being submitted."""

    async def run(self) -> None:
        """Submit at every notice. Never returns."""
        await self._due.run()

    async def submit_due(self) -> float | None:
        """Begin to submit runs that wait and that no other api has, as there is room; return in
        how many seconds there may be another one, if no notice comes and no run ends before; None:
        there is none.
        """
        store, room = self._services.store, self._room
        while room.has(None):
            runs = await store.take_schedule_runs(limit=1, lease_s=LEASE_S, besides=room.full())
            if not runs:
                return await store.next_schedule_run(room.full())
            turn = ExitStack()
            turn.enter_context(room.taken(runs[0].owner.tenant_id))
            self._due.begin(self._submit_in_turn(runs[0], turn))
        return None

    async def _submit_in_turn(self, run: ScheduleRun, turn: ExitStack) -> None:
        with turn:
            await self._submit(run)

    async def _submit(self, run: ScheduleRun) -> None:
        facts = {
            "schedule": format_schedule_id(run.schedule_id),
            "due_at": run.due_at.isoformat(),
            "user": run.owner.user_name,
        }
        store = self._services.store
        try:
            batch_id = await self.create(run)
        except Unavailable:
            raise
        except Exception as error:
            known = error if isinstance(error, WeftError) else _DEFECT
            if known is not error:
                log.exception("schedules.failed")
            SCHEDULE_RUNS.labels("refused").inc()
            log.warning("schedule.refused", code=known.code, error=known.message, **facts)
            document = {
                name: getattr(known, name) for name in ("code", "message", "detail", "hint")
            }
            if await store.end_schedule_run(
                run.owner,
                run.schedule_id,
                run.due_at,
                error=document,
                idempotency_key=_key_of(run),
            ):
                log.warning(
                    "schedule.paused",
                    schedule=facts["schedule"],
                    user=facts["user"],
                    hint=f"See `weft schedule show {facts['schedule']}`.",
                )
            return
        await store.end_schedule_run(run.owner, run.schedule_id, run.due_at, batch_id=batch_id)
        SCHEDULE_RUNS.labels("submitted").inc()
        log.info("schedule.submitted", batch=format_batch_id(batch_id), **facts)

    async def create(self, run: ScheduleRun) -> int:
        """Submit a run, once however often it is called; return its batch."""
        require(Right.WRITE, run.owner.user_name, run.owner.role)  # it may have changed since
        key = _key_of(run)
        body = run.document.encode()
        document = with_attributes(
            self._decode(body), run.schedule_id, run.due_at, zone_of(run.time_zone)
        )
        digest = hashlib.sha256(f"{key}\n".encode() + body).digest()
        origin = Origin(digest=digest, trace_id=new_trace_id(), key=key)
        path = f"/v1/schedules/{format_schedule_id(run.schedule_id)}"
        action = Action(caller=run.owner, name="run_schedule", path=path, trace_id=origin.trace_id)
        with acting(action):
            answer, _ = await submit.create_batch(self._services, run.owner, document, origin)
        return int(answer["batch_id"])


def _key_of(run: ScheduleRun) -> str:
    return key_of(f"{run.schedule_id} {run.due_at.timestamp()}")
