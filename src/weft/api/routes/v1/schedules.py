"""`/v1/schedules`: batches that are submitted at the times of a cron expression."""

from weft.api.calls.path_ids import SCHEDULE
from weft.api.http.decoding import JSON, decode
from weft.api.http.parameters import Query
from weft.api.http.path_ids import schedule_id_of
from weft.api.http.replies import created
from weft.api.http.requests import AnyRequest, caller_of, read_nested, read_submission, services_of
from weft.api.http.routing import Response, post
from weft.api.use_cases import schedules
from weft.wire.documents.batches import BatchDocument, Empty
from weft.wire.schedules import ScheduleDocument, ScheduleStarted, ShownSchedule


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


@post(
    "/v1/schedules/{s:str}/run-now",
    opt={"answer": ScheduleStarted, "body": Empty, "creates": True, "path": {"s": SCHEDULE}},
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


ROUTES = (add_schedule, run_now)
