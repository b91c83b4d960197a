"""`weft siege` itself: everything attacked at once, by a schedule from a seed."""

import json
import subprocess

from faults.conftest import Facts
from up.weft_up import WEFT, run_weft

SEED = "7"
PATIENCE_S = 240


def test_nothing_is_lost_in_a_siege(recorded: Facts) -> None:
    words = [str(WEFT), "siege", "--minutes", "0.3", "--seed", SEED, "--json"]
    answer = subprocess.run(words, check=False, capture_output=True, text=True, timeout=PATIENCE_S)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    facts = json.loads(answer.stdout)
    recorded.update(jobs=facts["jobs"], lost=facts["counts"]["lost"])

    assert facts["jobs"] > facts["faults"] > 0
    assert facts["events told"] > 0
    assert set(facts["counts"].values()) == {0}


def test_schedule_is_that_of_the_seed() -> None:
    schedules = [
        run_weft("siege", "--minutes", "60", "--seed", seed, "--schedule", "--json").stdout
        for seed in (SEED, SEED, "8")
    ]
    faults = json.loads(schedules[0])

    assert schedules[0] == schedules[1] != schedules[2]
    assert 60 * 60 / 5 - 1 < len(faults) < 60 * 60 / 2
    assert {fault["act"] for fault in faults} == {"kill", "stop", "restart", "cut", "hang", "slow"}
    assert len({fault["target"] for fault in faults}) == 12
    assert "3 --standby:" in run_weft("siege", "--standby", "--schedule").stderr
