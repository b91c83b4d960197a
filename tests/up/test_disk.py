"""Homes on disks that are full or read-only."""

import subprocess
from pathlib import Path

import pytest

from contexts import fill_disk
from up.weft_up import processes_of, run_weft

pytestmark = pytest.mark.slow


def test_disk_too_small_for_the_database_is_said(small_disk: Path) -> None:
    home = small_disk / "home"
    refused = run_weft("up", "--home", str(home), "--port", "0")

    assert refused.returncode == 3
    assert "No space left on device" in refused.stderr
    assert str(home) in refused.stderr
    assert not (home / "pg").exists()
    assert processes_of(home) == {}


@pytest.mark.parametrize("said", ["disk is full", "read-only"])
def test_full_or_read_only_disk_is_said(small_disk: Path, said: str) -> None:
    if said == "read-only":
        subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    else:
        fill_disk(small_disk / "filler")
    for more in ((), ("--detach",)):
        refused = run_weft("up", "--home", str(small_disk / "home"), *more)

        assert refused.returncode == 4
        assert said in refused.stderr
        assert "--home" in refused.stderr
