"""Counters, costs and completions of groups, beside the model after each step."""

from hypothesis.stateful import invariant, rule

from properties.jobs_model import S
from properties.rules import Rules

NAMES = (
    "pending",
    "ready",
    "queued",
    "creating",
    "running",
    "blocked",
    "succeeded",
    "failed",
    "errored",
    "cancelled",
)
CPU_M = 1000
"""Of each job."""
_RUNS = """
    SELECT j.batch_id, j.job_id, count(a.started_at) AS n_runs,
        CASE j.state WHEN 4 THEN j.billed_ms ELSE 0 END
            + coalesce(sum(weft._ms_between(a.started_at, a.ended_at)), 0) AS ms
    FROM weft.job j LEFT JOIN weft.attempt a USING (batch_id, job_id)
    WHERE j.batch_id = ANY ($1) GROUP BY 1, 2
"""
_COMPLETIONS = """
    SELECT c.batch_id, c.group_id, count(*) AS n_completions, (
        SELECT count(*) FROM weft.event e WHERE e.batch_id = c.batch_id
            AND e.kind IN ('batch.complete', 'group.complete') AND c.group_id = ANY (e.groups)
        ) AS n_events
    FROM weft.group_completion c WHERE c.batch_id = ANY ($1) GROUP BY 1, 2
"""


class LedgerRules(Rules):
    """Fold, and compare what is derived from ends."""

    @rule()
    def fold(self) -> None:
        self.run(self.world.fold())
        for model in self.models:
            model.fold()

    @invariant()
    def completions_are_recorded_once(self) -> None:
        """And each is told."""
        rows = self.run(self.world.admin.fetch(_COMPLETIONS, self.ids))
        for batch, model in zip(self.ids, self.models, strict=True):
            found = {
                row["group_id"]: row["n_completions"] for row in rows if row["batch_id"] == batch
            }
            assert found == model.n_completions
        assert all(row["n_events"] == row["n_completions"] for row in rows)

    @invariant()
    def counters_and_costs_are_exact(self) -> None:
        """Each attempt that ran counts once in all groups of its job."""
        ms = self._ms_by_job()
        for batch_id, model in zip(self.ids, self.models, strict=True):
            groups = self.run(
                self.world.api.list_groups(self.world.caller, batch_id, after=-1, limit=1000)
            )
            for group in groups:
                number = group["group_id"]
                counts = model.counts(number)
                found = {
                    s: group[f"n_{name}"] for s, name in enumerate(NAMES) if group[f"n_{name}"]
                }
                assert found == counts
                assert group["complete"] == all(state >= S for state in counts)
                ancestors = model.ancestors(number)
                assert group["cancelled"] == bool(model.cancelled.keys() & {0, *ancestors})
                assert group["state"] == model.state_of(number)
                assert group["held"] == bool(model.held & {0, *ancestors})
                jobs = [job for job in model.jobs.values() if number in model.groups_of(job)]
                ran_ms = sum(ms.get((batch_id, job.number), 0) for job in jobs)
                usage = {one["resource"]: one["usage"] for one in group["cost_by_resource"]}
                assert usage.get("cpu", 0) == ran_ms * CPU_M

    def _ms_by_job(self) -> dict[tuple[int, int], int]:
        """Return how long the attempts of jobs ran; they are those of the model."""
        rows = self.run(self.world.admin.fetch(_RUNS, self.ids))
        n_runs = {(row["batch_id"], row["job_id"]): row["n_runs"] for row in rows}
        for batch_id, model in zip(self.ids, self.models, strict=True):
            for number, job in model.jobs.items():
                assert n_runs.get((batch_id, number), 0) == job.n_runs
        return {(row["batch_id"], row["job_id"]): int(row["ms"]) for row in rows}
