"""`/v1/login-links` and `/v1/sessions`: the browsers in which a caller is logged in."""

from weft.api.http.parameters import Query
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.api.http.routing import Response, post
from weft.api.use_cases import sessions
from weft.wire.answers.sessions import LoginLink
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


ROUTES = (create_login_link,)
"""The routes of sessions."""
