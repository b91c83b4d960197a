"""`/v1/schedules`: batches that are submitted at the times of a cron expression."""

from weft.api.http.problem_documents import created
from weft.api.http.requests import AnyRequest, read_nested
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
    document, batch, origin = await read_nested(request, ScheduleDocument, "document")
    document.document = batch.document
    answer, is_new = await schedules.add_schedule(
        request.services, request.caller, document, batch.body, origin
    )
    return created(answer, is_new=is_new)
