"""Schedules: add, list, change, remove, and run those that are due, or one now.

Submit the runs of schedules as their owners, when a driver has found them due.

Each api does so; the database gives a run to one of them. One that dies on the way is replaced by
another when its time is over, and the idempotency key lets no run be submitted twice.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4
from zoneinfo import ZoneInfo

import msgspec

from weft.api.calls.call import Cursor, DecodeBatch, call
from weft.api.calls.path_ids import ScheduleId
from weft.api.services import Services
from weft.api.use_cases.due_work import DueWork, defect
from weft.core.access.rights import Right, require
from weft.core.access.secret_variables import masked, patterns_of
from weft.core.errors import (
    FieldError,
    InvalidCron,
    InvalidValue,
    ProjectNotFound,
    ScheduleOfAnother,
    Unavailable,
    UnknownTimeZone,
    WeftError,
)
from weft.core.ids import format_batch_id, format_schedule_id
from weft.core.problems import Problems
from weft.core.schedules import (
    WrongCron,
    WrongZone,
    check_cron,
    next_due,
    shortest_interval,
    zone_of,
)
from weft.ports.shared_room import SharedRoom
from weft.ports.store import Action, Caller, NewSchedule, Notices, Origin, Row, ScheduleRun, acting
from weft.settings import Settings
from weft.submission import submit
from weft.submission.services import Answer
from weft.submission.translation.check import check_name
from weft.telemetry.log import log
from weft.telemetry.metrics import SCHEDULE_RUNS
from weft.telemetry.trace import new_trace_id
from weft.wire.documents.batches import BatchDocument
from weft.wire.schedules import (
    Schedule,
    ScheduleDocument,
    ScheduleEdit,
    ScheduleRemoved,
    ScheduleStarted,
    ShownSchedule,
)

SCHEDULE: Final = "schedule"
DUE_AT: Final = "schedule_due_at"


async def add_schedule(
    services: Services, caller: Caller, document: ScheduleDocument, body: bytes, origin: Origin
) -> tuple[Row, bool]:
    """Make a schedule; return it and whether it is new. `body`: its batch document as JSON.

    The batch document is checked as it would be at a submission.
    """
    problems, settings = Problems(), services.settings
    batch = document.document
    check_name(document.name, settings, problems, "/name")
    now = datetime.now(UTC)
    next_at = _next_at(document.cron, document.time_zone, settings, now, problems)
    if len(body) > (most := settings.schedule_document_bytes_max):
        message = f"it has {len(body)} bytes, at most {most} (schedule_document_bytes_max)"
        problems.add(InvalidValue, "/document", message)
    for name in {SCHEDULE, DUE_AT} & batch.attributes.keys():
        message = "runs get this attribute from the schedule"
        problems.add(InvalidValue, f"/document/attributes/{name}", message)
    problems.raise_any()
    assert next_at is not None
    with _pointing_into_document():
        as_run = with_attributes(batch, 1, now, zone_of(document.time_zone))
        await submit.check_batch(services, caller, as_run, origin)
        schedule_id, is_new = await services.store.add_schedule(
            caller,
            NewSchedule(
                name=document.name or batch.name,
                billing_project=batch.billing_project,
                cron=" ".join(document.cron.split()),
                time_zone=document.time_zone,
                missed=document.missed,
                document=body.decode(),
                next_at=next_at,
            ),
            origin,
            schedules_max=settings.schedules_per_user_max,
        )
    if is_new:
        _tell(schedule_id, caller, "added")
    return await get_schedule(services, caller, schedule_id), is_new


@call("GET /v1/schedules", Right.READ, page=Schedule, cursor=Cursor("s", "schedule_id"))
async def list_schedules(
    services: Services, caller: Caller, *, after: int, limit: int
) -> Sequence[Row]:
    """Return the schedules of all users, in the order of their numbers."""
    return await services.store.list_schedules(caller, after=after, limit=limit)


@call("GET /v1/schedules/{s}", Right.READ, ShownSchedule)
async def get_schedule(services: Services, caller: Caller, schedule_id: ScheduleId) -> Row:
    """Return a schedule with its newest runs. Only its owner gets the document, with secret
    variables masked. Raise `ScheduleNotFound`.
    """
    found = dict(await services.store.get_schedule(caller, schedule_id))
    is_owner = found.pop("user_id") == caller.user_id
    masks = patterns_of(services.settings.masked_env)
    found["document"] = _shown(found["document"], masks) if is_owner else None
    return found


def _shown(text: str, masks: tuple[str, ...]) -> Answer:
    """Return a batch document with secret variables masked."""
    document: Answer = msgspec.json.decode(text)
    for one, field in [
        (document, "inherit_env"),
        *((job, "env") for job in document.get("jobs", ())),
    ]:
        if one.get(field):
            one[field] = masked(one[field], masks)
    return document


@call("PATCH /v1/schedules/{s}", Right.WRITE, ShownSchedule, public=False)
async def change_schedule(
    services: Services, caller: Caller, schedule_id: ScheduleId, edit: ScheduleEdit
) -> Row:
    """Change, pause or resume a schedule, as its owner or an administrator; return it. A resumed
    one goes on at its next time from now.
    """
    schedule = await services.store.get_schedule(caller, schedule_id)
    _refuse_others(caller, schedule)
    problems = Problems()
    if isinstance(edit.name, str):
        check_name(edit.name, services.settings, problems, "/name")
    patch: dict[str, Any] = msgspec.to_builtins(edit)
    is_resumed = edit.paused is False and schedule["state"] == "paused"
    if is_resumed or "cron" in patch or "time_zone" in patch:
        cron, zone = (str(patch.get(name, schedule[name])) for name in ("cron", "time_zone"))
        patch["next_at"] = _next_at(cron, zone, services.settings, datetime.now(UTC), problems)
    problems.raise_any()
    await services.store.change_schedule(caller, schedule_id, patch)
    patch.pop("next_at", None)
    _tell(schedule_id, caller, ", ".join(sorted(patch)))
    return await get_schedule(services, caller, schedule_id)


@call("DELETE /v1/schedules/{s}", Right.WRITE, ScheduleRemoved, silent=True)
async def delete_schedule(services: Services, caller: Caller, schedule_id: ScheduleId) -> Answer:
    """Remove a schedule, as its owner or an administrator. Its batches stay."""
    _refuse_others(caller, await services.store.get_schedule(caller, schedule_id))
    await services.store.delete_schedule(caller, schedule_id)
    _tell(schedule_id, caller, "removed")
    return {"schedule_id": schedule_id}


@call(
    "POST /v1/schedules/{s}/run-now",
    Right.WRITE,
    ScheduleStarted,
    client="run_schedule",
    public=False,
)
async def run_now(
    services: Services,
    caller: Caller,
    schedule_id: ScheduleId,
    origin: Origin,
    decode: DecodeBatch,
) -> tuple[Answer, bool]:
    """Submit the batch of a schedule now, paused or not, beside its due times; its owner only."""
    schedule = await services.store.get_schedule(caller, schedule_id)
    if schedule["user_id"] != caller.user_id:
        raise ScheduleOfAnother(
            f"only the owner of schedule s{schedule_id} can run it",
            detail=f"It belongs to {schedule['user']}, and its runs are submitted as that user.",
            hint="Add a schedule of your own.",
        )
    document = decode(schedule["document"].encode())
    now = datetime.now(UTC)
    key = f"{format_schedule_id(schedule_id)}-{origin.key or uuid4()}"
    as_run = with_attributes(document, schedule_id, now, zone_of(schedule["time_zone"]))
    origin = Origin(digest=origin.digest, trace_id=origin.trace_id, key=key_of(key))
    answer, is_new = await submit.create_batch(services, caller, as_run, origin)
    if is_new:
        await services.store.end_schedule_run(
            caller, schedule_id, now, batch_id=answer["batch_id"], by_hand=True
        )
    counts = {"batch_id": answer["batch_id"], "n_jobs": answer["n_jobs"]}
    return {"schedule_id": schedule_id, **counts}, is_new


def with_attributes(
    document: BatchDocument, schedule_id: int, due_at: datetime, zone: ZoneInfo
) -> BatchDocument:
    """Return a document that tells which schedule it is a run of."""
    told = {
        SCHEDULE: format_schedule_id(schedule_id),
        DUE_AT: due_at.astimezone(zone).isoformat(timespec="seconds"),
    }
    return msgspec.structs.replace(document, attributes={**document.attributes, **told})


def key_of(text: str) -> str:
    """Return an idempotency key that no request of a user has."""
    return f"schedule {hashlib.sha256(text.encode()).hexdigest()}"


def _next_at(
    cron: str, time_zone: str, settings: Settings, now: datetime, problems: Problems
) -> datetime | None:
    """Return the next due time, and note what is wrong with cron and zone."""
    zone = ZoneInfo("UTC")
    try:
        zone = zone_of(time_zone)
    except WrongZone as error:
        problems.add(UnknownTimeZone, "/time_zone", str(error))
    try:
        check_cron(cron)
    except WrongCron as error:
        problems.add(InvalidCron, "/cron", str(error))
        return None
    least = timedelta(seconds=settings.schedule_interval_min_s)
    shortest = shortest_interval(cron, zone, now)
    if shortest is not None and shortest < least:
        message = (
            f"two runs are only {shortest.total_seconds():g} s apart, "
            f"at least {least.total_seconds():g} s are allowed"
        )
        problems.add(InvalidCron, "/cron", message)
    next_at = next_due(cron, zone, now)
    if next_at is None:
        problems.add(InvalidCron, "/cron", "no date matches it, so it never comes true")
    return next_at


@contextmanager
def _pointing_into_document() -> Iterator[None]:
    """Let errors of the batch document point into it."""
    try:
        yield
    except ProjectNotFound as error:
        error.errors = (FieldError("/document/billing_project", error.message),)
        raise
    except WeftError as error:
        error.point(lambda pointer: f"/document{pointer}")
        raise


def _refuse_others(caller: Caller, found: Row) -> None:
    if found["user_id"] != caller.user_id and not caller.may(Right.MANAGE):
        raise ScheduleOfAnother(
            f"only its owner or an administrator can change schedule s{found['schedule_id']}",
            detail=f"It belongs to {found['user']}.",
            hint="Ask them, or add a schedule of your own.",
        )


def _tell(schedule_id: int, caller: Caller, change: str) -> None:
    log.info(
        "schedule.changed",
        schedule=format_schedule_id(schedule_id),
        user=caller.user_name,
        change=change,
    )


RUNS_AT_ONCE: Final = 10
"""Half of them of one tenant: it may have to wait until something is evaluated for it."""
LEASE_S: Final = 60.0
"""After this time another api submits a run that this one has not ended."""
_DEFECT: Final = defect(
    "the run could not be submitted", "; the schedule goes on at its next time"
)


class ScheduleRuns(DueWork):
    """Submits what is due, until cancelled."""

    channel = "schedules"
    failed_event = "schedules.failed"

    def __init__(self, services: Services, notices: Notices, decode: DecodeBatch) -> None:
        super().__init__(notices)
        self._services = services
        self._decode = decode
        self._room = SharedRoom(RUNS_AT_ONCE)

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
            self.begin(self._submit_in_turn(runs[0], turn))
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
