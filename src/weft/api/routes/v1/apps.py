"""`/v1/apps`: applications, which jobs run with parameters."""

from typing import Final

from litestar import Response, delete, get, put

from weft.api.http.parameters import Query, wrong_parameter
from weft.api.http.path_ids import app_of, digest_of, part_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_bytes, read_document, services_of
from weft.api.use_cases import apps
from weft.wire.documents.apps import App, AppDetail, AppDocument, AppPart, AppRemoved, AppSaved
from weft.wire.documents.batches import Empty
from weft.wire.payload import PART_BYTES

BYTES: Final = "application/octet-stream"
_BYTES_MAX: Final = 1 << 40


@get("/v1/apps", opt={"page": App})
async def list_apps(request: AnyRequest) -> Response[bytes]:
    """List the applications that the caller may run; operators see those of others, too."""
    Query(request, ())
    caller = caller_of(request)
    rows = await services_of(request).store.list_apps(caller, sees_all=apps.sees_all(caller))
    return reply({"items": rows, "cursor": None})


@get("/v1/apps/{app:str}", opt={"answer": AppDetail})
async def get_app(request: AnyRequest) -> Response[bytes]:
    """Get an application with its parameters."""
    Query(request, ())
    caller, name = caller_of(request), app_of(request)
    found = await services_of(request).store.get_app(caller, name, sees_all=apps.sees_all(caller))
    return reply({**found})


@put(
    "/v1/app-parts/{s:str}/{n:str}",
    opt={"answer": AppPart, "reads": BYTES, "query": ("bytes",), "refuses": (408, 413)},
)
async def add_app_part(request: AnyRequest) -> Response[bytes]:
    """Store a part of the packed folder of an application, which is made of it later. A repeat
    does nothing.
    """
    query = Query(request, ("bytes",))
    digest, part = digest_of(request), part_of(request)
    n_bytes = query.integer("bytes", default=None, least=1, most=_BYTES_MAX)
    if n_bytes is None:
        raise wrong_parameter("bytes", "it is missing; it says how long the whole folder is")
    body = await read_bytes(request, PART_BYTES)
    return reply(
        await apps.add_part(
            services_of(request), caller_of(request), digest, part, body, n_bytes=n_bytes
        )
    )


@put("/v1/apps/{app:str}", opt={"answer": AppSaved, "body": AppDocument, "refuses": (409, 413)})
async def save_app(request: AnyRequest) -> Response[bytes]:
    """Make a packed folder, whose parts were sent, what new jobs of an application get. The same
    content changes nothing; jobs keep theirs.
    """
    Query(request, ())
    name = app_of(request)
    document = await read_document(request, AppDocument)
    return reply(await apps.save_app(services_of(request), caller_of(request), name, document))


@delete(
    "/v1/apps/{app:str}",
    status_code=200,
    opt={"answer": AppRemoved, "body": Empty, "query": ("for_user",)},
)
async def remove_app(request: AnyRequest) -> Response[bytes]:
    """Forget an application: no new job gets it. Jobs that have it run on, also again."""
    for_user = Query(request, ("for_user",)).text("for_user")
    name = app_of(request)
    await read_document(request, Empty)
    return reply(
        await apps.remove_app(services_of(request), caller_of(request), name, for_user=for_user)
    )


ROUTES = (list_apps, get_app, add_app_part, save_app, remove_app)
"""The routes of applications."""
