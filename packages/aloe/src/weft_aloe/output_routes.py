"""The outputs of jobs: their standard output and error, and the files that they have left."""

import mimetypes
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

from weft.api.http.ranges import ranged_reply
from weft.api.http.requests import AnyRequest, query_pairs
from weft.api.http.routing import Response, Stream, get
from weft.api.use_cases.files import files_now, live_attempt, open_file
from weft.api.use_cases.output import Outputs, missing_output
from weft.core.errors import FileNotFound
from weft.core.files.file_paths import WrongPath, parts_of
from weft.ports.log_store import AttemptLog
from weft.ports.store import Caller
from weft_aloe.archives import kept_path, own_name
from weft_aloe.documents import job_href
from weft_aloe.finding import find
from weft_aloe.replies import READ, Refused, answer, base_of, page_of, paths
from weft_aloe.story import story_of
from weft_aloe.words import STORE, instant, slug

_STREAMS: Final = {"out": "stdout", "err": "stderr"}
_TEXT: Final = "text/plain"
_BYTES: Final = "application/octet-stream"
_FOLDER: Final = "text/directory"
_PAGE: Final = 1000


@get([*paths("/{aloe_id:str}/outputs"), *paths("/{aloe_id:str}/outputs/listings")], **READ)
async def list_aloe_outputs(request: AnyRequest) -> Response[bytes]:
    """List the outputs of a job."""
    return await _list(request, "")


@get(paths("/{aloe_id:str}/outputs/listings/{file_path:path}"), **READ)
async def list_aloe_output(request: AnyRequest) -> Response[bytes]:
    """List one output of a job."""
    return await _list(request, _name_in(request))


@get(paths("/{aloe_id:str}/outputs/media/{file_path:path}"), **READ)
async def read_aloe_output(request: AnyRequest) -> Stream:
    """Read an output of a job, whole or in a range."""
    caller, facts = await find(request)
    name = _name_in(request)
    stream = _names(facts).get(name)
    if stream is None:
        return await _read_file(request, caller, facts, name)
    outputs, log = await _outputs(request, caller, facts)
    if log is None:
        raise _no_file(name)
    if (missing := missing_output(request.services.logs, log)) is not None:
        raise missing
    size = await outputs.size(log, stream)
    return _reply(request, name, _TEXT, size, lambda *span: outputs.read(log, stream, *span))


async def _read_file(
    request: AnyRequest, caller: Caller, facts: Mapping[str, Any], name: str
) -> Stream:
    if facts["state"] is None:
        raise _no_file(name)
    try:
        parts_of(name)
        path = kept_path(facts["document"], story_of(facts).status, name)
        found = await open_file(request.services, caller, facts["batch_id"], 1, path, attempt=None)
    except (WrongPath, FileNotFound) as error:
        raise _no_file(name) from error
    return _reply(request, name, _BYTES, found.n_bytes, found.read)


def _reply(
    request: AnyRequest,
    name: str,
    usual: str,
    size: int,
    read: Callable[[int, int], AsyncIterator[bytes]],
) -> Stream:
    media = mimetypes.guess_type(name)[0] or usual
    return ranged_reply(request, size, read, {"content-disposition": "attachment"}, media=media)


async def _list(request: AnyRequest, name: str) -> Response[bytes]:
    caller, facts = await find(request)
    limit, offset = page_of(query_pairs(request))
    files = await _files(request, caller, facts)
    below = _below(files, name)
    if name and not below:
        raise _no_file(name)
    base = base_of(request)
    found = [_entry(facts, base, path, *of) for path, of in below.items()]
    return answer(request, found[offset : offset + limit])


async def _files(
    request: AnyRequest, caller: Caller, facts: Mapping[str, Any]
) -> dict[str, tuple[int, datetime]]:
    """Return the sizes and dates of all files by their paths, standard output and error first."""
    outputs, log = await _outputs(request, caller, facts)
    if log is not None and log.why_gone is not None:
        log = None
    story = story_of(facts)
    at = story.remote_ended or story.updated
    found = {}
    for name, stream in _names(facts).items() if log is not None else ():
        assert log is not None
        found[name] = (await outputs.size(log, stream), at)
    if facts["state"] is None:  # another system has run it
        return found
    store, after = request.services.store, None
    while True:
        rows = await store.list_files(
            caller, facts["batch_id"], 1, attempt=None, after=after, limit=_PAGE
        )
        for row in rows:
            own = own_name(facts["document"], row["path"])
            found.setdefault(own, (row["bytes"], datetime.fromisoformat(row["kept_at"])))
        if len(rows) < _PAGE:
            break
        after = rows[-1]["path"]
    running = live_attempt(facts["attempts"], facts["batch_id"], 1)
    for seen in await files_now(request.services, running):
        when = datetime.fromtimestamp(seen.changed_s, UTC)
        found.setdefault(seen.path, (seen.n_bytes, when))
    return found


def _below(
    files: Mapping[str, tuple[int, datetime]], directory: str
) -> dict[str, tuple[int | None, datetime]]:
    """Return what a directory has: files, and directories without a size; of a file itself."""
    if directory in files:
        return {directory: files[directory]}
    found: dict[str, tuple[int | None, datetime]] = {}
    start = f"{directory}/" if directory else ""
    for path, (size, at) in files.items():
        if path.startswith(start):
            first, slash, _ = path.removeprefix(start).partition("/")
            found.setdefault(start + first, (None if slash else size, at))
    return found


async def _outputs(
    request: AnyRequest, caller: Caller, facts: Mapping[str, Any]
) -> tuple[Outputs, AttemptLog | None]:
    outputs = Outputs(request.services, caller, facts["batch_id"])
    return outputs, await outputs.find(1, None) if facts["state"] is not None else None


def _names(facts: Mapping[str, Any]) -> dict[str, str]:
    stem = f"{slug(facts['document']['name'])}-{facts['foreign_id']}"
    return {f"{stem}.{end}": stream for end, stream in _STREAMS.items()}


def _name_in(request: AnyRequest) -> str:
    parts = [one for one in str(request.path_params["file_path"]).split("/") if one]
    return "/".join(parts)


def _entry(
    facts: Mapping[str, Any], base: str, path: str, size: int | None, at: datetime
) -> dict[str, Any]:
    job, name, is_folder = job_href(facts, base), path.rpartition("/")[2], size is None
    is_text = path in _names(facts)
    usual = _TEXT if is_text else _BYTES
    part = "listings" if is_folder else "media"
    return {
        "name": name,
        "path": f"/{path}",
        "lastModified": instant(at),
        "length": size or 0,
        "permission": "READ_EXECUTE" if is_folder else "READ",
        "mimeType": _FOLDER if is_folder else mimetypes.guess_type(name)[0] or usual,
        "format": "folder" if is_folder else "unknown",
        "type": "dir" if is_folder else "file",
        "_links": {
            "self": {"href": f"{job}/outputs/{part}/{quote(path)}"},
            "system": {"href": f"{base}/systems/v2/{facts['document']['archiveSystem'] or STORE}"},
            "parent": {"href": job},
        },
    }


def _no_file(name: str) -> Refused:
    return Refused(404, f"the job has no output {name[:200]!r}")


OUTPUT_ROUTES: Final = (list_aloe_outputs, list_aloe_output, read_aloe_output)
