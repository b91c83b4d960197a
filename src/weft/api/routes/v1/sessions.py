"""`/v1/login-links` and `/v1/sessions`: the browsers in which a caller is logged in."""

from litestar import Response, delete, get, post

from weft.api.http.parameters import Query
from weft.api.http.path_ids import session_id_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.api.use_cases import sessions
from weft.wire.answers.sessions import LoginLink, Session, SessionsEnded
from weft.wire.documents.batches import Empty


@post("/v1/login-links", status_code=200, opt={"answer": LoginLink, "body": Empty})
async def create_login_link(request: AnyRequest) -> Response[bytes]:
    """Make a link that opens a session of the caller in a browser: once, and within five minutes.
    The caller's former link counts no more.
    """
    Query(request, ())
    await read_document(request, Empty)
    origin = f"{request.scope['scheme']}://{request.headers.get('host', '')}"
    return reply(
        await sessions.create_login_link(services_of(request), caller_of(request), origin)
    )


@get("/v1/sessions", opt={"page": Session})
async def list_sessions(request: AnyRequest) -> Response[bytes]:
    """List the caller's sessions in browsers, the oldest first."""
    Query(request, ())
    rows = await services_of(request).store.list_sessions(caller_of(request))
    return reply({"items": rows, "cursor": None})


@delete("/v1/sessions", status_code=200, opt={"answer": SessionsEnded, "body": Empty})
async def end_all_sessions(request: AnyRequest) -> Response[bytes]:
    """End all sessions of the caller, and the login link that would open another: every api
    refuses them from now on.
    """
    Query(request, ())
    await read_document(request, Empty)
    return reply(await sessions.end_all_sessions(services_of(request), caller_of(request)))


@delete(
    "/v1/sessions/{session:str}", status_code=200, opt={"answer": SessionsEnded, "body": Empty}
)
async def end_session(request: AnyRequest) -> Response[bytes]:
    """End a session of the caller: every api refuses it from now on."""
    Query(request, ())
    await read_document(request, Empty)
    number = session_id_of(request)
    return reply(await sessions.end_session(services_of(request), caller_of(request), number))


ROUTES = (create_login_link, list_sessions, end_all_sessions, end_session)
"""The routes of sessions."""
