"""Deletions, as rules of the machine that calls the core and its model."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from properties.jobs_model import Batch
from properties.money_rules import MoneyRules
from store.batch_steps import delete, operation_of, rows_of, step
from store.world import Worker
from weft.core.states import Reason
from weft.ports.store import Claimed

DELETIONS_MAX = 3


class DeleteRules(MoneyRules):
    """Delete a batch, put a new one in its place, and remove the old one beside all else."""

    workers: list[Worker]
    held: dict[tuple[int, int], tuple[int, Claimed]]
    ended: list[tuple[int, Claimed, Reason | None]]
    open: list[Any]

    def __init__(self) -> None:
        super().__init__()
        self.deleted: list[tuple[int, int]] = []
        """Batch and operation."""
        self.dying: list[tuple[int, Claimed]] = []
        """Attempts of deleted batches whose end was not reported yet, with their worker."""

    def failures_max(self, which: int) -> dict[int, int]:
        raise NotImplementedError

    def make_batch(self, which: int) -> int:
        """Make an empty batch."""
        most = self.failures_max(which).get(0)
        return self.run(self.world.submit(0, max_running=None, cancel_after_n_failures=most))

    def forget(self, which: int, new_batch: int | None = None) -> None:
        """Delete a batch, and have a new or an empty one and an empty model in its place."""
        batch = self.ids[which]
        self.deleted.append((batch, self.run(delete(self.world, batch))))
        for place in [place for place in self.held if place[0] == which]:
            self.dying.append(self.held.pop(place))
        self.ended = [one for one in self.ended if one[1].batch_id != batch]
        self.open = [one for one in self.open if one[0] != which]
        self.ids[which] = new_batch or self.make_batch(which)
        self.models[which] = Batch(
            is_closed=self.models[which].is_closed,
            is_paused=self.models[which].is_paused,
            is_near=self.models[which].is_near,
        )

    @precondition(lambda self: self.dying)
    @rule()
    def end_what_ran(self) -> None:
        """Report the end of what ran when its batch was deleted."""
        for owner, one in self.dying:
            verdicts = self.run(self.workers[owner].end(one, reason=Reason.CANCELLED))
            assert verdicts == ["ok"]
        self.dying.clear()

    @precondition(lambda self: self.deleted)
    @rule(limit=st.sampled_from([1, 3, 1000]), steps=st.sampled_from([1, 3, 10]))
    def remove(self, limit: int, steps: int) -> None:
        for _batch, operation_id in self.deleted:
            for _ in range(steps):
                if not self.run(step(self.world, operation_id, limit)):
                    break

    def remove_all(self) -> None:
        """Let nothing be left of what was deleted."""
        self.end_what_ran()
        for batch, operation_id in self.deleted:
            for _ in range(10_000):
                if self.run(operation_of(self.world, operation_id))["state"] != "running":
                    break
                if not self.run(step(self.world, operation_id)):
                    self.run(self.world.sweep())
                    self.park(1000, 1000)
                    self.run(self.world.fold())
            assert self.run(rows_of(self.world, batch)) == {}
