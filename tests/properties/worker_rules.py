"""Cordons and drains, and what retries ask for, checked at each claim: rules of the machine that
calls the core and its model.
"""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from builders import key_of
from properties.drawn_jobs import Feature
from properties.gate_rules import WORKERS
from properties.job_gate_rules import JobGateRules
from store.world import Worker
from weft.core.scheduling.time_limits import limit_class
from weft.ports.store import Claimed

CHANGES = ("cordon", "drain", "uncordon")
OPERATED = {"cordon": "cordoned", "drain": "draining", "uncordon": "active"}


class WorkerRules(JobGateRules):
    """Cordon, drain and uncordon workers, beside all else."""

    dying: list[tuple[int, Claimed]]
    ended: list[Any]

    def __init__(self) -> None:
        super().__init__()
        self.operated = dict.fromkeys(WORKERS, "active")

    def register(self, number: int, *, again: int = 0) -> Worker:
        raise NotImplementedError

    @rule(owner=st.sampled_from(WORKERS), change=st.sampled_from(CHANGES))
    def operate(self, owner: int, change: str) -> None:
        before = self.operated[owner]
        wanted = OPERATED[change]
        is_new = before != wanted and (before, change) != ("draining", "cordon")
        call = getattr(self.world.api, f"{change}_worker")
        more = {} if change == "uncordon" else {"reason": "a test"}
        found = self.run(call(self.world.caller, f"w{owner}", self.world.pool, **more))
        assert found == is_new
        if is_new:
            self.operated[owner] = wanted

    @rule(owner=st.sampled_from(WORKERS))
    def finish_drain(self, owner: int) -> None:
        """Ask to end; a worker that may is started again."""
        worker = self.workers[owner]
        has_some = any(who == owner for who, _one in [*self.held.values(), *self.dying])
        may_end = self.operated[owner] == "draining" and not has_some
        assert self.run(worker.store.finish_drain(worker.id)) == may_end
        if may_end:
            self.operated[owner] = "active"
            self.workers[owner] = self.register(owner, again=worker.id)
            self.ended = [one for one in self.ended if one[0] != owner]

    @rule(owner=st.sampled_from(WORKERS))
    def sleep(self, owner: int) -> None:
        """From now on submissions may claim for this worker, whenever it waits."""
        self.run(self.workers[owner].waits(takes=True))

    def note_leave(self, owner: int) -> None:
        """Note that a worker left in order: that ends its drain."""
        if self.operated[owner] == "draining":
            self.operated[owner] = "active"

    @invariant()
    def workers_are_as_in_the_model(self) -> None:
        rows = self.run(
            self.world.api.list_workers(self.world.caller, with_deleted=False, limit=100_000)
        )
        found = {row["worker"]: row["state"] for row in rows if row["pool"] == self.world.pool}
        assert found == {f"w{owner}": state for owner, state in self.operated.items()}

    def uncordon_all(self) -> None:
        """Leave no worker cordoned."""
        for owner in WORKERS:
            self.operate(owner, "uncordon")

    def offers(self, owner: int) -> list[tuple[int, int]]:
        return super().offers(owner) if self.operated[owner] == "active" else []

    def note_claim(
        self, owner: int, claimed: Sequence[Claimed], expected: Sequence[tuple[int, int]] | None
    ) -> None:
        assert not claimed or self.operated[owner] == "active"
        super().note_claim(owner, claimed, expected)


_CLASSES = """
    SELECT t.b, t.j, l.asks ->> 'timeout_s' AS class FROM unnest($1::bigint[], $2::int[]) t (b, j)
    JOIN weft.job j ON j.batch_id = t.b AND j.job_id = t.j JOIN weft.lane l USING (lane_id)
"""


class MoreRules(WorkerRules):
    """Compare the time limits of attempts; how much memory they have stands in the claim."""

    def note_claim(
        self, owner: int, claimed: Sequence[Claimed], expected: Sequence[tuple[int, int]] | None
    ) -> None:
        super().note_claim(owner, claimed, expected)
        if claimed and Feature.MORE in self.features:
            self.run(self._compare_limits(owner, claimed))

    async def _compare_limits(self, owner: int, claimed: Sequence[Claimed]) -> None:
        keys = [key_of(one) for one in claimed]
        limits = {key: self.models[self.ids.index(key[0])].jobs[key[1]].limit_s for key in keys}
        told = await self.workers[owner].store.list_time_limits(keys)
        assert dict(told) == {key: one * 1000 for key, one in limits.items() if one is not None}
        rows = await self.world.admin.fetch(_CLASSES, [k[0] for k in keys], [k[1] for k in keys])
        assert {(row["b"], row["j"]): row["class"] for row in rows} == {
            key[:2]: limit_class(one) for key, one in limits.items()
        }
