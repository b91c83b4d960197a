"""Tokens: a caller makes, lists and revokes their own."""

from collections.abc import Sequence
from typing import Final

from weft.api.calls.call import call
from weft.api.calls.path_ids import TokenId
from weft.api.services import Services
from weft.core.access.rights import Right, require
from weft.core.access.token_text import new_token
from weft.core.errors import FieldError, InvalidDocument, RightMissing, TokenNotFound
from weft.ports.store import Caller, Origin, Row, WorkTerms
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.wire.answers.tokens import Token, TokenCreated, TokenRevoked, Whoami
from weft.wire.documents.tokens import TokenDocument

DAY_S: Final = 86_400


@call("GET /v1/tokens", Right.KNOW_ONESELF, page=Token)
async def list_tokens(services: Services, caller: Caller) -> Sequence[Row]:
    """Return one's tokens, the oldest first, also those that have expired."""
    return await services.store.list_tokens(caller)


@call("POST /v1/tokens", Right.KNOW_ONESELF, TokenCreated)
async def create_token(
    services: Services, caller: Caller, document: TokenDocument, origin: Origin
) -> Answer:
    """Make a token with all of one's rights, or with some. Its text is the answer's `token`, and
    nowhere else: a repeat with the same key makes another one in its place. It may do no more than
    the token that asks for it, and no longer. Raise `RightMissing`, `TooManyTokens`.
    """
    scopes = caller.scopes
    if document.scopes is not None:
        scopes = frozenset(map(Right, document.scopes))
        for right in sorted(scopes):
            require(right, caller.user_name, caller.role, caller.scopes)
    work = _work_terms(caller, document)
    token = new_token()
    created = await services.store.create_token(
        caller,
        token,
        name=document.name,
        scopes=scopes,
        # An issuer would not know of it when it takes the user out.
        valid_s=caller.lasting(None if document.once else document.valid_s),
        tokens_max=services.settings.tokens_per_user_max,
        idempotency_key=origin.key,
        work=work,
        invitation_s=document.valid_s if document.once else None,
    )
    log.info("token.created", token=created["token_id"], user=caller.user_name)
    return {**created, "token": token}


def _work_terms(caller: Caller, document: TokenDocument) -> WorkTerms | None:
    """Return what a token for workers outside allows; None: it is for something else. Raise
    `InvalidDocument`, and `RightMissing` for those who do not administer pools.
    """
    is_for_work = document.scopes == [Right.WORK]
    if document.once and (document.pool is None or not 0 < (document.valid_s or 0) <= DAY_S):
        raise _not_for_work("/once", "an invitation names a pool, and is good for a day at most")
    if document.pool is None:
        if document.workers is not None or Right.WORK in (document.scopes or ()):
            raise _not_for_work("/pool", "a token for workers outside names their pool")
        return None
    if not is_for_work:
        raise _not_for_work("/scopes", "a token with a pool has the scope work, and no other")
    require(Right.ADMINISTER, caller.user_name, caller.role, caller.scopes)
    return WorkTerms(document.pool, document.workers or "*")


def _not_for_work(pointer: str, why: str) -> InvalidDocument:
    return InvalidDocument(
        "the token is not one for workers outside",
        detail=f"{why[0].upper()}{why[1:]}.",
        hint="Make one with `weft token create NAME --pool POOL`.",
        errors=(FieldError(pointer, why),),
    )


@call("DELETE /v1/tokens/{t}", Right.KNOW_ONESELF, TokenRevoked, silent=True)
async def revoke_token(services: Services, caller: Caller, token_id: TokenId) -> Answer:
    """Revoke one of one's tokens: every api refuses it from now on. Raise
    `TokenNotFound`; `RightMissing` for any other than itself, if the one that asks has scopes.
    """
    if token_id != caller.token_id:
        require_no_scopes(caller, "this token may revoke itself only")
    if not await services.store.revoke_token(caller, token_id):
        raise TokenNotFound(
            f"token {token_id} does not exist",
            detail="You have no token with this number.",
            hint="List yours with `weft token ls`.",
        )
    log.info("token.revoked", token=token_id, user=caller.user_name)
    return {"token_id": token_id}


@call("GET /v1/whoami", Right.KNOW_ONESELF, Whoami, marks={"visit": True})
async def whoami(services: Services, caller: Caller) -> Answer:
    """Return the caller and what the token allows: `user`, `role`, `rights`, `token_id`."""
    return {
        "tenant": await services.store.tenant_name(caller),
        "user": caller.user_name,
        "role": caller.role,
        "rights": caller.rights,
        "token_id": caller.token_id or None,
        "csrf_token": caller.csrf_token,
    }


def require_no_scopes(caller: Caller, message: str) -> None:
    """Raise `RightMissing` with this message for a token that has scopes."""
    if caller.scopes is not None:
        raise RightMissing(
            message,
            detail=f"Its scopes are {', '.join(sorted(caller.scopes))}.",
            hint="Use a token without scopes.",
        )
