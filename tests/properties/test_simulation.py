"""The decisions of drivers and workers, in worlds that break in ever other orders.

A seed lasts as long as draws and decisions: faults get direct tests, see `docs/architecture.md`.
"""

import os
from random import SystemRandom

import pytest

from benches.interleavings import Simulation

SEEDS = range(13)
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
@pytest.mark.parametrize("seed", SEEDS)
def test_many_worlds_keep_their_promises(seed: int) -> None:
    """New ones with `WEFT_TEST_RANDOM`; one that fails says its seed."""
    check(SystemRandom().randrange(2**32) if "WEFT_TEST_RANDOM" in os.environ else seed, STEPS)
