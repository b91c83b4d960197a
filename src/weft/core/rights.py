"""The roles of users, and the rights that each role has."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from weft.core.errors import RightMissing


class Right(StrEnum):
    """What a route may need. The values are the words of messages: "may not …"."""

    KNOW_ONESELF = "learn who they are"
    READ = "read batches, queues and workers"
    WRITE = "submit or change jobs"
    OPERATE = "operate queues, workers and conditions"
    MANAGE = "change queues or read secrets of the tenant"
    ADMINISTER = "change pools and licences"


class UserRole(StrEnum):
    """What a user is in a tenant. All but WORKER may do what the roles before them may."""

    VIEWER = "viewer"
    USER = "user"
    OPERATOR = "operator"
    TENANT_ADMIN = "tenant-admin"
    ADMIN = "admin"
    WORKER = "worker"


_ADDED: Final[Mapping[UserRole, tuple[Right, ...]]] = {
    UserRole.VIEWER: (Right.KNOW_ONESELF, Right.READ),
    UserRole.USER: (Right.WRITE,),
    UserRole.OPERATOR: (Right.OPERATE,),
    UserRole.TENANT_ADMIN: (Right.MANAGE,),
    UserRole.ADMIN: (Right.ADMINISTER,),
}


def _rights_of() -> Mapping[UserRole, frozenset[Right]]:
    found: dict[UserRole, frozenset[Right]] = {UserRole.WORKER: frozenset({Right.KNOW_ONESELF})}
    rights: frozenset[Right] = frozenset()
    for role, added in _ADDED.items():
        found[role] = rights = rights | set(added)
    return found


RIGHTS_OF: Final = _rights_of()


def roles_with(right: Right) -> list[UserRole]:
    """Return the roles that have a right, the least of them first."""
    return [role for role in UserRole if right in RIGHTS_OF[role]]


def require(right: Right, user_name: str, role: UserRole) -> None:
    """Raise `RightMissing` unless the role of this user has the right."""
    if right in RIGHTS_OF[role]:
        return
    *others, last = roles_with(right)
    roles = f"{', '.join(others)} or {last}" if others else last
    raise RightMissing(
        f"user {user_name} may not {right}",
        detail=f"The role of this user is {role}; this needs {roles}.",
        hint="Ask an administrator of your tenant to do it, or to change your role.",
    )
