"""The limit of a billing project, as rules of the machine that calls the core and its model."""

from decimal import Decimal

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from properties.hold_rules import HoldRules
from properties.jobs_model import RUN, Batch, R
from weft.core.billing.spending import Stage

SWEEPS = ("apply_limits", "weigh_users")
MUCH = 1_000_000
"""A limit, and a room below it, which nothing here reaches."""


class MoneyRules(HoldRules):
    """Let the project of all batches come near its limit or reach it, and raise it."""

    limit_id = 0

    @rule(to=st.sampled_from(["below", "near", "reached"]))
    def limit_project(self, *, to: str) -> None:
        """At its limit what runs is stopped, which brings it no nearer to its last loss."""
        patch = {"cost_max": {"below": None, "near": MUCH, "reached": 0}[to]}
        self.run(self.world.api.change_project(self.world.caller, "default", patch))
        epoch, driver = self.run(self.world.lead()), self.world.driver
        stage = Stage.REACHED if to == "reached" else Stage.BELOW
        for one in self.run(driver.limit_rounds(epoch)):
            if one.is_new:
                assert self.run(driver.judge_limit(epoch, one, stage, near=to == "near"))
                self.limit_id = one.limit_id
        for function in SWEEPS:
            while self.run(driver.sweep(function, epoch, limit_jobs=3)):
                pass
        for model in self.models:
            was_near, model.is_near, model.is_paused = model.is_near, to == "near", to == "reached"
            for job in model.jobs.values():
                if not (was_near and model.is_near):
                    job.admitted = 0
                if to == "reached" and job.state == RUN and not job.is_stopped:
                    job.is_stopped, job.lost = True, max(0, job.lost - 1)

    @precondition(lambda self: any(model.is_near for model in self.models))
    @rule()
    def admit(self) -> None:
        """Let all start that waits for the limit, which has room for it."""
        epoch, rooms = self.run(self.world.lead()), {self.limit_id: Decimal(MUCH)}
        admit = self.world.driver.admit_at_limits
        (found,) = self.run(admit(epoch, rooms, limit_jobs=1000))
        assert not found.is_short
        assert found.n_admitted == sum(_admitted(model) for model in self.models)

    def release_all(self) -> None:
        """Leave nothing held or paused."""
        self.limit_project(to="below")
        super().release_all()


def _admitted(model: Batch) -> int:
    """Let all start that wait for nothing but a limit which is near; return how many."""
    waiting = [
        j
        for j in model.jobs.values()
        if j.state == R
        and not model.is_cancelled(j)
        and not model.is_held(j)
        and not j.is_late
        and j.admitted <= j.attempt
    ]
    for job in waiting:
        job.admitted = job.attempt + 1
    return len(waiting)
