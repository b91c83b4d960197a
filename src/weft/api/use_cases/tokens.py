"""Tokens: a caller makes, lists and revokes their own."""

import secrets
import time

from weft.api.services import Services
from weft.core.errors import RightMissing, TokenNotFound
from weft.core.rights import Right, require
from weft.ports.store import Caller
from weft.submission.services import Answer, Origin
from weft.telemetry.log import get_logger
from weft.wire.token_documents import TokenDocument

TOKEN_BYTES = 32
log = get_logger()


def new_token() -> str:
    """Return the text of a token that nobody has."""
    return f"weft_{secrets.token_urlsafe(TOKEN_BYTES)}"


async def create_token(
    services: Services, caller: Caller, document: TokenDocument, origin: Origin
) -> Answer:
    """Make a token; return it, for the only time. It may do no more than the token that asks for
    it, and no longer. Raise `RightMissing`, `TooManyTokens`.
    """
    scopes = caller.scopes
    if document.scopes is not None:
        scopes = frozenset(map(Right, document.scopes))
        for right in sorted(scopes):
            require(right, caller.user_name, caller.role, caller.scopes)
    valid_s = document.valid_s
    if caller.expires_at is not None:
        # The issuer would not know of it when it takes the user out.
        left_s = max(0.0, caller.expires_at - time.time())
        valid_s = left_s if valid_s is None else min(valid_s, left_s)
    token = new_token()
    created = await services.store.create_token(
        caller,
        token,
        name=document.name,
        scopes=scopes,
        valid_s=valid_s,
        tokens_max=services.settings.tokens_per_user_max,
        idempotency_key=origin.key,
    )
    log.info("token.created", token=created["token_id"], user=caller.user_name)
    return {**created, "token": token}


async def revoke_token(services: Services, caller: Caller, token_id: int) -> Answer:
    """Forget a token of the caller. Raise `TokenNotFound`; `RightMissing` for any other than
    itself, if the one that asks has scopes.
    """
    if caller.scopes is not None and token_id != caller.token_id:
        raise RightMissing(
            "this token may revoke itself only",
            detail=f"Its scopes are {', '.join(sorted(caller.scopes))}.",
            hint="Use a token without scopes.",
        )
    if not await services.store.revoke_token(caller, token_id):
        raise TokenNotFound(
            f"token {token_id} does not exist",
            detail="You have no token with this number.",
            hint="List yours with `weft token ls`.",
        )
    log.info("token.revoked", token=token_id, user=caller.user_name)
    return {"token_id": token_id}


async def whoami(services: Services, caller: Caller) -> Answer:
    """Say who the caller is, and what their token allows."""
    return {
        "tenant": await services.store.tenant_name(caller),
        "user": caller.user_name,
        "role": caller.role,
        "rights": caller.rights,
        "token_id": caller.token_id or None,
        "csrf_token": caller.csrf_token,
    }
