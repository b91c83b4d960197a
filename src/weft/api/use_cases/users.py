"""Users of a tenant: its administrators let them in, give them roles, and remove them."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from weft.api.calls.call import Cursor, call
from weft.api.calls.path_ids import SecretName, UserName
from weft.api.services import Services
from weft.core.access.rights import RIGHTS_OF, Right, UserRole, require
from weft.core.access.token_text import new_token
from weft.core.bounds import INT_MAX
from weft.core.errors import (
    BatchNotFound,
    FieldError,
    RightMissing,
    SecretNotFound,
    SecretUnreadable,
    TooLarge,
)
from weft.core.problems import problem_document
from weft.ports.store import Caller, Row
from weft.submission.services import Answer, Origin
from weft.telemetry.log import log
from weft.wire.answers.users import User, UserAdded, UserRemoved
from weft.wire.documents.secrets import Secret, SecretDocument, SecretRemoved, SecretsRotated
from weft.wire.documents.tenants import OnUserRemoval
from weft.wire.documents.users import UserDocument, UserEdit
from weft.wire.sealed import SecretKeys, SecretRow

BATCHES_AT_ONCE = 100


def roles_to_give(caller: Caller) -> list[UserRole]:
    """Return the roles that may do no more than the caller with this token."""
    return [role for role in UserRole if all(map(caller.may, RIGHTS_OF[role]))]


@call("GET /v1/users", Right.MANAGE, page=User, cursor=Cursor("u", "user_id", INT_MAX))
async def list_users(
    services: Services, caller: Caller, *, after: int, limit: int
) -> Sequence[Row]:
    """Return the users of the tenant, in the order of their numbers. For its administrators."""
    return await services.store.list_users(caller, after=after, limit=limit)


@call("POST /v1/users", Right.MANAGE, UserAdded)
async def add_user(
    services: Services, caller: Caller, document: UserDocument, origin: Origin
) -> Answer:
    """Let a user into the tenant, with a role that may do no more than the caller. The text of
    their first token is the answer's `token`, and nowhere else: a repeat with the same key makes
    another one in its place. Raise `RightMissing`, `UserExists`.
    """
    name, role = document.name, UserRole(document.role)
    check_may_give(caller, role)
    token = new_token()
    user = await services.store.add_user(caller, name, role, token, idempotency_key=origin.key)
    log.info("user.added", user=user["name"], role=user["role"], by=caller.user_name)
    return {**user, "token": token}


@call("PATCH /v1/users/{user}", Right.MANAGE, User)
async def set_user_role(
    services: Services, caller: Caller, name: UserName, document: UserEdit
) -> Answer:
    """Give a user another role, on every api from now on; return the user. Raise `RightMissing`,
    `UserNotFound`, `LastAdministrator`.
    """
    role = UserRole(document.role)
    check_may_give(caller, role)
    user = await services.store.set_user_role(caller, name, role, may_give=roles_to_give(caller))
    log.info("user.role_set", user=user["name"], role=user["role"], by=caller.user_name)
    return dict(user)


@call("DELETE /v1/users/{user}", Right.MANAGE, UserRemoved)
async def remove_user(
    services: Services, caller: Caller, name: UserName, *, cancel_batches: bool | None
) -> Answer:
    """Remove a user: their tokens are refused from now on, and their schedules are paused. Jobs
    that they have submitted go on and are billed, or are cancelled: `cancel_batches` says which;
    without it `on_user_removal` of the tenant does. Raise `RightMissing`, `UserNotFound`,
    `LastAdministrator`.
    """
    if cancel_batches:
        require(Right.WRITE, caller.user_name, caller.role, caller.scopes)
    store = services.store
    user = await store.remove_user(caller, name, may_give=roles_to_give(caller))
    if cancel_batches is None:
        cancel_batches = user["on_user_removal"] == "cancel"
    done: OnUserRemoval = "cancel" if cancel_batches else "finish"
    log.info("user.removed", user=user["name"], on_user_removal=done, by=caller.user_name)
    if cancel_batches:  # first: what has begun after this is among the open batches
        await store.stop_work(caller, user["user_id"], problem_document(_was_removed(), ""))
    n_cancelled, last = 0, 0
    while cancel_batches and (
        batches := await store.list_open_batches(
            caller, user["user_id"], after=last, limit=BATCHES_AT_ONCE
        )
    ):
        for last in batches:
            with suppress(BatchNotFound):  # deleted meanwhile
                n_cancelled += await store.cancel_group(caller, last, 0, force=False)
    return {"name": user["name"], "on_user_removal": done, "n_cancelled": n_cancelled}


def _was_removed() -> RightMissing:
    return RightMissing(
        "the user who asked for this was removed",
        detail="Their batches were cancelled, and what would have run more jobs has ended.",
        hint="Ask for it as another user.",
    )


def check_may_give(caller: Caller, role: UserRole) -> None:
    """Raise `RightMissing` if this role may do more than the caller with this token."""
    if role in roles_to_give(caller):
        return
    raise RightMissing(
        f"you may not give the role {role}",
        detail=f"Whoever has it may do more than you with this token: {', '.join(caller.rights)}.",
        hint="Ask somebody who has this role, or give a lesser one.",
    )


_BYTES_OF_CHAR: Final = 4
_ROTATED_AT_ONCE: Final = 100


@call("GET /v1/secrets", Right.READ, page=Secret)
async def list_secrets(services: Services, caller: Caller) -> Sequence[Row]:
    """Return one's secrets by name, without their values."""
    return await services.store.list_secrets(caller)


@call("PUT /v1/secrets/{secret}", Right.WRITE, Secret, client="")
async def set_secret(
    services: Services, caller: Caller, name: SecretName, document: SecretDocument
) -> Answer:
    """Keep a secret for one's jobs, encrypted, in place of one of the same name. Attempts that
    start from now on get the new value. Raise `SecretKeyMissing`, `TooLarge`,
    `TooManySecrets`.
    """
    body = sealed(services, caller, name, document.value)
    most = services.settings.secrets_per_user_max
    found = await services.store.set_secret(caller, name, body, secrets_max=most)
    log.info("secret.set", secret=name, user=caller.user_name)
    return dict(found)


def sealed(services: Services, caller: Caller, name: str, value: str) -> bytes:
    """Return the encrypted value of a secret. Raise `SecretKeyMissing`, `TooLarge`."""
    most = services.settings.secret_bytes_max
    if _BYTES_OF_CHAR * len(value) > most and (size := len(value.encode())) > most:
        message = f"{size} bytes, at most {most} (secret_bytes_max)"
        raise TooLarge(
            f"the value of secret {name} is too large",
            detail=f"It has {message}.",
            hint="Keep a key that decrypts it as the secret, and the rest in a file.",
            errors=[FieldError("/value", message)],
        )
    row = SecretRow(caller.tenant_id, caller.user_id, name)
    return services.secret_keys().seal(value, row)


@call("DELETE /v1/secrets/{secret}", Right.WRITE, SecretRemoved, silent=True)
async def remove_secret(services: Services, caller: Caller, name: SecretName) -> Answer:
    """Forget one of one's secrets: no attempt gets it from now on. Jobs that need it and start
    later end with an error. Raise `SecretNotFound`.
    """
    if not await services.store.remove_secret(caller, name):
        raise SecretNotFound(
            f"secret {name} does not exist", detail="You have no secret with this name."
        )
    log.info("secret.removed", secret=name, user=caller.user_name)
    return {"name": name}


@call("POST /v1/secret-rotation", Right.ADMINISTER, SecretsRotated)
async def rotate_secrets(services: Services, caller: Caller) -> Answer:
    """Encrypt all secrets of all tenants with the first key, so that others can go; return
    `n_rotated` and the `key`. Only for administrators of the site. Raise `RightMissing`, and
    `SecretKeyMissing` if one was encrypted with a key that is not here; those before it are done.
    """
    keys, n = services.secret_keys(), 0
    while former := await services.store.list_stale_secrets(
        caller, keys.current, limit=_ROTATED_AT_ONCE
    ):
        bodies = [keys.seal(_opened(keys, body, row), row) for row, body in former]
        n += await services.store.reseal_secrets(caller, former, bodies)
    log.info("secret.rotated", n=n, user=caller.user_name)
    return {"n_rotated": n, "key": keys.current.hex()}


def _opened(keys: SecretKeys, body: bytes, row: SecretRow) -> str:
    try:
        return keys.open(body, row)
    except ValueError as error:
        raise SecretUnreadable(
            f"secret {row.name} of user {row.user_id} cannot be decrypted",
            detail=f"{str(error).capitalize()}.",
            hint="Let its user set it again or remove it, then rotate again.",
        ) from error
