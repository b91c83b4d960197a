"""The roles of users, and the rights that each role has."""

from collections.abc import Collection, Mapping
from enum import IntEnum, StrEnum
from typing import Final

from weft.core.errors import RightMissing


class Right(StrEnum):
    """What a route may need."""

    KNOW_ONESELF = "know-oneself"
    READ = "read"
    WRITE = "write"
    EXEC = "exec"
    OPERATE = "operate"
    MANAGE = "manage"
    ADMINISTER = "administer"
    WORK = "work"


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
    UserRole.USER: (Right.WRITE, Right.EXEC),
    UserRole.OPERATOR: (Right.OPERATE,),
    UserRole.TENANT_ADMIN: (Right.MANAGE,),
    UserRole.ADMIN: (Right.ADMINISTER, Right.WORK),
}


def _rights_of() -> Mapping[UserRole, frozenset[Right]]:
    found: dict[UserRole, frozenset[Right]] = {
        UserRole.WORKER: frozenset({Right.KNOW_ONESELF, Right.WORK})
    }
    rights: frozenset[Right] = frozenset()
    for role, added in _ADDED.items():
        found[role] = rights = rights | set(added)
    return found


RIGHTS_OF: Final = _rights_of()
_MEANS: Final[Mapping[Right, str]] = {
    Right.KNOW_ONESELF: "see or make their own tokens",
    Right.READ: "read batches, queues and workers",
    Right.WRITE: "submit or change jobs",
    Right.EXEC: "run commands beside running jobs",
    Right.OPERATE: "operate queues and conditions",
    Right.MANAGE: "change queues, users or projects of the tenant or read its secrets",
    Right.ADMINISTER: "change pools, workers, licences or tenants",
    Right.WORK: "run jobs as a worker",
}


def roles_with(right: Right) -> list[UserRole]:
    """Return the roles that have a right, the least of them first."""
    return [role for role in UserRole if right in RIGHTS_OF[role]]


def require(
    right: Right, user_name: str, role: UserRole, scopes: Collection[Right] | None = None
) -> None:
    """Raise `RightMissing` unless the role of this user has the right, and their token allows it:
    `scopes`; None: all that the role may.
    """
    if right not in RIGHTS_OF[role]:
        *others, last = roles_with(right)
        roles = f"{', '.join(others)} or {last}" if others else last
        raise RightMissing(
            f"user {user_name} may not {_MEANS[right]}",
            detail=f"The role of this user is {role}; this needs {roles}.",
            hint="Ask an administrator to do it.",
        )
    if not is_in_scope(right, scopes):
        raise RightMissing(
            f"this token may not {_MEANS[right]}",
            detail=f"Its scopes are {', '.join(scopes or ())}; this needs {right}.",
            hint=f"Use another token, or make one: `weft token create NAME --scope {right}`.",
        )


def is_in_scope(right: Right, scopes: Collection[Right] | None) -> bool:
    """Return whether a token with these scopes allows what its user may do."""
    return scopes is None or right == Right.KNOW_ONESELF or right in scopes


class Permission(IntEnum):
    """Each includes those before it. The numbers are those of the database."""

    READ = 1
    """See the batch and all that belongs to it."""
    EXECUTE = 2
    """Act on its jobs: cancel, hold, release, retry, send a signal."""
    WRITE = 3
    """Change it: edit it, add jobs, hide and delete it."""
    ALL = 4
    """Share it."""

    @property
    def word(self) -> str:
        """The name in documents and on the command line."""
        return self.name.lower()
