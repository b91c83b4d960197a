"""Hail's routes of jobs: lists, documents, logs, attempts."""

import re
from typing import Final

from weft.api.calls.path_ids import ATTEMPTS_MAX
from weft.api.http.problem_documents import reply
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response, Stream, get
from weft.api.http.sse import stream_reply
from weft.api.services import Payers
from weft.api.use_cases import read
from weft.api.use_cases.output import Outputs, read_samples
from weft.core.access.secret_variables import patterns_of
from weft.core.query import EVERYTHING, Subject, all_of
from weft.ports.log_store import AttemptLog
from weft.ports.store import Row
from weft_hail.batch_routes import API, SECOND
from weft_hail.documents_to_hail import (
    attempt_document,
    has_times,
    image_of,
    job_document,
    job_entry,
    usage_document,
)
from weft_hail.jobs_from_hail import ATTEMPT
from weft_hail.queries import Parser, in_group, parse_v1, parse_v2
from weft_hail.requests import (
    PAGE,
    READ,
    Document,
    bad_request,
    batch_of,
    flag_of,
    last_of,
    number_of,
    query_of,
)

_OF_BATCH: Final = "/batches/{b:str}"
_OF_GROUP: Final = _OF_BATCH + "/job-groups/{g:str}"
_JOB: Final = API + _OF_BATCH + "/jobs/{j:str}"
_CONTAINERS: Final = ("main", "input", "output")
_ATTEMPT: Final = re.compile(r"b[0-9]+j[0-9]+a([1-9][0-9]{0,4})")
_LAST_JOB: Final = 2_000_000_000
BYTES: Final = "application/octet-stream"
LOG_BYTES_MAX: Final = 16 * 1024 * 1024
"""Of a log in a document, which is made in memory."""
ROOT: Final = 0
WARNING: Final = "X-Hail-Deprecated"
"""Header whose text Hail's client makes a warning of Python, which says each text once. There it
comes with logs, too.
"""
IMAGE_WARNING: Final = (
    "image {image} is only a label here: jobs run as processes of the worker's host"
)
_IMAGE_CHARS: Final = 200


@get(f"{API}{_OF_BATCH}/jobs", **READ)
async def list_hail_jobs(request: AnyRequest) -> Response[bytes]:
    """List jobs of a batch by the first query language."""
    return await _list(request, ROOT, parse_v1)


@get(f"{SECOND}{_OF_BATCH}/jobs", **READ)
async def list_hail_jobs_v2(request: AnyRequest) -> Response[bytes]:
    """List jobs of a batch by the second query language."""
    return await _list(request, ROOT, parse_v2)


@get(f"{API}{_OF_GROUP}/jobs", **READ)
async def list_hail_group_jobs(request: AnyRequest) -> Response[bytes]:
    """List jobs of a group by the first query language."""
    return await _list(request, number_of(request, "g"), parse_v1)


@get(f"{SECOND}{_OF_GROUP}/jobs", **READ)
async def list_hail_group_jobs_v2(request: AnyRequest) -> Response[bytes]:
    """List jobs of a group by the second query language."""
    return await _list(request, number_of(request, "g"), parse_v2)


async def _list(request: AnyRequest, group_id: int, parse: Parser) -> Response[bytes]:
    query, batch_id = query_of(request), batch_of(request)
    services, caller = request.services, request.caller
    node = parse(query.get("q"), Subject.JOBS)
    if not flag_of(query, "recursive"):
        node = all_of((node, in_group(group_id)))
    wanted = read.JobList(
        limit=PAGE,
        after=min(last_of(query, "last_job_id") or 0, _LAST_JOB),
        query=None if node == EVERYTHING else node,
        group=None if group_id == ROOT else group_id,
    )
    rows = await read.list_job_entries(services, caller, batch_id, wanted)
    payers = await services.payers_of(caller, batch_id)
    answer: Document = {"jobs": [job_entry(batch_id, row, payers) for row in rows]}
    if len(rows) == PAGE:
        answer["last_job_id"] = rows[-1].job_id
    return reply(answer)


@get(_JOB, **READ)
async def get_hail_job(request: AnyRequest) -> Response[bytes]:
    """Get a job."""
    batch_id, job_id = batch_of(request), number_of(request, "j")
    services, caller = request.services, request.caller
    row, original = await read.get_foreign_job(services, caller, batch_id, job_id)
    attempts = await read.list_attempts(services, caller, batch_id, job_id)
    if row["user"] == caller.user_name or await services.store.sees_batch(caller, batch_id):
        payers = await services.payers_of(caller, batch_id)
    else:  # this job alone was shared with them
        payers = Payers(str(row["user"]), "")
    masks = patterns_of(services.settings.masked_env)
    return reply(job_document(row, original, attempts, payers=payers, masks=masks))


@get(f"{_JOB}/attempts", **READ)
async def list_hail_attempts(request: AnyRequest) -> Response[bytes]:
    """List the attempts of a job; null: it has none."""
    row, attempts = await _attempts(request)
    found = [attempt_document(row, attempt) for attempt in attempts if has_times(attempt)]
    return reply(found or None)


@get(f"{_JOB}/resource_usage", **READ)
async def get_hail_usage(request: AnyRequest) -> Response[bytes]:
    """Get samples of what the last attempt of a job that ran has used."""
    row, attempts = await _attempts(request)
    ran = [attempt for attempt in attempts if attempt["started_at"] is not None]
    if not ran:
        return reply({})
    samples = await read_samples(
        request.services,
        request.caller,
        row["batch_id"],
        row["job_id"],
        ran[-1]["attempt"],
    )
    return reply({"main": usage_document(ran[-1], samples)})


async def _attempts(request: AnyRequest) -> tuple[Row, list[Row]]:
    batch_id, job_id = batch_of(request), number_of(request, "j")
    services, caller = request.services, request.caller
    attempts = await read.list_attempts(services, caller, batch_id, job_id)
    return {"batch_id": batch_id, "job_id": job_id}, list(attempts)


@get(f"{_JOB}/log", **READ)
async def get_hail_log(request: AnyRequest) -> Response[bytes]:
    """Get what a job wrote, as text."""
    outputs, log = await _output(request, None)
    if log is None:
        return reply({"main": None})
    if log.stdout_bytes + log.stderr_bytes > LOG_BYTES_MAX:
        raise bad_request("log is too large for one document; read that of a container instead")
    try:
        text = b"".join([piece async for piece in outputs.interleaved(log)]).decode()
    except UnicodeDecodeError as error:
        raise bad_request(
            "log is not valid UTF-8; read the bytes of a container instead"
        ) from error
    return reply({"main": text}, headers=await _about_image(request))


async def _about_image(request: AnyRequest) -> dict[str, str]:
    """Return the header that warns of the image of a job that ran without it, which may have
    missed something that is in it. What the job wrote stays as it is: programs read it.
    """
    row, original = await read.get_foreign_job(
        request.services, request.caller, batch_of(request), number_of(request, "j")
    )
    in_image = row["spec"] is not None and row["spec"].container is not None
    image = "" if original is None or in_image else image_of(original)
    return {WARNING: IMAGE_WARNING.format(image=ascii(image[:_IMAGE_CHARS]))} if image else {}


@get(f"{_JOB}/log/{{container:str}}", **READ)
async def get_hail_container_log(request: AnyRequest) -> Response[bytes] | Stream:
    """Get what a container of a job wrote, as bytes."""
    container = str(request.path_params["container"])
    if container not in _CONTAINERS:
        raise bad_request(f"unknown container {container[:80]}")
    attempt = None
    if text := query_of(request).get("attempt_id"):
        match = _ATTEMPT.fullmatch(text)
        if match is None or int(match[1]) > ATTEMPTS_MAX:
            raise bad_request(f"unknown attempt {text[:80]}")
        attempt = int(match[1])
        if text != ATTEMPT.format(
            batch=batch_of(request), job=number_of(request, "j"), attempt=attempt
        ):
            raise bad_request(f"unknown attempt {text[:80]}")
    outputs, log = await _output(request, attempt)
    if log is None or container != "main":
        return Response(b"", status_code=200, media_type=BYTES)
    headers = await _about_image(request)
    return stream_reply(outputs.interleaved(log), media=BYTES, headers=headers)


async def _output(request: AnyRequest, attempt: int | None) -> tuple[Outputs, AttemptLog | None]:
    """Return what reads the output of an attempt; None: the job has not started."""
    outputs = Outputs(request.services, request.caller, batch_of(request))
    job_id = number_of(request, "j")
    log = await outputs.find(job_id, attempt)
    return outputs, None if log is None else await outputs.get(job_id, log.attempt)
