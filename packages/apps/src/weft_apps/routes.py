"""`/v1/apps`: the calls, the route that takes parts of a packed folder, and its right."""

from typing import Final

from weft.api.calls.call import calls_of
from weft.api.http.parameters import digest_of, part_of, wrong_parameter
from weft.api.http.parts import ApiPart
from weft.api.http.problem_documents import reply
from weft.api.http.requests import AnyRequest, read_bytes
from weft.api.http.routing import Response, put
from weft.core.access.rights import Right
from weft.wire.documents.apps import AppPart
from weft.wire.payload import PART_BYTES
from weft_apps import calls

BYTES: Final = "application/octet-stream"
_BYTES_MAX: Final = 1 << 40


@put(
    "/v1/app-parts/{s:str}/{n:str}",
    Right.OPERATE,
    opt={"answer": AppPart, "reads": BYTES, "query": ("bytes",), "refuses": (408, 413)},
)
async def add_app_part(request: AnyRequest) -> Response[bytes]:
    """Store a part of the packed folder that an application is made of. A repeat does nothing."""
    query = request.query
    digest, part = digest_of(request), part_of(request)
    n_bytes = query.integer("bytes", default=None, least=1, most=_BYTES_MAX)
    if n_bytes is None:
        raise wrong_parameter("bytes", "it is missing; it says how long the whole folder is")
    body = await read_bytes(request, PART_BYTES)
    return reply(
        await calls.add_part(request.services, request.caller, digest, part, body, n_bytes=n_bytes)
    )


PART: Final = ApiPart(calls=calls_of(calls), routes=(add_app_part,))
