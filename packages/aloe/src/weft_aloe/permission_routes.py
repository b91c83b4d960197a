"""`/pems`: with whom a job is shared."""

from collections.abc import Mapping
from typing import Any, Final

from weft.api.http.requests import AnyRequest, query_pairs
from weft.api.http.routing import Response, delete, get, post
from weft.core.access.rights import Permission
from weft.core.errors import UserNotFound
from weft.ports.store import Caller, Row
from weft_aloe.documents import job_href
from weft_aloe.finding import find
from weft_aloe.replies import (
    READ,
    SHARE,
    Refused,
    answer,
    bad_request,
    base_of,
    page_of,
    paths,
    read_body,
)
from weft_aloe.words import words_given

_EXECUTE: Final = "EXECUTE"
"""Is kept and shown, though it gives nothing: jobs have nothing to execute."""
_GIVEN: Final[Mapping[str, Permission | None]] = {
    "NONE": None,
    _EXECUTE: None,
    "READ": Permission.READ,
    "READ_EXECUTE": Permission.READ,
    "WRITE": Permission.ALL,
    "READ_WRITE": Permission.ALL,
    "WRITE_EXECUTE": Permission.ALL,
    "ALL": Permission.ALL,
}
"""What each word gives: whoever may write there may also share, and reads."""
_WRITES_ONLY: Final = frozenset({"WRITE", "WRITE_EXECUTE"})
"""Shown as they were given, though weft has no right to write that does not read."""
_USERS_MAX: Final = 1000


@get(paths("/{aloe_id:str}/pems"), **READ)
async def list_aloe_permissions(request: AnyRequest) -> Response[bytes]:
    """List who may do what with a job, its owner first."""
    caller, facts = await find(request)
    limit, offset = page_of(query_pairs(request))
    found = await _all(request, caller, facts)
    return answer(request, found[offset : offset + limit])


@get(paths("/{aloe_id:str}/pems/{user:str}"), **READ)
async def get_aloe_permission(request: AnyRequest) -> Response[bytes]:
    """Get what a user may do with a job."""
    caller, facts = await find(request)
    user = str(request.path_params["user"])
    for one in await _all(request, caller, facts):
        if one["username"].casefold() == user.casefold():
            return answer(request, one)
    raise Refused(404, f"{user[:80]!r} has no permission on the job")


@post(
    [*paths("/{aloe_id:str}/pems"), *paths("/{aloe_id:str}/pems/{user:str}")],
    **{**SHARE, "status_code": 201},
)
async def share_aloe_job(request: AnyRequest) -> Response[bytes]:
    """Let a user do something with a job."""
    caller, facts = await find(request)
    body, in_path = await read_body(request, forms=True), request.path_params.get("user")
    if not isinstance(body, dict):
        raise bad_request("the body is not an object")
    user, word = body.get("username", in_path), body.get("permission")
    if not isinstance(user, str) or not user.strip():
        raise bad_request("username: expected the name of a user")
    if in_path is not None and user != in_path:
        raise bad_request("username: it is another one than in the path")
    if "permission" not in body:
        raise bad_request("permission: it is required")
    name = "NONE" if word in (None, "") else word.upper() if isinstance(word, str) else ""
    if name not in _GIVEN:
        raise bad_request(f"permission: expected one of {', '.join(_GIVEN)}")
    if user.casefold() != facts["owner"].casefold():
        await _give(request, caller, facts, user, name)
        caller, facts = await find(request)
    elif _GIVEN[name] is not Permission.ALL:
        raise bad_request("the owner cannot lose a permission")
    for one in await _all(request, caller, facts):
        if one["username"].casefold() == user.casefold():
            return answer(request, one, status=201)
    return answer(request, _entry(facts, base_of(request), user, None, ""), status=201)


@delete(paths("/{aloe_id:str}/pems"), **SHARE)
async def unshare_aloe_job(request: AnyRequest) -> Response[bytes]:
    """Share a job with nobody."""
    caller, facts = await find(request)
    for one in (await _all(request, caller, facts))[1:]:
        await _give(request, caller, facts, one["username"], "NONE")
    return answer(request, None, message="The permissions were removed.")


@delete(paths("/{aloe_id:str}/pems/{user:str}"), **SHARE)
async def unshare_aloe_job_with(request: AnyRequest) -> Response[bytes]:
    """Share a job with a user no longer."""
    caller, facts = await find(request)
    user = str(request.path_params["user"])
    if user.casefold() == facts["owner"].casefold():
        raise bad_request("the owner cannot lose a permission")
    await _give(request, caller, facts, user, "NONE")
    return answer(request, None, message="The permission was removed.")


async def _give(request: AnyRequest, caller: Caller, facts: Row, user: str, name: str) -> None:
    store, permission = request.services.store, _GIVEN[name]
    had = {whose.casefold(): word for whose, word in words_given(facts).items()}
    is_kept = permission is Permission.ALL or _EXECUTE in {name, had.get(user.casefold())}
    said = name if is_kept else None
    try:
        await store.share_batch(caller, facts["batch_id"], user, permission, said=said)
    except UserNotFound as error:
        raise Refused(404, f"there is no user {user[:80]!r}") from error


async def _all(request: AnyRequest, caller: Caller, facts: Row) -> list[dict[str, Any]]:
    store, words = request.services.store, words_given(facts)
    rows = await store.list_permissions(caller, facts["batch_id"], after=0, limit=_USERS_MAX)
    shown: dict[str, str | None] = {facts["owner"]: "all"}
    shown |= {user: None for user, word in words.items() if word == _EXECUTE}
    shown |= {row["user"]: row["permission"] for row in rows}
    base = base_of(request)
    return [_entry(facts, base, user, may, words.get(user, "")) for user, may in shown.items()]


def _entry(facts: Row, base: str, user: str, permission: str | None, word: str) -> dict[str, Any]:
    job, hides_reading = job_href(facts, base), permission == "all" and word in _WRITES_ONLY
    return {
        "username": user,
        "internalUsername": None,
        "permission": {
            "read": permission is not None and not hides_reading,
            "write": permission in {"execute", "write", "all"},
        },
        "_links": {
            "self": {"href": f"{job}/pems/{user}"},
            "parent": {"href": job},
            "profile": {"href": f"{base}/profiles/v2/{user}"},
        },
    }


PERMISSION_ROUTES: Final = (
    list_aloe_permissions,
    get_aloe_permission,
    share_aloe_job,
    unshare_aloe_job,
    unshare_aloe_job_with,
)
