"""What submissions work with: the queues of tenants with their guards, remembered until a notice
tells of a change; and a submission on its way to rows: each step reads the draft and notes what
is wrong with it.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec

from weft.core.problems import Problems
from weft.core.queues import AskingRouter, Guard, Queue, Request, Route, compile_each_saved
from weft.core.queues.route import Key
from weft.ports.evaluation import Evaluates, EvaluatesNothing, TooCostly
from weft.ports.store import Caller, NewBatch, Reserved, Row
from weft.settings import Settings
from weft.store import ApiStore
from weft.submission.translation.context import DocumentContext
from weft.wire.documents.jobs import JobDocument
from weft.wire.sealed import SecretKeys

TENANTS_MAX: Final = 20_000
"""Tenants whose queues are known."""
FRESH_S: Final = 5.0
"""For how long queues count as known while nothing tells of changes."""
TOLD_S: Final = 600.0
"""For how long they count as known while notices do: a connection may be cut off unnoticed."""


class KnownQueues:
    """The queues of each tenant in the order of routing. One per application."""

    def __init__(
        self, store: ApiStore, evaluation: Evaluates, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store, self._evaluation = store, evaluation
        self._clock = clock
        self._known: dict[int, tuple[float, Sequence[Route]]] = {}
        self._fresh_s = FRESH_S
        self._epoch = 0

    async def of(self, caller: Caller) -> Sequence[Route]:
        """Return the queues of this caller's tenant in the order of routing, with their guards."""
        known = self._known.get(caller.tenant_id)
        if known is not None and self._clock() < known[0] + self._fresh_s:
            return known[1]
        read_at, epoch = self._clock(), self._epoch
        guards = {one.guard.text: one.guard for one in known[1] if one.guard} if known else {}
        rows = await self._store.list_queues(caller, with_counts=False)
        queues = [msgspec.convert(row, Queue) for row in rows]
        while new := [one.guard for one in queues if one.guard and one.guard not in guards]:
            read = await self._evaluation.each(caller.tenant_id, compile_each_saved, None, new)
            for text, one in zip(new, read, strict=True):
                if not isinstance(one, TooCostly):
                    guards[text] = one
                elif one.alone:  # the first is: those before it take nothing of its time
                    guards[text] = Guard(text, (), one.why)
        found = [Route(one, guards[one.guard] if one.guard else None) for one in queues]
        if epoch == self._epoch:  # else they may have been read before they changed
            if len(self._known) >= TENANTS_MAX:
                self._known.clear()
            self._known[caller.tenant_id] = (read_at, found)
        return found

    def forget(self, tenant_id: int) -> None:
        """Read the queues of a tenant again before the next job is routed."""
        self._epoch += 1
        self._known.pop(tenant_id, None)

    def trust_notices(self) -> None:
        """Forget all, and rely on notices from now on: earlier ones may have been missed."""
        self._epoch += 1
        self._known.clear()
        self._fresh_s = TOLD_S

    def doubt_notices(self) -> None:
        """Nothing tells of changes any more: what is known counts for a few seconds."""
        self._fresh_s = FRESH_S


WORKERS_FRESH_S: Final = 5.0
OWNERS_KEPT: Final = 10_000
UPDATES_KEPT: Final = 1000
QUESTIONS_KEPT: Final = 500
"""Kinds of requests for which it is known what guards say of jobs."""
Answer = dict[str, Any]
"""A document of an answer; its fields have several types."""


_Offers = Mapping[int | None, Sequence[Row]]
"""By tenant, what serves it; None: all tenants that have no pools of their own."""
_NEVER_READ: Final[tuple[float, _Offers]] = (0.0, {None: ()})


@dataclass(kw_only=True)
class SubmissionServices:
    """One per process that submits."""

    store: ApiStore
    settings: Settings
    secret_keys: Callable[[], SecretKeys] = field(default=SecretKeys, repr=False)
    """Reads the keys of secrets, which may be rotated while this serves."""
    evaluation: Evaluates = field(default_factory=EvaluatesNothing)
    """Evaluates what tenants wrote."""
    queues: KnownQueues = field(init=False)
    _workers: tuple[float, _Offers] = field(default=_NEVER_READ)
    _licences: tuple[float, Mapping[str, int]] = field(default=(0.0, {}))
    _owned: set[tuple[int, int, int]] = field(default_factory=set)
    _chosen: dict[object, dict[Key, str]] = field(default_factory=dict)
    _open_updates: dict[tuple[int, int, int], Reserved] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.queues = KnownQueues(self.store, self.evaluation)

    def asking_router(self, routes: Sequence[Route], request: Request) -> AskingRouter:
        """Return a router that knows what guards said of the like before."""
        router = AskingRouter(routes, request)
        if len(self._chosen) >= QUESTIONS_KEPT:
            self._chosen = {}
        router.recall(self._chosen.setdefault(router.question, {}))
        return router

    async def owner_of(self, caller: Caller, batch_id: int) -> str:
        """Return the user of a batch. Raise `BatchNotFound`. Owners are remembered, because they
        never change; others may see the batch no longer, and are looked at each time.
        """
        key = (caller.tenant_id, caller.user_id, batch_id)
        if key in self._owned:
            return caller.user_name
        owner = str((await self.store.get_batch(caller, batch_id))["user"])
        if owner == caller.user_name:
            if len(self._owned) >= OWNERS_KEPT:
                self._owned.clear()
            self._owned.add(key)
        return owner

    async def open_update(self, caller: Caller, batch_id: int, update_id: int) -> Reserved:
        """Return what an update of the caller's own batch has reserved. Open ones are remembered,
        because their numbers never change: it may be committed, or its batch deleted, by now.
        """
        key = (caller.tenant_id, batch_id, update_id)
        reserved = self._open_updates.get(key)
        if reserved is None:
            reserved = await self.store.get_update(caller, batch_id, update_id)
            if reserved.committed:
                return reserved
            if len(self._open_updates) >= UPDATES_KEPT:
                self._open_updates.clear()
            self._open_updates[key] = reserved
        return reserved

    def forget_update(self, caller: Caller, batch_id: int, update_id: int) -> None:
        """Read an update again: it is committed."""
        self._open_updates.pop((caller.tenant_id, batch_id, update_id), None)

    async def licences(self, *, fresh: bool = False) -> Mapping[str, int]:
        """Return how many there are of each licence; a few seconds old unless `fresh`."""
        now = time.monotonic()
        if now >= self._licences[0] or fresh:
            self._licences = (now + WORKERS_FRESH_S, await self.store.licence_limits())
        return self._licences[1]

    def forget_licences(self) -> None:
        """Read the licences again before the next job is checked."""
        self._licences = (0.0, {})

    async def workers(self, caller: Caller, *, fresh: bool = False) -> Sequence[Row]:
        """Return the capacities of the workers that serve the caller's tenant; a few seconds old
        unless `fresh`.
        """
        now = time.monotonic()
        if now >= self._workers[0] or fresh:
            pool = await self.store.pool_offers()
            # A first worker may be about to register, so "none" is not remembered.
            self._workers = (now + (WORKERS_FRESH_S if pool else 0), _by_tenant(pool))
        by_tenant = self._workers[1]
        return by_tenant.get(caller.tenant_id, by_tenant[None])


def _by_tenant(offers: Sequence[Row]) -> _Offers:
    """Return by tenant what serves it: what it has of its own, and what all share."""
    tenants = {None, *(offer["serves_tenant_id"] for offer in offers)}
    return {
        tenant: [offer for offer in offers if offer["serves_tenant_id"] in {None, tenant}]
        for tenant in tenants
    }


@dataclass
class Draft:
    """What one document asks for."""

    services: SubmissionServices
    caller: Caller
    target: NewBatch | int
    jobs: Sequence[JobDocument]
    context: DocumentContext
    problems: Problems

    @property
    def rare(self) -> Sequence[JobDocument]:
        """The jobs that may have what few jobs have: none if all are ordinary."""
        return self.context.rare(self.jobs)

    def learn(self, **known: object) -> None:
        """Note in the context what a step has found."""
        self.context = replace(self.context, **known)  # type: ignore[arg-type]  # its fields
