"""`/v1/licences`: what all pools share."""

from litestar import Response, delete, get, put

from weft.api.http.parameters import Query
from weft.api.http.path_ids import licence_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.api.use_cases import licences
from weft.wire.answers.licences import Licence, LicenceRemoved
from weft.wire.documents.batches import Empty
from weft.wire.documents.licences import LicenceDocument


@get("/v1/licences", opt={"page": Licence})
async def list_licences(request: AnyRequest) -> Response[bytes]:
    """List the licences by name."""
    Query(request, ())
    rows = await services_of(request).store.list_licences(caller_of(request))
    return reply({"items": rows, "cursor": None})


@put("/v1/licences/{l:str}", opt={"answer": Licence, "body": LicenceDocument})
async def set_licence(request: AnyRequest) -> Response[bytes]:
    """Set how many jobs may use a licence at a time. Jobs that have one go
    on if there are fewer now.
    """
    Query(request, ())
    document = await read_document(request, LicenceDocument)
    return reply(
        await licences.set_licence(
            services_of(request), caller_of(request), licence_of(request), document.n
        )
    )


@delete("/v1/licences/{l:str}", status_code=200, opt={"answer": LicenceRemoved, "body": Empty})
async def remove_licence(request: AnyRequest) -> Response[bytes]:
    """Forget a licence. Jobs that wait for it go on waiting."""
    Query(request, ())
    await read_document(request, Empty)
    return reply(
        await licences.remove_licence(
            services_of(request), caller_of(request), licence_of(request)
        )
    )


ROUTES = (list_licences, set_licence, remove_licence)
"""The routes of licences."""
