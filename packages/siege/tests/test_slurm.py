import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from weft.core.errors import Invalid
from weft.wire.processes import parts_of
from weft_siege import slurm
from weft_siege.faults import CONTROLLER, Fault
from weft_siege.slurm import Slurm


@pytest.fixture
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give the configuration of a Slurm that is a program which sleeps, its lists in files."""
    (tmp_path / "queue").touch()
    (tmp_path / "nodes").touch()
    for name, script in (
        ("squeue", f"cat {tmp_path}/queue"),
        ("sinfo", f"cat {tmp_path}/nodes"),
        ("scontrol", f'echo "$@" >>{tmp_path}/told; : >{tmp_path}/nodes'),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    shutil.copy("/bin/sleep", tmp_path / CONTROLLER)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("SLURM_CONF", str(tmp_path / "conf"))
    with subprocess.Popen([tmp_path / CONTROLLER, "60"]) as controller:
        while not parts_of(controller.pid, "cmdline")[0]:
            pass  # it is started a moment before it has its words
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


async def test_node_of_a_forgotten_job_is_brought_back(conf: Path, tmp_path: Path) -> None:
    (tmp_path / "nodes").write_text("n1 Duplicate jobid\nn2 a fan is broken\n")
    keeping = asyncio.create_task(Slurm(conf, tmp_path).keep())
    while not (tmp_path / "told").exists() or (tmp_path / "nodes").read_text():
        await asyncio.sleep(0.01)
    keeping.cancel()
    assert (tmp_path / "told").read_text() == "update NodeName=n1 State=RESUME\n"


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
