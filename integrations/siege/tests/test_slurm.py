import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from weft_siege import slurm
from weft_siege.faults import CONTROLLER, Fault
from weft_siege.slurm import Slurm

from weft.core.errors import Invalid


@pytest.fixture
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give the configuration of a Slurm that is a program which sleeps, and a queue in a file."""
    (tmp_path / "squeue").write_text(f"#!/bin/sh\ncat {tmp_path}/queue\n")
    (tmp_path / "squeue").chmod(0o755)
    (tmp_path / "queue").touch()
    shutil.copy("/bin/sleep", tmp_path / CONTROLLER)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("SLURM_CONF", str(tmp_path / "conf"))
    with subprocess.Popen([tmp_path / CONTROLLER, "60"]) as controller:
        yield tmp_path / "conf"
        controller.kill()


def test_a_slurm_that_is_not_there_is_refused(conf: Path, tmp_path: Path) -> None:
    with pytest.raises(Invalid):
        Slurm(conf.with_name("another"), tmp_path)
    (tmp_path / "queue").unlink()
    with pytest.raises(Invalid):
        Slurm(conf, tmp_path)


async def test_controller_that_is_killed_comes_back(conf: Path, tmp_path: Path) -> None:
    found = Slurm(conf, tmp_path)
    (before,) = found.pids()
    assert found.inflict(Fault(0, "kill", CONTROLLER))
    while before in found.pids():
        await asyncio.sleep(0.01)
    keeping = asyncio.create_task(found.keep())
    while not found.pids():
        await asyncio.sleep(0.01)
    keeping.cancel()
    assert found.pids() != [before]
    found.inflict(Fault(0, "kill", CONTROLLER))


async def test_job_that_is_left_is_told(
    conf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm, "EMPTY_S", 0)
    ours = f"7 RUNNING {tmp_path}/slurm/a /"
    (tmp_path / "queue").write_text(f"6 RUNNING /other/a /\n{ours}\n")
    found = Slurm(conf, tmp_path)

    assert await found.left() == [ours]
    (tmp_path / "queue").write_text("6 RUNNING /other/a /\n")
    assert await found.left() == []
