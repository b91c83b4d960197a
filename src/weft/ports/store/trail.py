"""The trail: which requests change something, and the calls of the api about it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID, uuid4

from weft.ports.store.callers import Caller
from weft.ports.store.submitted import UNKEYED, Origin


@dataclass(frozen=True, kw_only=True)
class Action:
    """What somebody asks for by one request: what the trail says of it."""

    caller: Caller
    name: str
    """That of the operation in `/openapi.json`."""
    path: str
    trace_id: str
    address: str | None = None
    """Where it came from; None: from no network."""
    batch_id: int | None = None
    """None: it is about no batch, or makes one."""
    refused: str | None = None
    """The code of the error with which it was refused."""
    origin: Origin = UNKEYED
    """By what a repeat of it is known."""
    request_id: UUID = field(default_factory=uuid4)
    """A request has one entry, however many calls of the store it takes."""

    def row(self) -> dict[str, Any]:
        """Return it as the functions of the trail take it."""
        return {
            "request_id": self.request_id,
            "tenant_id": self.caller.tenant_id,
            "user_id": self.caller.user_id,
            "user_name": self.caller.user_name,
            "token_id": self.caller.token_id or None,
            "address": self.address,
            "trace_id": self.trace_id,
            "action": self.name,
            "path": self.path,
            "batch_id": self.batch_id,
            "refused": self.refused,
        }


@dataclass(frozen=True)
class LoginOwner:
    """Whose a login was, as far as that is known."""

    tenant_id: int | None = None
    user_id: int | None = None
    user_name: str | None = None
    tenant: str | None = None
    """The tenant's name, if its number is not known."""
    is_expired: bool = False
    """Whether it was good once, and only its time is over."""


@dataclass(frozen=True, kw_only=True)
class FailedLogin:
    """A login that failed, or several that are alike: what the trail says of them."""

    owner: LoginOwner
    name: str
    """That of the operation, or `authenticate`."""
    path: str
    trace_id: str
    address: str | None
    """None: from several."""
    refused: str
    times: int = 1
    request_id: UUID = field(default_factory=uuid4)

    def row(self) -> dict[str, Any]:
        """Return it as the functions of the trail take it."""
        return {
            "request_id": self.request_id,
            "tenant_id": self.owner.tenant_id,
            "tenant": self.owner.tenant,
            "user_id": self.owner.user_id,
            "user_name": self.owner.user_name,
            "address": self.address,
            "trace_id": self.trace_id,
            "action": self.name,
            "path": self.path,
            "refused": self.refused,
            "times": self.times,
        }


ACTION: Final[ContextVar[Action | None]] = ContextVar("action", default=None)
"""The request that is served. The store adds it to the trail in the transaction of the first call
that changes anything; None: nothing is added.
"""


@contextmanager
def acting(action: Action | None) -> Iterator[None]:
    """Do what no request asks for, and let the trail say so; None: it says nothing."""
    before = ACTION.set(action)
    try:
        yield
    finally:
        ACTION.reset(before)


@dataclass(frozen=True, kw_only=True)
class TrailQuery:
    """Which entries are asked for; None: whatever it is."""

    user: str | None = None
    action: str | None = None
    batch_id: int | None = None
    number: int | None = None
    since: datetime | None = None
