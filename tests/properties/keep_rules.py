"""Workers that are kept for a job, as rules of the machine that calls the core and its model."""

from hypothesis import strategies as st
from hypothesis.stateful import rule

from properties.gate_rules import LANES, WORKERS
from properties.hold_rules import BATCHES
from properties.jobs_model import RUN, R
from properties.worker_rules import WorkerRules
from weft.core.pools.keep import Keep


class KeepRules(WorkerRules):
    """Keep a worker for a job, and let it claim that job before all others."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[int, tuple[int, int]] = {}
        """Batch and job by incarnation."""

    def waits(self, kept: tuple[int, int]) -> bool:
        """Say whether the job for which a worker is kept is ready."""
        batch, number = kept
        return batch in self.ids and self.models[self.ids.index(batch)].jobs[number].state == R

    def _holds(self, incarnation: int) -> bool:
        batch, number = self.kept[incarnation]
        if batch not in self.ids:  # it was deleted
            return False
        model = self.models[self.ids.index(batch)]
        job = model.jobs[number]
        is_here = job.owner is not None and self.workers[job.owner].id == incarnation
        may_start = not (
            model.is_held(job) or model.is_cancelled(job) or model.waits_for_limit(job)
        )
        return (job.state == R and may_start) or (job.state == RUN and not job.started and is_here)

    @rule(
        owner=st.sampled_from(WORKERS), which=st.sampled_from(BATCHES), choice=st.integers(0, 20)
    )
    def keep(self, owner: int, which: int, choice: int) -> None:
        epoch = self.run(self.world.lead())
        self.run(self.world.driver.reserve_rounds(epoch, after_s=3600))
        live = {worker.id for worker in self.workers}
        self.kept = {one: of for one, of in self.kept.items() if one in live and self._holds(one)}
        jobs = self.models[which].jobs.values()
        able = [j.number for j in jobs if j.state == R and j.lane in LANES[owner]]
        if not able:
            return
        worker, chosen = self.workers[owner].id, (self.ids[which], able[choice % len(able)])
        is_new = worker not in self.kept and chosen not in self.kept.values()
        added = self.run(self.world.driver.add_reservations(epoch, [Keep(worker, *chosen)]))
        assert added == is_new
        if is_new:
            self.kept[worker] = chosen

    @rule(owner=st.sampled_from(WORKERS))
    def claim_kept(self, owner: int) -> None:
        worker = self.workers[owner]
        batch, number = self.kept.get(worker.id, (0, 0))
        expected = []
        if batch in self.ids and self.operated[owner] == "active":
            offered = self.offered(self.ids.index(batch), LANES[owner])
            expected = [(rank, batch) for rank, job in offered if job == number]
        claimed = self.run(worker.claim_kept())
        assert [one.job_id for one in claimed] == [number] * len(expected)
        self.note_claim(owner, claimed, expected)
