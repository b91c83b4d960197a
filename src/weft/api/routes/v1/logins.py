"""`/v1/logins` and `/v1/device-logins`: `weft login` gets a token from an issuer's word. Whoever
asks has no token yet.
"""

from weft.api.http.problem_documents import reply
from weft.api.http.requests import AnyRequest, read_document
from weft.api.http.routing import OPEN, Response, post
from weft.api.http.trail import record_login
from weft.api.use_cases import logins
from weft.api.web_tokens.providers import Pending
from weft.wire.documents.logins import (
    DeviceLoginBegun,
    DeviceLoginDocument,
    DevicePollDocument,
    DevicePolled,
    LoginBegun,
    LoginDocument,
    LoginDone,
    LoginEndDocument,
)


@post("/v1/logins", OPEN, status_code=200, opt={"answer": LoginBegun, "body": LoginDocument})
async def begin_login(request: AnyRequest) -> Response[bytes]:
    """Say where a browser begins to log in (OpenID Connect), which then brings a code to a port of
    its own machine.
    """
    document = await read_document(request, LoginDocument)
    return reply(await logins.begin(request.services, document))


@post(
    "/v1/logins/finish",
    OPEN,
    status_code=200,
    opt={"answer": LoginDone, "body": LoginEndDocument, "refuses": (401,)},
)
async def end_login(request: AnyRequest) -> Response[bytes]:
    """Exchange the code that a browser has brought for a token of its user. A code works once."""
    document = await read_document(request, LoginEndDocument)
    services = request.services
    provider, caller = await logins.finish(services, document)
    record_login(request.scope, caller, "end_login")
    return reply(await logins.make_token(services, provider, caller, document.name))


@post(
    "/v1/device-logins",
    OPEN,
    status_code=200,
    opt={"answer": DeviceLoginBegun, "body": DeviceLoginDocument, "refuses": (401,)},
)
async def begin_device_login(request: AnyRequest) -> Response[bytes]:
    """Make a code that somebody types in with a browser on any machine (RFC 8628)."""
    document = await read_document(request, DeviceLoginDocument)
    return reply(await logins.begin_device(request.services, document))


@post(
    "/v1/device-logins/poll",
    OPEN,
    status_code=200,
    opt={"answer": DevicePolled, "body": DevicePollDocument, "refuses": (401,)},
)
async def poll_device_login(request: AnyRequest) -> Response[bytes]:
    """Ask whether somebody has typed the code in; then the answer has a token of theirs."""
    document = await read_document(request, DevicePollDocument)
    services = request.services
    found = await logins.poll_device(services, document)
    if isinstance(found, Pending):
        return reply({"is_too_fast": found.is_too_fast, "login": None})
    provider, caller = found
    record_login(request.scope, caller, "poll_device_login")
    made = await logins.make_token(services, provider, caller, document.name)
    return reply({"is_too_fast": False, "login": made})
