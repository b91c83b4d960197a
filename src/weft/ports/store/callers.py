"""Callers of the store, and the rows it returns."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from weft.core.access.rights import RIGHTS_OF, Permission, Right, UserRole, is_in_scope
from weft.wire.sealed import SecretRow


@dataclass(frozen=True)
class Visit:
    """Where an administrator of the site looks who looks into another tenant."""

    tenant: str
    home_id: int
    """The number of their own tenant."""
    user_name: str
    """What that calls them; the other one knows them by another name, and may have a user with
    this.
    """


class WorkTerms(NamedTuple):
    """What the token of a worker outside allows."""

    pool: str
    names: str
    """The names that the worker may have, with * and ?."""


@dataclass(frozen=True)
class Caller:
    """A user of a tenant who makes a call."""

    tenant_id: int
    user_id: int
    user_name: str
    role: UserRole = UserRole.USER
    token_id: int = 0
    """0: the token is of another issuer. That of a session if they have `csrf_token`."""
    expires_at: float | None = field(default=None, compare=False)
    """When their token ends, in seconds since 1970; None: it does not. Streams of visits end
    sooner, to be asked for again.
    """
    scopes: frozenset[Right] | None = None
    """What the token is for; None: all that the role may do."""
    csrf_token: str | None = field(default=None, repr=False)
    """What a browser must send along to change something; None: no browser's session is used."""
    known_at: float = field(default=math.inf, compare=False)
    """When they were looked up, by the monotonic clock."""
    needs: Permission = Permission.ALL
    """What the present request needs to be allowed on a batch; its route says it."""
    as_member: bool = False
    """Whether the present request shows batches to members only, whatever the role of the caller;
    its route says it.
    """
    in_turn: bool = field(default=True, compare=False)
    """Whether their calls wait for others of theirs; loops that serve everybody must not."""
    visit: Visit | None = None
    """They are a visitor of this tenant, and only read; None: they belong to it."""
    work: WorkTerms | None = None
    """Their token is for workers outside; None: it is not."""

    @property
    def sees_tenant(self) -> bool:
        """Whether their role shows them the batches of everybody in the tenant."""
        return not self.as_member and Right.OPERATE in RIGHTS_OF[self.role]

    def is_meant(self, told: int) -> bool:
        """Say whether a notice is about them: it has a token's number, or minus a user's."""
        return told in (self.token_id, -self.user_id)

    def may(self, right: Right) -> bool:
        """Return whether their role has this right and their token allows it."""
        return right in RIGHTS_OF[self.role] and is_in_scope(right, self.scopes)

    def lasting(self, valid_s: float | None = None) -> float | None:
        """Return for how many seconds what they make is good: for this time, and no longer than
        their token; None: it does not end.
        """
        if self.expires_at is None:
            return valid_s
        left_s = max(0.0, self.expires_at - time.time())
        return left_s if valid_s is None else min(valid_s, left_s)

    @property
    def rights(self) -> Sequence[Right]:
        """What they may do, but for what everybody may."""
        return [right for right in Right if right != Right.KNOW_ONESELF and self.may(right)]


Row = Mapping[str, Any]
"""A row as the SQL function returns it; the names are those of the documents."""


@dataclass(frozen=True)
class Visited:
    """A tenant into which an administrator of the site looks."""

    tenant_id: int
    tenant: str
    """Its name."""
    user_name: str
    """What its trail calls them: it may have a user with their name."""


class Notified(NamedTuple):
    """Jobs with open subscriptions that the next events are about."""

    xid: int
    event_id: int
    """The position after these events."""
    behind: bool
    """There is more, now or when older writers have committed."""
    removed: bool
    """Events were removed before they were looked at: go by numbers of batches first."""
    jobs: Sequence[Row]
    """`door`; `told`, as `find_door_job` returns it; `subscriptions`: `id`, `url`, `event`, and
    the `keys` of events that are recorded.
    """


Sealed = tuple[SecretRow, bytes]
"""A secret of any tenant, as it is stored."""
