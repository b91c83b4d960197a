"""What every role does before anything else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROLE = """
import resource
from weft.run.role_main import run_role

_, hard = resource.getrlimit(resource.RLIMIT_CORE)
hard = {hard}
resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))

async def live(settings, name):
    soft, kept = resource.getrlimit(resource.RLIMIT_CORE)
    assert (soft, kept) == ({soft}, hard), (soft, kept)
    return 77

raise SystemExit(run_role("driver", live))
"""


@pytest.mark.parametrize(("hard", "soft"), [("hard", "min(hard, 1) if hard >= 0 else 1"), (0, 0)])
def test_role_leaves_no_core_dump(tmp_path: Path, hard: str | int, soft: str | int) -> None:
    """Not even where the limit that it was given is the highest one."""
    ended = subprocess.run(
        [sys.executable, "-c", ROLE.format(hard=hard, soft=soft)],
        check=False, capture_output=True, text=True,
        env={**os.environ, "WEFT_HOME": str(tmp_path)},
    )  # fmt: skip

    assert ended.returncode == 77, ended.stderr
