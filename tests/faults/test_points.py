"""A process dies once at each point of `weft.faults`, and nothing is lost or done twice."""

from functools import partial
from pathlib import Path

import pytest

from faults.conftest import Facts
from faults.siege import SEED, Batch, besieged
from faults.waiting import until
from up.weft_up import temporary_home
from weft.faults import POINTS

JOBS = 40


@pytest.mark.parametrize("point", POINTS)
def test_killed_at_a_point(point: str, recorded: Facts, tmp_path: Path) -> None:
    faults = f"fired:{tmp_path},seed:{SEED},{point}=kill@1"
    with temporary_home() as home, besieged(home, recorded=recorded, WEFT_FAULTS=faults) as siege:
        evidence = siege.evidence()
        jobs = evidence.mix(JOBS, SEED)
        document = {"name": "points", "jobs": [job.document for job in jobs]}

        ask = partial(siege.ask, "/v1/batches", document, key=point)
        batch = Batch(until(ask, "the batch is there")["id"], jobs, evidence)
        siege.until_complete(batch)

        assert [path.name for path in tmp_path.iterdir()] == [point]
        siege.prove(batch, may_lose=point.startswith("spawner."))
