"""The decisions of drivers and workers, in worlds that break in ever other orders."""

import os
from random import SystemRandom

import pytest

from benches.interleavings import Simulation

FAILED = [0, 1, 6, 30]
"""Seeds that once found a mistake: they stay."""
SEEDS = [one for one in range(12) if one not in FAILED]
STEPS = 84_000
"""Of each world; all of them make a million."""


def check(seed: int, n_steps: int) -> None:
    world = Simulation(seed)
    try:
        world.run(n_steps)
    except AssertionError as error:
        error.add_note(f"Simulation({seed}), at step {world.n_steps}")
        raise
    happened = {"create", "cordon", "delete", "stop", "slowed", "reached", "passed", "asked"}
    assert happened <= world.counts.keys()


def test_a_world_that_breaks_keeps_its_promises() -> None:
    check(0, 24_000)


@pytest.mark.heavy
@pytest.mark.parametrize("seed", SEEDS + FAILED)
def test_many_worlds_keep_their_promises(seed: int) -> None:
    """New ones with `WEFT_TEST_RANDOM`; one that fails says its seed."""
    is_new = "WEFT_TEST_RANDOM" in os.environ and seed not in FAILED
    check(SystemRandom().randrange(2**32) if is_new else seed, STEPS)
