"""`/v1/imports`: jobs that other systems have run."""

from typing import Final

from weft.api.http.parameters import Query
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of, trace_id_of
from weft.api.http.routing import Response, post
from weft.api.use_cases.imports import import_jobs as take_over
from weft.wire.documents.imports import ImportDocument, Imported


@post("/v1/imports", status_code=200, opt={"answer": Imported, "body": ImportDocument})
async def import_jobs(request: AnyRequest) -> Response[bytes]:
    """Take over jobs that have ended in another system, each as a batch of its own, without jobs,
    that a door shows. They are not billed. Jobs that were imported before stay as they are; if one
    of the others is wrong, nothing is imported.
    """
    Query(request, ())
    document = await read_document(request, ImportDocument)
    answer = await take_over(
        services_of(request), caller_of(request), document, trace_id_of(request)
    )
    return reply(answer)


ROUTES: Final = (import_jobs,)
