"""Holds and sets that grow, as rules of the machine that calls the core and its model."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from properties.jobs_model import S
from properties.rules import Rules
from weft.core import errors

BATCHES = (0, 1)
SETS = (4, 5)
WORDS = (
    "pending",
    "ready",
    "queued",
    "creating",
    "running",
    "blocked",
    "success",
    "failed",
    "error",
    "cancelled",
)


class HoldRules(Rules):
    """Hold and release anything, and sweep to the end or not."""

    @rule(
        which=st.sampled_from(BATCHES),
        group=st.sampled_from([0, 1, 2, 3, *SETS]),
        held=st.booleans(),
    )
    def hold_group(self, which: int, group: int, *, held: bool) -> None:
        model, api = self.models[which], self.world.api
        change = api.hold_group if held else api.release_group
        is_new = self.run(change(self.world.caller, self.ids[which], group))
        assert is_new == ((group in model.held) != held)
        if held:
            model.held.add(group)
        else:
            model.held.discard(group)

    @rule(
        which=st.sampled_from(BATCHES),
        choices=st.lists(st.integers(0, 20), min_size=1, max_size=3),
        held=st.booleans(),
    )
    def hold_jobs(self, which: int, choices: list[int], *, held: bool) -> None:
        model, api = self.models[which], self.world.api
        all_jobs = [*model.jobs]
        numbers = sorted({all_jobs[choice % len(all_jobs)] for choice in choices})
        change = api.hold_jobs if held else api.release_jobs
        found = self.run(change(self.world.caller, self.ids[which], numbers))
        for number in numbers:
            job = model.jobs[number]
            if held and job.state < S:
                model.held_jobs.add(number)
            elif not held:
                model.held_jobs.discard(number)
            word = "held" if model.is_held(job) else "released"
            assert found[number] == (word if job.state < S else WORDS[job.state])

    @rule(limit=st.sampled_from([1, 3, 1000]), steps=st.sampled_from([1, 2, 1000]))
    def park(self, limit: int, steps: int) -> None:
        """Sweep holds, to the end or not: nobody may see a difference."""
        epoch = self.run(self.world.lead())
        for _ in range(steps):
            if not self.run(self.world.driver.sweep("sweep_holds", epoch, limit_jobs=limit)):
                break

    def release_all(self) -> None:
        """Leave nothing held."""
        for which, model in enumerate(self.models):
            for group in [*model.held]:
                self.hold_group(which, group, held=False)
            for job in [*model.held_jobs]:
                self.hold_jobs(which, [[*model.jobs].index(job)], held=False)
        self.park(1000, 1000)


class SetRules(Rules):
    """Add jobs to sets, in any state."""

    @rule(
        which=st.sampled_from(BATCHES),
        group=st.sampled_from(SETS),
        choices=st.lists(st.integers(0, 30), min_size=1, max_size=6),
    )
    def add_members(self, which: int, group: int, choices: list[int]) -> None:
        model = self.models[which]
        known = sorted(model.jobs)
        if not known:
            return
        numbers = [known[choice % len(known)] for choice in choices]
        adding = self.world.api.add_members(self.world.caller, self.ids[which], group, numbers)
        if group in model.cancelled:
            with pytest.raises(errors.BatchCancelled):
                self.run(adding)
            return
        new = {number for number in numbers if group not in model.jobs[number].sets}
        assert self.run(adding) == len(new)
        for number in new:
            model.jobs[number].sets.add(group)
        if new:
            model.grown.add(group)
