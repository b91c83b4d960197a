"""`/v1/schedules`: batches that are submitted at the times of a cron expression."""

from litestar import Response, delete, get, patch, post

from weft.api.http.decoding import JSON, decode
from weft.api.http.paging import PAGE, cursor_of, limit_of, page
from weft.api.http.parameters import Query
from weft.api.http.path_ids import schedule_id_of
from weft.api.http.replies import created, reply
from weft.api.http.requests import (
    AnyRequest,
    caller_of,
    read_document,
    read_nested,
    read_submission,
    services_of,
)
from weft.api.use_cases import schedules
from weft.wire.documents.batches import BatchDocument, Empty
from weft.wire.schedules import (
    Schedule,
    ScheduleDocument,
    ScheduleEdit,
    ScheduleRemoved,
    ScheduleStarted,
    ShownSchedule,
)


@post("/v1/schedules", opt={"answer": ShownSchedule, "body": ScheduleDocument, "creates": True})
async def add_schedule(request: AnyRequest) -> Response[bytes]:
    """Add a schedule. The batch document is checked as it would be at a submission, and submitted
    as the caller at each due time.
    """
    Query(request, ())
    document, batch, origin = await read_nested(request, ScheduleDocument, "document")
    document.document = batch.document
    answer, is_new = await schedules.add_schedule(
        services_of(request), caller_of(request), document, batch.body, origin
    )
    return created(answer, is_new=is_new)


@get("/v1/schedules", opt={"page": Schedule, "query": PAGE})
async def list_schedules(request: AnyRequest) -> Response[bytes]:
    """List the schedules of all users, in the order of their numbers."""
    query = Query(request, PAGE)
    services = services_of(request)
    limit = limit_of(query, services.settings)
    rows = await schedules.list_schedules(
        services, caller_of(request), after=cursor_of(query, "s") or 0, limit=limit
    )
    return reply(page(rows, limit, "s", "schedule_id"))


@get("/v1/schedules/{s:str}", opt={"answer": ShownSchedule})
async def get_schedule(request: AnyRequest) -> Response[bytes]:
    """Get a schedule with its newest runs."""
    Query(request, ())
    schedule_id = schedule_id_of(request)
    return reply(
        await schedules.get_schedule(services_of(request), caller_of(request), schedule_id)
    )


@patch("/v1/schedules/{s:str}", opt={"answer": ShownSchedule, "body": ScheduleEdit})
async def change_schedule(request: AnyRequest) -> Response[bytes]:
    """Change, pause or resume a schedule, as its owner or an administrator. A resumed one
    goes on at its next time from now.
    """
    Query(request, ())
    schedule_id = schedule_id_of(request)
    edit = await read_document(request, ScheduleEdit)
    return reply(
        await schedules.change_schedule(
            services_of(request), caller_of(request), schedule_id, edit
        )
    )


@delete("/v1/schedules/{s:str}", status_code=200, opt={"answer": ScheduleRemoved, "body": Empty})
async def delete_schedule(request: AnyRequest) -> Response[bytes]:
    """Remove a schedule, as its owner or an administrator. Its batches stay."""
    Query(request, ())
    await read_document(request, Empty)
    schedule_id = schedule_id_of(request)
    return reply(
        await schedules.delete_schedule(services_of(request), caller_of(request), schedule_id)
    )


@post(
    "/v1/schedules/{s:str}/run-now",
    opt={"answer": ScheduleStarted, "body": Empty, "creates": True},
)
async def run_now(request: AnyRequest) -> Response[bytes]:
    """Submit the batch of a schedule now, paused or not, beside its due times; its owner only."""
    Query(request, ())
    _, origin = await read_submission(request, Empty)
    schedule_id = schedule_id_of(request)
    services, caller = services_of(request), caller_of(request)
    body = await schedules.document_of(services, caller, schedule_id)
    answer, is_new = await schedules.run_now(
        services, caller, schedule_id, decode(body, JSON, BatchDocument), origin
    )
    return created(answer, is_new=is_new)


ROUTES = (add_schedule, list_schedules, get_schedule, change_schedule, delete_schedule, run_now)
