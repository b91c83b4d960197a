import json

from up.weft_up import run_weft

SEED = "7"


def test_schedule_is_that_of_the_seed() -> None:
    schedules = [
        run_weft("siege", "--minutes", "60", "--seed", seed, "--schedule", "--json").stdout
        for seed in (SEED, SEED, "8")
    ]
    faults = json.loads(schedules[0])

    assert schedules[0] == schedules[1] != schedules[2]
    assert 60 * 60 / 5 - 1 < len(faults) < 60 * 60 / 2
    assert {fault["act"] for fault in faults} > {"kill", "stop", "restart", "cut", "hang", "slow"}
    assert len({fault["target"] for fault in faults}) == 13
    assert "3 --standby:" in run_weft("siege", "--standby", "--schedule").stderr
