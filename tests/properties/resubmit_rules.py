"""Resubmissions, as rules of the machine that calls the core and its model."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from properties.delete_rules import DELETIONS_MAX, DeleteRules
from properties.hold_rules import BATCHES
from properties.jobs_model import Batch, E, F, Job, S
from properties.retry_rules import RetryRules
from store.test_resubmissions import advance, ask, finish
from weft.core import errors


class ResubmitRules(DeleteRules, RetryRules):
    """Make a new batch from an old one, and have it in its place."""

    @precondition(lambda self: len(self.deleted) < DELETIONS_MAX)
    @rule(which=st.sampled_from(BATCHES), failed=st.booleans())
    def resubmit(self, which: int, *, failed: bool) -> None:
        self.settle_all()
        old = self.models[which]
        asked = ask(self.world, self.ids[which], failed=failed)
        counts = old.counts(0)
        if failed and any(state < S for state in counts):
            with pytest.raises(errors.BatchRunning):
                self.run(asked)
            return
        if not counts or (failed and not counts.keys() & {F, E}):
            with pytest.raises(errors.NothingToResubmit):
                self.run(asked)
            return
        numbers = sorted(old.jobs)
        if failed:
            numbers = old.retried(None, lifted=old.by_limit, copied=True)
        operation = self.run(asked)
        if not numbers:
            while (found := self.run(advance(self.world, operation)))["state"] == "running":
                pass
            assert found["error"]["code"] == errors.NothingToResubmit.code
            return
        new_batch = self.run(finish(self.world, operation))
        self.forget(which, new_batch)
        model = self.models[which]
        model.parent_of, model.failures_max = dict(old.parent_of), dict(old.failures_max)
        model.commit(_copied(old, numbers))
        self.note_given()


def _copied(old: Batch, numbers: list[int]) -> list[Job]:
    """Return new jobs like these; of their parents those that are copied, too."""
    new_number = {number: place for place, number in enumerate(numbers, 1)}
    jobs = []
    for number, job in ((number, old.jobs[number]) for number in numbers):
        fresh = {name: getattr(job, name) for name in _KEPT}
        parents = {new_number[one] for one in job.parents if one in new_number}
        jobs.append(
            Job(
                number=new_number[number],
                parents=parents,
                sets={*job.sets},
                on_end={new_number[one] for one in job.on_end if one in new_number},
                on_start={new_number[one] for one in job.on_start if one in new_number},
                of_share={new_number[one] for one in job.of_share if one in new_number},
                first_memory_mib=job.memory_mib,
                **fresh,
            )
        )
    return jobs


_KEPT = (
    "group",
    "always_run",
    "priority",
    "max_attempts",
    "retry_on",
    "has_rules",
    "waits",
    "asks_more",
)
"""What a copy has of a job as it is."""
