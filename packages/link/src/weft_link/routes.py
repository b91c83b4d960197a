"""`/v1/worker-link`: what workers outside call and hear (`ports/worker_link.py`)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from ipaddress import ip_address
from typing import Final, cast

from weft.api.http.parameters import wrong_parameter
from weft.api.http.parts import ApiPart
from weft.api.http.problem_documents import reply
from weft.api.http.requests import AnyRequest, body_apart, body_of, read_bytes, read_submission
from weft.api.http.routing import OPEN, Receive, Response, Stream, get, post
from weft.api.http.sse import KEEP_ALIVE, KEEP_ALIVE_S, message, stream_reply
from weft.api.http.trail import record_login
from weft.core.access.rights import Right
from weft.core.access.token_text import new_token
from weft.core.errors import (
    InvitationRefused,
    LinkRefused,
    MalformedBody,
    Unavailable,
)
from weft.core.login_attempts import attempt_with
from weft.ports.store import Caller
from weft.ports.worker_link import FRAME_BYTES_MAX, CarriedCommand
from weft.telemetry.log import log
from weft.wire import exec as wire
from weft.wire.documents.tokens import JoinDocument
from weft_link.serving import WorkerLink, read_frame

MSGPACK: Final = "application/msgpack"
_INCARNATION_MAX: Final = 2**31 - 1
_LEAVE_S: Final = 5.0


@post(
    "/v1/worker-link",
    Right.WORK,
    status_code=200,
    include_in_schema=False,
    opt={"unrecorded": True},
)
async def call_link(request: AnyRequest) -> Response[bytes]:
    """Do what a worker outside asks of the store. One frame is one call; both ways it is in
    msgpack, in a form that belongs to weft's own workers.
    """
    _refuse_open_way(request)
    body = await read_bytes(request, FRAME_BYTES_MAX)
    read = await body_apart(request, body, read_frame, body)
    answer = await _link_of(request).answer(request.caller, read)
    return Response(answer, media_type=MSGPACK)


@get("/v1/worker-link/notices", Right.WORK, include_in_schema=False, query=("incarnation",))
async def stream_notices(request: AnyRequest) -> Stream:
    """Stream what a worker outside must look at, as server-sent events."""
    link, number = await _asker(request)
    return stream_reply(_messages(link, request.caller, number))


@post(
    "/v1/worker-link/exec",
    Right.WORK,
    status_code=200,
    include_in_schema=False,
    query=("incarnation", "number"),
    opt={"unrecorded": True},
)
async def open_exec(request: AnyRequest) -> Stream:
    """Carry a command beside a job of a worker outside, which opens this when it is asked. Both
    bodies are frames, with the roles of client and server turned round (`wire/exec.py`): it gets
    0, a `Begin` and a terminal or nothing, and says 0, `Begun` or `Refused`.
    """
    link, incarnation_id = await _asker(request)
    number = request.query.text("number") or ""
    return _Carrying(link.running.open(incarnation_id, number, _frames(request)))


async def _frames(request: AnyRequest) -> wire.Frames:
    with suppress(MalformedBody):
        async for one in wire.frames(body_of(request)):
            yield one


class _Carrying(Stream):
    """What a worker gets for a command, while who asked gets what comes from it."""

    def __init__(self, command: CarriedCommand) -> None:
        unbuffered = {"x-accel-buffering": "no"}
        super().__init__(
            command.sent(), asked_by=_asker, media_type=wire.MEDIA, headers=unbuffered
        )
        self._over = command.over

    async def hear(self, _: Receive) -> None:
        """Leave to who asked what comes, and return soon after that is over, read or not."""
        await self._over.wait()
        await asyncio.sleep(_LEAVE_S)


async def _asker(request: AnyRequest) -> tuple[WorkerLink, int]:
    """Return the link, and the incarnation that asks. Raise `LinkRefused`, `InvalidParameter`."""
    query = request.query
    number = query.integer("incarnation", default=None, least=1, most=_INCARNATION_MAX)
    if number is None:
        raise wrong_parameter("incarnation", "it is missing; it is the worker's own")
    _refuse_open_way(request)
    link = _link_of(request)
    await link.terms_of(request.caller, number)
    return link, number


@post("/v1/worker-link/join", OPEN, status_code=200, include_in_schema=False)
async def join_worker(request: AnyRequest) -> Response[bytes]:
    """Give a worker that was invited a token of its own, for its name and the invitation's pool;
    a repeat with the same key makes another one in its place. Raise `InvitationRefused`.
    """
    _refuse_open_way(request)
    document, origin = await read_submission(request, JoinDocument)
    store, token = request.services.store, new_token()
    host = await store.authenticate_invitation(document.invitation)
    if host is not None:
        record_login(request.scope, host, "join_worker")
    try:
        joined = await store.accept_invitation(
            document.invitation, token, document.worker, key=origin.key
        )
    except InvitationRefused as error:
        error.login = attempt_with(document.invitation)
        raise
    assert joined is not None
    assert joined.work is not None
    log.info("worker.invited", worker=document.worker, token=joined.token_id)
    return reply({"token": token, "pool": joined.work.pool})


async def _messages(link: WorkerLink, caller: Caller, number: int) -> AsyncIterator[bytes]:
    with suppress(Unavailable):  # a reply that has begun cannot say so: the worker listens again
        async for notice in link.notices(caller, number, again_s=KEEP_ALIVE_S):
            yield KEEP_ALIVE if notice is None else message(notice)


def _refuse_open_way(request: AnyRequest) -> None:
    """Refuse what came over a network without TLS: token, specs and output were readable there.
    Raise `LinkRefused`.
    """
    address = request.scope["client"][0] if request.scope["client"] else ""
    if request.scope["scheme"] == "https" or _is_this_machine(address):
        return
    raise LinkRefused(
        "workers outside reach this server by HTTPS only",
        detail=f"The request came from {address} without TLS.",
        hint="Give the api a certificate (`tls_cert_file`), or name the proxy that ends TLS in "
        "`trusted_proxies`. Revoke this token: it may have been read.",
    )


def _is_this_machine(address: str) -> bool:
    try:
        found = ip_address(address)
    except ValueError:  # a socket of this machine has none
        return not address
    return (getattr(found, "ipv4_mapped", None) or found).is_loopback


def _link_of(request: AnyRequest) -> WorkerLink:
    link = request.services.link
    if link is None:
        raise Unavailable(
            "this api serves no workers outside",
            detail="It was started without a store for them.",
            hint="Ask another api of this installation.",
        )
    return cast("WorkerLink", link)


PART: Final = ApiPart(routes=(call_link, open_exec, stream_notices, join_worker))
"""What the api serves of them. What a worker does is in the history of its jobs."""
