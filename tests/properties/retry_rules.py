"""Retries by hand, as rules of the machine that calls the core and its model."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from properties.hold_rules import BATCHES
from properties.jobs_model import Batch, S
from properties.rules import Rules
from weft.core import errors
from weft.ports.store import UNKEYED


class RetryRules(Rules):
    """Run what failed again, in steps of any size."""

    @rule(
        which=st.sampled_from(BATCHES),
        choices=st.none() | st.lists(st.integers(0, 30), min_size=1, max_size=3),
        limit=st.sampled_from([1, 3, 1000]),
    )
    def retry(self, which: int, choices: list[int] | None, limit: int) -> None:
        """Retry a batch, or some jobs that ended without success."""
        model = self.models[which]
        self.settle_all()
        named = None
        if choices is not None:
            known = [job.number for job in model.jobs.values() if job.state > S] or [*model.jobs]
            named = sorted({known[choice % len(known)] for choice in choices})
        if named is None and model.is_stopping():
            return
        begun = self.world.api.retry_jobs(
            self.world.caller, self.ids[which], UNKEYED, job_ids=named
        )
        if (error := _refusal(model, named)) is not None:
            with pytest.raises(error):
                self.run(begun)
            return
        operation = self.run(begun)
        while (found := self._operation(operation))["state"] == "running":
            assert self._retry_some(operation, limit) == "moved"
        assert found["result"]["n_retried"] == model.retry(named)

    def settle_all(self) -> None:
        """Tell all children of ended jobs."""
        self.run(self.world.sweep())
        for model in self.models:
            model.sweep()

    def _operation(self, number: int) -> Any:  # noqa: ANN401 (a JSON document)
        return self.run(self.world.api.get_operation(self.world.caller, number))

    def _retry_some(self, number: int, limit: int) -> str:
        epoch = self.run(self.world.lead())
        return self.run(
            self.world.driver.retry_failed(
                epoch, number, matching=None, looked_upto=None, limit=limit
            )
        )


def _refusal(model: Batch, named: list[int] | None) -> type[errors.WeftError] | None:
    """Return the error with which a retry is refused."""
    if 0 in model.cancelled and (named is not None or 0 not in model.by_limit):
        return errors.BatchCancelled
    for number in named or ():
        job = model.jobs[number]
        if job.state <= S:
            return errors.JobNotFailed
        if model.is_cancelled(job):
            return errors.BatchCancelled
        bad = {parent for parent in model.needed(job) if model.jobs[parent].state > S}
        misses = bad - set(named or ()) or model.share(job, named or ()) is False
        if misses and not job.always_run:
            return errors.ParentFailed
    return None
