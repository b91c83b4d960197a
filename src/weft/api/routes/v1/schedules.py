"""`/v1/schedules`: batches that are submitted at the times of a cron expression."""

from weft.api.http.parameters import Query
from weft.api.http.problem_documents import created
from weft.api.http.requests import AnyRequest, caller_of, read_nested, services_of
from weft.api.http.routing import Response, post
from weft.api.use_cases import schedules
from weft.core.access.rights import Right
from weft.wire.schedules import ScheduleDocument, ShownSchedule


@post(
    "/v1/schedules",
    Right.WRITE,
    opt={"answer": ShownSchedule, "body": ScheduleDocument, "creates": True},
)
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
