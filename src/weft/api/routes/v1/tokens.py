"""`/v1/tokens` and `/v1/whoami`: what a caller is, and the tokens that stand for them."""

from litestar import Response, delete, get, post

from weft.api.http.parameters import Query
from weft.api.http.path_ids import token_id_of
from weft.api.http.replies import created, reply
from weft.api.http.requests import (
    AnyRequest,
    caller_of,
    read_document,
    read_submission,
    services_of,
)
from weft.api.use_cases import tokens
from weft.wire.answers.tokens import Token, TokenCreated, TokenRevoked, Whoami
from weft.wire.documents.batches import Empty
from weft.wire.documents.tokens import TokenDocument


@get("/v1/whoami", opt={"answer": Whoami, "visit": True})
async def whoami(request: AnyRequest) -> Response[bytes]:
    """Get who sends this request, and what the token allows."""
    Query(request, ())
    return reply(await tokens.whoami(services_of(request), caller_of(request)))


@get("/v1/tokens", opt={"page": Token})
async def list_tokens(request: AnyRequest) -> Response[bytes]:
    """List the caller's tokens, the oldest first, also those that have expired."""
    Query(request, ())
    rows = await services_of(request).store.list_tokens(caller_of(request))
    return reply({"items": rows, "cursor": None})


@post("/v1/tokens", opt={"answer": TokenCreated, "body": TokenDocument, "creates": True})
async def create_token(request: AnyRequest) -> Response[bytes]:
    """Create a token of the caller. Its text is in this answer and nowhere else: a repeat with
    the same key makes another one in its place.
    """
    Query(request, ())
    document, origin = await read_submission(request, TokenDocument)
    answer = await tokens.create_token(services_of(request), caller_of(request), document, origin)
    return created(answer, is_new=True)


@delete("/v1/tokens/{t:str}", status_code=200, opt={"answer": TokenRevoked, "body": Empty})
async def revoke_token(request: AnyRequest) -> Response[bytes]:
    """Revoke a token of the caller: every api refuses it from now on."""
    Query(request, ())
    await read_document(request, Empty)
    number = token_id_of(request)
    return reply(await tokens.revoke_token(services_of(request), caller_of(request), number))


ROUTES = (whoami, list_tokens, create_token, revoke_token)
"""The routes of tokens."""
