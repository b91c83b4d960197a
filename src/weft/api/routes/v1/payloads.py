"""`/v1/batches/{b}/payloads/{s}/{n}`: the parts of large arguments."""

from typing import Final

from weft.api.http.parameters import batch_id_of, digest_of, part_of, wrong_parameter
from weft.api.http.problem_documents import reply
from weft.api.http.requests import AnyRequest, read_bytes
from weft.api.http.routing import Response, put
from weft.core.access.rights import Right
from weft.submission import payloads
from weft.wire.answers.batches import PayloadPart
from weft.wire.payload import PART_BYTES

BYTES: Final = "application/octet-stream"


@put(
    "/v1/batches/{b:str}/payloads/{s:str}/{n:str}",
    Right.WRITE,
    opt={
        "unrecorded": True,
        "answer": PayloadPart,
        "reads": BYTES,
        "query": ("bytes",),
        "refuses": (408, 409, 413),
    },
)
async def add_payload_part(request: AnyRequest) -> Response[bytes]:
    """Store a part of a payload, the large arguments of a function, for jobs that are submitted
    later. A repeat does nothing.
    """
    query = request.query
    batch_id, digest, part = batch_id_of(request), digest_of(request), part_of(request)
    n_bytes = query.integer("bytes", default=None, least=1, most=payloads.BYTES_MAX)
    if n_bytes is None:
        raise wrong_parameter("bytes", "it is missing; it says how long the whole payload is")
    services = request.services
    payloads.check_size(services, n_bytes)
    body = await read_bytes(request, PART_BYTES)
    answer = await payloads.add_part(
        services, request.caller, batch_id, digest, part, body, n_bytes=n_bytes
    )
    return reply(answer)
