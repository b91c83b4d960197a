"""The outputs of jobs: their standard output and error, as files."""

import mimetypes
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from litestar import Response, get, route
from litestar.response import Stream

from weft.api.http.ranges import span_of
from weft.api.http.requests import AnyRequest, services_of
from weft.api.http.sse import stream_reply
from weft.api.use_cases.output import Outputs, missing_output
from weft.doors.aloe.documents import job_href
from weft.doors.aloe.finding import find
from weft.doors.aloe.options import READ, paths
from weft.doors.aloe.refused import Refused
from weft.doors.aloe.replies import answer, base_of, page_of, query_of
from weft.doors.aloe.story import story_of
from weft.doors.aloe.words import STORE, instant, slug
from weft.ports.log_store import AttemptLog
from weft.ports.store import Caller

_STREAMS: Final = {"out": "stdout", "err": "stderr"}
_TEXT: Final = "text/plain"


@get(paths("/{aloe_id:str}/outputs"), **READ)
async def list_aloe_outputs_alone(request: AnyRequest) -> Response[bytes]:
    """List the outputs of a job."""
    return await _list(request, "")


@get(paths("/{aloe_id:str}/outputs/listings"), **READ)
async def list_aloe_outputs(request: AnyRequest) -> Response[bytes]:
    """List the outputs of a job."""
    return await _list(request, "")


@get(paths("/{aloe_id:str}/outputs/listings/{file_path:path}"), **READ)
async def list_aloe_output(request: AnyRequest) -> Response[bytes]:
    """List one output of a job."""
    return await _list(request, _name_in(request))


@route(paths("/{aloe_id:str}/outputs/media/{file_path:path}"), http_method=["GET", "HEAD"], **READ)
async def read_aloe_output(request: AnyRequest) -> Stream | Response[bytes]:
    """Read an output of a job, whole or in a range."""
    caller, facts = await find(request)
    outputs, log = await _outputs(request, caller, facts)
    name = _name_in(request)
    stream = _names(facts).get(name)
    if log is None or stream is None:
        raise _no_file(name)
    if (missing := missing_output(services_of(request).logs, log)) is not None:
        raise missing
    size = await outputs.size(log, stream)
    span = span_of(request.headers.get("range"), size)
    start, stop = (span.start, span.stop) if span else (0, size)
    headers = {
        "accept-ranges": "bytes",
        "content-length": str(stop - start),
        "x-content-type-options": "nosniff",
        "content-disposition": "attachment",
    }
    if span:
        headers["content-range"] = span.content_range
    status, media = 206 if span else 200, mimetypes.guess_type(name)[0] or _TEXT
    if request.method == "HEAD":
        return Response(b"", status_code=status, media_type=media, headers=headers)
    pieces = outputs.read(log, stream, start, stop)
    return stream_reply(pieces, media=media, status=status, headers=headers)


async def _list(request: AnyRequest, name: str) -> Response[bytes]:
    caller, facts = await find(request)
    limit, offset = page_of(query_of(request))
    outputs, log = await _outputs(request, caller, facts)
    names = {} if log is None else _names(facts)
    if name and name not in names:
        raise _no_file(name)
    at = story_of(facts).updated
    found = []
    for one, stream in names.items():
        if log is not None and name in {"", one}:
            found.append(_entry(facts, base_of(request), one, await outputs.size(log, stream), at))
    return answer(request, found[offset : offset + limit])


async def _outputs(
    request: AnyRequest,
    caller: Caller,
    facts: Mapping[str, Any],
) -> tuple[Outputs, AttemptLog | None]:
    outputs = Outputs(services_of(request), caller, facts["batch_id"])
    return outputs, await outputs.find(1, None)


def _names(facts: Mapping[str, Any]) -> dict[str, str]:
    stem = f"{slug(facts['document']['name'])}-{facts['foreign_id']}"
    return {f"{stem}.{end}": stream for end, stream in _STREAMS.items()}


def _name_in(request: AnyRequest) -> str:
    parts = [one for one in str(request.path_params["file_path"]).split("/") if one]
    return "/".join(parts)


def _entry(
    facts: Mapping[str, Any], base: str, name: str, size: int, at: datetime
) -> dict[str, Any]:
    job = job_href(facts, base)
    return {
        "name": name,
        "path": f"/{name}",
        "lastModified": instant(at),
        "length": size,
        "permission": "READ",
        "mimeType": mimetypes.guess_type(name)[0] or _TEXT,
        "format": "unknown",
        "type": "file",
        "_links": {
            "self": {"href": f"{job}/outputs/media/{name}"},
            "system": {"href": f"{base}/systems/v2/{STORE}"},
            "parent": {"href": job},
        },
    }


def _no_file(name: str) -> Refused:
    return Refused(404, f"the job has no output {name[:200]!r}")


OUTPUT_ROUTES: Final = (
    list_aloe_outputs_alone, list_aloe_outputs, list_aloe_output, read_aloe_output,
)  # fmt: skip
