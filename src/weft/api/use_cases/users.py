"""Users of a tenant, whom its administrators let in."""

from collections.abc import Sequence
from contextlib import suppress

from weft.api.calls.call import Cursor, call
from weft.api.calls.path_ids import UserName
from weft.api.services import Services
from weft.api.use_cases.limits import check_coming
from weft.core.access.rights import RIGHTS_OF, Right, UserRole, require
from weft.core.access.token_text import new_token
from weft.core.bounds import INT_MAX
from weft.core.errors import BatchNotFound, RightMissing
from weft.core.problems import problem_document
from weft.ports.store import Caller, Origin, Row
from weft.settings.jobs_apart import check_apart
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.wire.answers.users import User, UserAdded, UserRemoved
from weft.wire.documents.tenants import (
    OnUserRemoval,
)
from weft.wire.documents.users import UserDocument, UserEdit, UserWeight

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
    another one in its place. Raise `RightMissing`, `UserExists`, `JobsNotApart`.
    """
    name, role = document.name, UserRole(document.role)
    check_may_give(caller, role)
    if not document.trusted:
        check_apart(services.settings, name, role)
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


@call("PUT /v1/users/{user}/weight", Right.ADMINISTER, User)
async def set_user_weight(
    services: Services, caller: Caller, name: UserName, document: UserWeight
) -> Answer:
    """Give a user another weight in the fair shares of all pools, for good or until a date; return
    the user. For administrators of the site, as others get less. Raise `UserNotFound`.
    """
    check_coming(document.until)
    user = await services.store.set_user_weight(caller, name, document.weight, document.until)
    log.info("user.weight_set", user=user["name"], weight=user["weight"], by=caller.user_name)
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
