"""Deadlines and preemption, as rules of the machine that calls the core and its model."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from properties.jobs_model import RUN, Job, R
from properties.rules import Rules

_COME = """
    UPDATE weft.job_deadline SET latest_start = least(latest_start, now() - interval '1 s'),
        deadline = CASE WHEN $2 THEN now() - interval '1 s' ELSE deadline END,
        due_at = CASE WHEN due_at IS NOT NULL THEN now() - interval '1 s' END
    WHERE batch_id = ANY ($1)
"""


class StopRules(Rules):
    """Let deadlines come, and stop running jobs for others that wait."""

    def __init__(self) -> None:
        super().__init__()
        self.causes: set[tuple[int, int, int]] = set()
        """Batch, job and attempt of those that have preempted others."""
        self.deadline_has_come = False

    # ------------------------------------------------------------------ deadlines

    def deadline_of(self, which: int) -> dict[str, str]:
        """Return what the api says of a deadline."""
        now, past, later = datetime.now(UTC), timedelta(minutes=-1), timedelta(hours=1)
        start = past if self.models[which].is_late else later
        end = past if self.deadline_has_come else later
        return {
            "deadline": (now + max(start, end)).isoformat(),
            "latest_start": (now + start).isoformat(),
        }

    @rule(limit=st.sampled_from([1, 3, 1000]), ends=st.sampled_from([False, False, True]))
    def come_to_deadlines(self, limit: int, *, ends: bool) -> None:
        """Let the latest start or the deadline itself come, and the driver look."""
        self.deadline_has_come = self.deadline_has_come or ends
        self.run(self.world.admin.execute(_COME, self.ids, self.deadline_has_come))
        for model in self.models:
            model.is_late = True
        self.look_at_deadlines(limit)

    @precondition(lambda self: any(model.is_late for model in self.models))
    @rule(limit=st.sampled_from([1, 3, 1000]))
    def look_at_deadlines(self, limit: int) -> None:
        epoch = self.run(self.world.lead())
        while self.run(self.world.driver.sweep("sweep_deadlines", epoch, limit_jobs=limit)):
            pass
        for model in self.models:
            due = [job for job in model.jobs.values() if job.has_deadline and model.is_late]
            model.end_late(due)
            for job in due:
                job.late_asked = job.late_asked or (
                    self.deadline_has_come and job.state == RUN and not job.cancel_asked
                )

    # ------------------------------------------------------------------ preemption

    @rule(
        waiting=st.tuples(st.integers(0, 1), st.integers(0, 20)),
        choices=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 20)), min_size=1, max_size=4),
    )
    def preempt(self, waiting: tuple[int, int], choices: list[tuple[int, int]]) -> None:
        """Stop some jobs, of which perhaps none runs, for another one, which perhaps waits."""
        cause, *others = [self._chosen(which, choice) for which, choice in [waiting, *choices]]
        chosen = {(batch, job.number): job for batch, job in others}
        n_stopped = self.run(
            self.world.driver.preempt_jobs(
                self.run(self.world.lead()),
                (cause[0], cause[1].number),
                [(*key, job.attempt) for key, job in chosen.items()],
                wait_s=0,
            )
        )
        mark = (cause[0], cause[1].number, cause[1].n_runs)
        stopped = [
            job
            for job in chosen.values()
            if job.state == RUN
            and job.is_preemptible
            and not job.is_stopped
            and job is not cause[1]
            and (cause[1].state == R or job.owner == cause[1].owner)
        ]
        waits = cause[1].state == R or (cause[1].state == RUN and not cause[1].started)
        if not waits or mark in self.causes:
            stopped = []
        assert n_stopped == len(stopped)
        if stopped:
            self.causes.add(mark)
        for job in stopped:
            job.is_stopped = job.was_preempted = job.is_shut = True

    def _chosen(self, which: int, choice: int) -> tuple[int, Job]:
        jobs = [*self.models[which].jobs.values()]
        live = [job for job in jobs if job.state == RUN] or jobs
        running = choice % 3
        some = live if running else jobs
        return self.ids[which], some[choice % len(some)]
