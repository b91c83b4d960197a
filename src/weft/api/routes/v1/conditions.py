"""`/v1/conditions`: what blocked jobs wait for together."""

from litestar import Response, get, post

from weft.api.http.paging import PAGE, cursor_of, limit_of, page
from weft.api.http.parameters import Query
from weft.api.http.path_ids import condition_id_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.api.use_cases import conditions
from weft.wire.answers.conditions import Condition, ShownCondition
from weft.wire.documents.batches import Empty
from weft.wire.documents.conditions import ReleaseDocument


@get("/v1/conditions", opt={"page": Condition, "query": PAGE})
async def list_conditions(request: AnyRequest) -> Response[bytes]:
    """List what blocked jobs that you see wait for together, the oldest first. One that is over is
    forgotten.
    """
    query = Query(request, PAGE)
    services = services_of(request)
    limit = limit_of(query, services.settings)
    rows = await services.store.list_conditions(
        caller_of(request), after_id=cursor_of(query, "c") or 0, limit=limit
    )
    return reply(page(rows, limit, "c", "condition_id"))


@get("/v1/conditions/{c:str}", opt={"answer": ShownCondition})
async def get_condition(request: AnyRequest) -> Response[bytes]:
    """Get a condition with the jobs that are due first, of those that you see."""
    Query(request, ())
    condition_id = condition_id_of(request)
    return reply(
        await conditions.get_condition(services_of(request), caller_of(request), condition_id)
    )


@post(
    "/v1/conditions/{c:str}/test", status_code=200, opt={"answer": ShownCondition, "body": Empty}
)
async def test_condition(request: AnyRequest) -> Response[bytes]:
    """Test now whether a condition is over. If the test passes, its jobs go on, few at first."""
    Query(request, ())
    await read_document(request, Empty)
    condition_id = condition_id_of(request)
    return reply(
        await conditions.test_condition(services_of(request), caller_of(request), condition_id)
    )


@post(
    "/v1/conditions/{c:str}/release",
    status_code=200,
    opt={"answer": ShownCondition, "body": ReleaseDocument},
)
async def release_condition(request: AnyRequest) -> Response[bytes]:
    """Let jobs of a condition go on without a test."""
    Query(request, ())
    document = await read_document(request, ReleaseDocument)
    condition_id = condition_id_of(request)
    return reply(
        await conditions.release_condition(
            services_of(request), caller_of(request), condition_id, document.n
        )
    )


@post(
    "/v1/conditions/{c:str}/fail", status_code=200, opt={"answer": ShownCondition, "body": Empty}
)
async def fail_condition(request: AnyRequest) -> Response[bytes]:
    """End the jobs of a condition as errors."""
    Query(request, ())
    await read_document(request, Empty)
    condition_id = condition_id_of(request)
    return reply(
        await conditions.fail_condition(services_of(request), caller_of(request), condition_id)
    )


ROUTES = (list_conditions, get_condition, test_condition, release_condition, fail_condition)
"""The routes of conditions."""
