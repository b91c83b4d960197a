"""Changes of priority, as rules of the machine that calls the core and its model."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from properties.hold_rules import BATCHES, SETS
from properties.jobs_model import Batch, S
from properties.prioritizing import Prioritizing
from properties.rules import Rules
from weft.core import errors
from weft.ports.store import EditLimits

LIMITS = EditLimits(attributes_max=64, rename_groups_max=1000)
PRIORITIES = st.sampled_from([0, 0, 2, -1, 3])


class PriorityRules(Rules):
    """Change jobs at once and groups step by step, to the end or not."""

    @rule(which=st.sampled_from(BATCHES), choice=st.integers(0, 20), priority=PRIORITIES)
    def prioritize_job(self, which: int, choice: int, priority: int) -> None:
        model = self.models[which]
        known = [*model.jobs.values()]
        job = known[choice % len(known)]
        edit = self.world.api.edit_job(
            self.world.caller,
            self.ids[which],
            job.number,
            patch={"priority": priority},
            limits=LIMITS,
        )
        if job.state >= S and job.priority != priority:
            with pytest.raises(errors.JobEnded):
                self.run(edit)
            return
        is_new = job.state < S and (job.priority != priority or bool(model.operations))
        assert self.run(edit) == is_new
        job.priority = priority
        for operation in model.operations:
            operation.own.add(job.number)

    @rule(
        which=st.sampled_from(BATCHES),
        group=st.sampled_from([0, 1, 2, 3, *SETS]),
        priority=PRIORITIES,
    )
    def prioritize_group(self, which: int, group: int, priority: int) -> None:
        model = self.models[which]
        number = self.run(
            self.world.api.prioritize_group(
                self.world.caller,
                self.ids[which],
                group,
                patch={"priority": priority},
                limits=LIMITS,
                trace_id="",
            )
        )
        model.operations.append(Prioritizing(number, group, priority, there={*model.jobs}))

    @precondition(lambda self: any(model.operations for model in self.models))
    @rule(limit=st.sampled_from([1, 3, 1000]), steps=st.sampled_from([1, 2, 1000]))
    def go_on_with_priorities(self, limit: int, steps: int) -> None:
        """Give the operations of each batch some steps."""
        for model in self.models:
            for _ in range(steps):
                if not model.operations:
                    break
                for operation in model.operations[1:]:
                    assert self._step(operation, limit) == "waits"
                self._advance(model, limit)

    def _advance(self, model: Batch, limit: int) -> None:
        operation = model.operations[0]
        assert self._step(operation, limit) == "moved"
        document = self.run(self.world.api.get_operation(self.world.caller, operation.number))
        # How far a step comes depends on where the jobs of the group are.
        upto = None if document["state"] == "success" else document["done"]
        n_changed = _prioritized(model, operation, upto)
        assert document["result"]["n_changed"] == n_changed
        if upto is None:
            model.operations.remove(operation)

    def _step(self, operation: Prioritizing, limit: int) -> str:
        epoch = self.run(self.world.lead())
        outcome: str = self.run(
            self.world.driver._database.value(
                "set_priorities", epoch=epoch, of_operation_id=operation.number, limit_rows=limit
            )
        )
        return outcome


def _prioritized(model: Batch, operation: Prioritizing, upto: int | None) -> int:
    """Go on with an operation up to a job, or to the end; return how many it has changed."""
    for number in sorted(operation.there - operation.own):
        job = model.jobs[number]
        is_next = operation.position < number <= (number if upto is None else upto)
        in_group = operation.group in model.groups_of(job)
        if is_next and in_group and job.state < S and job.priority != operation.priority:
            job.priority = operation.priority
            operation.n_changed += 1
    operation.position = operation.position if upto is None else upto
    return operation.n_changed
