"""What every role does before anything else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROLE = """
import resource
import signal
from weft.run.role_main import run_role

_, hard = resource.getrlimit(resource.RLIMIT_CORE)
hard = {hard}
resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))

signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
signal.signal(signal.SIGCHLD, signal.SIG_IGN)

async def live(settings, name):
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert signal.getsignal(signal.SIGCHLD) != signal.SIG_IGN
    soft, kept = resource.getrlimit(resource.RLIMIT_CORE)
    assert (soft, kept) == ({soft}, hard), (soft, kept)
    return 77

raise SystemExit(run_role("driver", live))
"""


@pytest.mark.parametrize(("hard", "soft"), [("hard", "min(hard, 1) if hard >= 0 else 1"), (0, 0)])
def test_role_leaves_no_core_dump_and_inherits_no_signals(
    tmp_path: Path, hard: str | int, soft: str | int
) -> None:
    """Not even where the limit that it was given is the highest one."""
    ended = subprocess.run(
        [sys.executable, "-c", ROLE.format(hard=hard, soft=soft)],
        check=False, capture_output=True, text=True,
        env={**os.environ, "WEFT_HOME": str(tmp_path)},
    )  # fmt: skip

    assert ended.returncode == 77, ended.stderr
