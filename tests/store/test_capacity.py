"""Workers that say they have what no host has."""

from typing import Any

import pytest

from store.world import World
from weft.core import errors


@pytest.mark.parametrize(
    ("forged", "told"),
    [
        ({"cpu_m": 1_000_000_000}, "1000000 cores; possible are 0.001 to 100000"),
        ({"cpu_m": -1}, "-0.001 cores"),
        ({"cpu_m": 0}, "0 cores"),
        ({"memory_mib": 2**40}, "1099511627776 MiB of memory"),
        ({"gpu": -1}, "-1 GPUs"),
        ({"matlab": 10**12}, "1000000000000 matlab"),
        ({"matlab": -2}, "-2 matlab"),
        ({"matlab": 1.5}, "1.5 matlab"),
    ],
)
async def test_a_worker_with_an_impossible_capacity_is_refused(
    world: World, forged: dict[str, Any], told: str
) -> None:
    with pytest.raises(errors.ImpossibleCapacity) as refused:
        await world.worker(**forged)

    assert told in refused.value.detail
