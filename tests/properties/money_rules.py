"""The limit of a billing project, as rules of the machine that calls the core and its model."""

from hypothesis import strategies as st
from hypothesis.stateful import rule

from properties.hold_rules import HoldRules
from properties.jobs_model import RUN
from weft.core.spending import stage_of

SWEEPS = ("apply_limits", "weigh_users")


class MoneyRules(HoldRules):
    """Let the project of all batches reach its limit, and raise it."""

    @rule(reached=st.booleans())
    def limit_project(self, *, reached: bool) -> None:
        """What runs is stopped, which brings it no nearer to its last loss."""
        patch = {"cost_max": 0 if reached else None}
        self.run(self.world.api.change_project(self.world.caller, "default", patch))
        epoch, driver = self.run(self.world.lead()), self.world.driver
        for one in self.run(driver.limit_rounds(epoch)):
            if one.is_new:
                stage = stage_of(one.spending, is_new=True, lookahead_s=1)
                assert self.run(driver.judge_limit(epoch, one, stage))
        for function in SWEEPS:
            while self.run(driver.sweep(function, epoch, limit_jobs=3)):
                pass
        for model in self.models:
            model.is_paused = reached
            for job in model.jobs.values():
                if reached and job.state == RUN and not job.is_stopped:
                    job.is_stopped, job.lost = True, max(0, job.lost - 1)

    def release_all(self) -> None:
        """Leave nothing held or paused."""
        self.limit_project(reached=False)
        super().release_all()
