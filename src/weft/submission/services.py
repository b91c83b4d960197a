"""What submissions work with, and a submission on its way to rows: each step reads the draft and
notes what is wrong with it.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from weft.core.problems import Problems
from weft.core.queues import AskingRouter, Request, Route
from weft.core.queues.route import Key
from weft.ports.evaluation import Evaluates, EvaluatesNothing
from weft.ports.store import Caller, NewBatch, Reserved, Row
from weft.settings import Settings
from weft.store import ApiStore
from weft.submission.known_queues import KnownQueues
from weft.submission.translation.context import DocumentContext
from weft.wire.documents.batches import JobDocument
from weft.wire.sealed import SecretKeys

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
