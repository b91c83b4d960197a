"""`weft siege` itself: everything attacked at once, by a schedule from a seed."""

import json
import os
import subprocess

import pytest

from faults.conftest import Facts
from up.weft_up import WEFT

SEED = "13"
MINUTES = os.environ.get("FAULT_MINUTES", "0.3")
PATIENCE_S = 900


@pytest.mark.timeout(PATIENCE_S)
def test_nothing_is_lost_in_a_siege(recorded: Facts) -> None:
    words = [str(WEFT), "siege", "--minutes", MINUTES, "--seed", SEED, "--standby", "--json"]
    answer = subprocess.run(words, check=False, capture_output=True, text=True, timeout=PATIENCE_S)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    facts = json.loads(answer.stdout)
    recorded.update(jobs=facts["jobs"], lost=facts["counts"]["lost"])

    assert facts["jobs"] > facts["faults"] > 0
    assert facts["events told"] > 0
    assert facts["failovers"] > 0 or float(MINUTES) < 3  # a short one has none
    assert set(facts["counts"].values()) == {0}
