"""`/v1/batches`: create and list."""

from typing import Final

from weft.api.http.paging import ORDER, PAGE, BatchPage, limit_of
from weft.api.http.problem_documents import created, reply
from weft.api.http.requests import AnyRequest, read_submission
from weft.api.http.routing import Response, get, post
from weft.api.use_cases import read
from weft.core.access.rights import Right
from weft.submission import submit
from weft.wire.answers.batches import Batch, BatchCreated, Plan
from weft.wire.documents.batches import BatchDocument

_LIST: Final = ("name", "q", "hidden", *ORDER, "explain", *PAGE)


@post(
    "/v1/batches",
    Right.WRITE,
    opt={"answer": BatchCreated, "body": BatchDocument, "creates": True},
)
async def create_batch(request: AnyRequest) -> Response[bytes]:
    """Create a batch. Groups and jobs of the document are created and committed in the same
    transaction.
    """
    document, origin = await read_submission(request, BatchDocument)
    answer, is_new = await submit.create_batch(request.services, request.caller, document, origin)
    return created(answer, is_new=is_new)


@get("/v1/batches", Right.READ, opt={"page": Batch, "explained": Plan, "query": _LIST})
async def list_batches(request: AnyRequest) -> Response[bytes]:
    """List batches, newest first, or as `sort` says. `q`: only batches that match this query;
    `name`: only batches of exactly this name; `hidden=true`: also hidden batches; `explain=true`:
    show how the query would run instead of running it.
    """
    query = request.query
    services, caller = request.services, request.caller
    asked = BatchPage(query, query.text("q"), query.text("name"), query.text("hidden"))
    wanted = read.BatchList(
        limit=limit_of(query, services.settings),
        before=asked.before,
        order=asked.order,
        after=asked.after,
        query=query.text("q"),
        name=query.text("name"),
        hidden=query.flag("hidden"),
    )
    if query.flag("explain"):
        return reply(await read.explain_batches(services, caller, wanted))
    rows, last = await read.page_of_batches(services, caller, wanted)
    found = asked.document(rows, last)
    if asked.is_first and not rows:
        warnings = await read.doubt_batches(services, caller, wanted)
        found |= {"warnings": warnings} if warnings else {}
    return reply(found)
