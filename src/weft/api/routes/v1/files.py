"""`/v1/batches/{b}/jobs/{j}/file`: a file that a job has left. `…/note`: what it says."""

from typing import Final

from weft.api.calls.path_ids import ATTEMPTS_MAX
from weft.api.http.parameters import batch_id_of, job_id_of, wrong_parameter
from weft.api.http.ranges import ranged_reply
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response, Stream, get
from weft.api.use_cases.files import open_file, read_note
from weft.core.access.rights import Right
from weft.core.files.file_paths import WrongPath, in_store, parts_of, split_store

BYTES: Final = "application/octet-stream"
PICTURE: Final = "image/png"
TEXT: Final = "text/plain; charset=utf-8"


@get(
    "/v1/batches/{b:str}/jobs/{j:str}/file",
    Right.READ,
    opt={
        "bytes": (BYTES,),
        "partial": BYTES,
        "refuses": (409, 410, 416),
        "query": ("path", "attempt"),
        "headers": ("Range",),
    },
)
async def read_file(request: AnyRequest) -> Stream:
    """Read a file that a job has left, whole or in a range; while it runs, also one that its
    directory has at the moment, where the server can see it.
    """
    query = request.query
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    attempt = query.integer("attempt", default=None, least=1, most=ATTEMPTS_MAX)
    path = query.text("path")
    try:
        parts_of(split_store(path or "")[1] if in_store(path) else path or "")
    except WrongPath as error:
        # Whoever may not see the job is not told what is wrong with the path.
        await request.services.store.list_files(
            request.caller, batch_id, job_id, attempt=None, after=None, limit=1
        )
        raise wrong_parameter("path", str(error)) from error
    found = await open_file(
        request.services, request.caller, batch_id, job_id, path or "", attempt=attempt
    )
    facts = {"x-weft-attempt": str(found.attempt), "content-disposition": "attachment"}
    if found.digest is not None:
        facts["etag"] = f'"{found.digest.hex()}"'
    return ranged_reply(request, found.n_bytes, found.read, facts)


@get(
    "/v1/batches/{b:str}/jobs/{j:str}/note",
    Right.READ,
    opt={"bytes": (PICTURE, TEXT), "query": ("title",)},
)
async def show_note(request: AnyRequest) -> Response[bytes]:
    """Read what a job says about itself under a title: a picture, or a text."""
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    title = request.query.text("title") or ""
    note = await read_note(request.services, request.caller, batch_id, job_id, title)
    kind = PICTURE if note["kind"] == "picture" else TEXT
    headers = {"content-type": kind, "content-disposition": "attachment"}
    return Response(note["body"], headers=headers)
