"""Make jobs of the items of sources, as their owners, when a driver has found them.

Each api does so; the database gives a source to one of them. What becomes of items is decided and
stored first, with the documents of their jobs; then these are submitted under a key of that set.
An api that dies on the way is replaced by another when its time is over: it submits the same set
under the same key, so that no item becomes two jobs.
"""

import hashlib
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, Final

import msgspec

from weft.api.services import Services
from weft.api.use_cases.due_work import DueWork, defect
from weft.core import errors
from weft.core.access.rights import Right, require
from weft.core.ids import format_batch_id
from weft.ports.shared_room import SharedRoom
from weft.ports.store import Action, Notices, Origin, acting
from weft.ports.store.sources import Decision, TakenItem, TakenSource, Target
from weft.submission import submit
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.telemetry.metrics import ITEMS_DECIDED, ITEMS_LATE
from weft.telemetry.trace import new_trace_id
from weft.wire.documents.batches import BatchDocument
from weft.wire.documents.updates import UpdateDocument
from weft_lines.calls.item_decisions import decide, late_of, wrong_jobs

ITEMS_AT_ONCE: Final = 500
ASKING_AT_ONCE: Final = 20
"""Sources whose items ask others."""
LEASE_S: Final = 60.0
"""After this time another api goes on with a source that this one has not let go."""
FULL_WAIT_S: Final = 15.0
ROOM_WAIT_S: Final = 1.0
"""Until a source is looked at again whose tenant asks as much as it may."""
REFUSED_WAIT_S: Final = 60.0
_DEFECT: Final = defect("jobs of items could not be made", "; the source is tried again")

Decode = Callable[[bytes, type[Any]], Any]
"""Reads a document as a request is read."""


class SourceItems(DueWork):
    """Makes jobs of what waits, until cancelled."""

    channel = "sources"
    failed_event = "items.failed"

    def __init__(self, services: Services, notices: Notices, decode: Decode) -> None:
        super().__init__(notices)
        self._services = services
        self._decode = decode
        self._room = SharedRoom(ASKING_AT_ONCE)

    async def submit_due(self) -> float | None:
        """Make jobs of all items that wait and that no other api has."""
        store = self._services.store
        while taken := await store.take_source(limit=ITEMS_AT_ONCE, lease_s=LEASE_S):
            if "let" not in taken.template.get("configure", {}):
                await self._serve_one(taken)
                continue
            tenant_id = taken.owner.tenant_id
            if not self._room.has(tenant_id):  # those of others, and that ask nobody, go on
                await store.postpone_items(taken, None, ROOM_WAIT_S)
                continue
            self.begin(self._serve_asking(taken))
        return await store.next_source_work()

    async def _serve_asking(self, taken: TakenSource) -> None:
        async with self._room.of(taken.owner.tenant_id):
            await self._serve_one(taken)

    async def _serve_one(self, taken: TakenSource) -> None:
        try:
            await self._make_jobs(taken)
        except errors.Unavailable:
            raise
        except Exception as error:
            known = error if isinstance(error, errors.WeftError) else _DEFECT
            if known is not error:
                log.exception("items.failed", source=taken.name)
            full = isinstance(known, errors.QuotaExceeded | errors.QueueFull)
            wait_s = FULL_WAIT_S if full else REFUSED_WAIT_S
            said = f"{known.message}: {known.detail}" if known.detail else known.message
            log.warning("items.postponed", source=taken.name, error=said, wait_s=wait_s)
            await self._services.store.postpone_items(taken, said, wait_s)

    async def _make_jobs(self, taken: TakenSource) -> None:
        """Decide what is new, and submit what is ready."""
        require(Right.WRITE, taken.owner.user_name, taken.owner.role)  # it may have changed since
        store = self._services.store
        if taken.items and taken.items[0].document is not None:
            target: Target | None = Target(
                taken.bunch, taken.batch_id, taken.batch_day or date.min
            )
            ready = [(one, {**(one.document or {})}) for one in taken.items]
        else:
            decisions = await decide(self._services, taken, taken.items)
            ready = _ready(taken.items, decisions)
            target = await self._keep(taken, decisions) if decisions else None
            for decision in decisions:
                ITEMS_DECIDED.labels(decision.state).inc()
        while ready and target is not None:
            try:
                await self._submit(taken, target, [document for _, document in ready])
            except (errors.BatchNotFound, errors.BatchCancelled):
                target = await store.decide_items(taken, _again(ready))
            except (errors.QuotaExceeded, errors.QueueFull):
                if len(ready) == 1:
                    raise
                ready, target = await self._halve(taken, ready)
            except errors.Invalid as error:
                ready, target = await self._refuse(taken, ready, error)
            else:
                return
        await store.end_items(taken, None, ())

    async def _keep(self, taken: TakenSource, decisions: Sequence[Decision]) -> Target | None:
        """Store what becomes of items, and of what was decided after those that come late."""
        late = late_of(taken)
        target = await self._services.store.decide_items(taken, decisions, reruns=late == "rerun")
        if target is not None and target.n_late:
            ITEMS_LATE.labels(late).inc(target.n_late)
            tell = log.warning if late == "warn" else log.info
            tell("items.late", source=taken.name, items=target.n_late, again=target.n_again)
        return target

    async def _submit(
        self, taken: TakenSource, target: Target, documents: Sequence[dict[str, Any]]
    ) -> None:
        """Submit the jobs of a set, once however often it is called, and record them."""
        owner = taken.owner
        key = f"source {taken.source_id} {target.bunch}"
        origin = Origin(
            digest=hashlib.sha256(key.encode()).digest(), trace_id=new_trace_id(), key=key
        )
        path = f"/v1/sources/{taken.name}"
        action = Action(caller=owner, name="run_source", path=path, trace_id=origin.trace_id)
        with acting(action):
            answer = await self._send(taken, target, documents, origin)
        batch_id, first = int(answer["batch_id"]), int(answer["first_job"])
        job_ids = answer.get("job_ids") or range(first, first + len(documents))
        await self._services.store.end_items(taken, batch_id, job_ids)
        log.info(
            "items.submitted",
            source=taken.name,
            batch=format_batch_id(batch_id),
            jobs=len(documents),
            user=owner.user_name,
        )

    async def _send(
        self,
        taken: TakenSource,
        target: Target,
        documents: Sequence[dict[str, Any]],
        origin: Origin,
    ) -> Answer:
        if target.batch_id is not None:
            body = msgspec.json.encode({"jobs": documents})
            update: UpdateDocument = self._decode(body, UpdateDocument)
            answer, _ = await submit.create_update(
                self._services, taken.owner, target.batch_id, update, origin
            )
            return answer
        day = target.batch_day.isoformat()
        whole = {
            "name": f"{taken.name} {day}",
            "billing_project": taken.billing_project,
            "lifecycle": taken.lifecycle,
            "sink": taken.template.get("sink"),
            "attributes": {"source": taken.name, "day": day},
            "jobs": documents,
        }
        batch: BatchDocument = self._decode(msgspec.json.encode(whole), BatchDocument)
        answer, _ = await submit.create_batch(self._services, taken.owner, batch, origin)
        return answer

    async def _halve(
        self, taken: TakenSource, ready: Sequence[tuple[TakenItem, Any]]
    ) -> tuple[list[tuple[TakenItem, Any]], Target | None]:
        """Let the newer half wait, because there is no room for all."""
        half = (len(ready) + 1) // 2
        left = [*ready[:half]]
        waiting = [
            Decision(
                one.n,
                "waiting",
                reason="there is no room: a quota or a queue is full",
                due_in_s=FULL_WAIT_S,
            )
            for one, _ in ready[half:]
        ]
        return left, await self._services.store.decide_items(taken, [*_again(left), *waiting])

    async def _refuse(
        self, taken: TakenSource, ready: Sequence[tuple[TakenItem, Any]], error: errors.Invalid
    ) -> tuple[list[tuple[TakenItem, Any]], Target | None]:
        """Refuse the items that an error names; the others go on. Raise it if it names none."""
        wrong = wrong_jobs(error)
        if not wrong:
            raise error
        refused = [Decision(ready[at][0].n, "refused", reason=why) for at, why in wrong.items()]
        left = [pair for at, pair in enumerate(ready) if at not in wrong]
        ITEMS_DECIDED.labels("refused").inc(len(refused))
        return left, await self._services.store.decide_items(taken, [*_again(left), *refused])


def _ready(
    items: Sequence[TakenItem], decisions: Sequence[Decision]
) -> list[tuple[TakenItem, Any]]:
    by_number = {one.n: one for one in items}
    return [(by_number[d.n], d.document) for d in decisions if d.state == "ready"]


def _again(ready: Sequence[tuple[TakenItem, Any]]) -> list[Decision]:
    return [Decision(item.n, "ready", document=document) for item, document in ready]
