"""Sets that grow, as rules of the machine that calls the core and its model."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from properties.hold_rules import BATCHES, SETS
from properties.rules import Rules
from weft.core import errors


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
