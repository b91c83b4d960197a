import os
import signal
import subprocess
import sys
from asyncio.subprocess import Process, create_subprocess_exec
from collections.abc import Mapping
from pathlib import Path
from unittest.mock import AsyncMock, Mock

import pytest

from cases import cases
from weft_siege import fortress as fortresses
from weft_siege.evidence import VARIABLE
from weft_siege.fortress import Fortress
from weft_siege.patience import until
from weft_siege.processes import send

DEAF = """
import pathlib, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path(sys.argv[1]).touch()
time.sleep(60)
"""


class Deaf(Fortress):
    """Has one process, in place of all, that does not end when it is told to."""

    started: Process
    variable = "WEFT_HOME"

    async def _start(
        self, name: str, environ: Mapping[str, str], python: str, *words: str
    ) -> Process:
        del name, environ, words
        path = self.home if self.variable == "WEFT_HOME" else self.home.with_name("evidence-1")
        there = self.home.with_name("there")
        env = {self.variable: str(path)}
        self.started = await create_subprocess_exec(python, "-c", DEAF, str(there), env=env)
        await until(there.exists, "it is deaf")
        return self.started

    async def _until_ready(self, *names: str) -> None: ...

    async def _invite(self, name: str) -> None: ...

    async def _keep(self, name: str) -> None: ...


@cases("variable", ["WEFT_HOME", VARIABLE])
async def test_process_that_does_not_end_is_counted_before_it_is_killed(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of weft, and one of a job."""
    monkeypatch.setattr(fortresses, "END_S", 0.0)
    (tmp_path / variable).mkdir()
    fortress = Deaf(tmp_path / variable / "home", 1)
    fortress.variable = variable
    async with fortress.standing():
        pass

    (left,) = fortress.left
    assert left.startswith(f"{fortress.started.pid} {sys.executable} -c")
    assert fortress.started.returncode == -signal.SIGKILL


async def test_server_that_the_siege_stops_itself_is_not_left(tmp_path: Path) -> None:
    fortress = Deaf(tmp_path / "home", 1)
    fortress.pair = Mock(
        start=AsyncMock(),
        keep=AsyncMock(),
        dsn="",
        pids=lambda: [fortress.started.pid],
        stop=lambda: send(signal.SIGKILL, [fortress.started.pid]),
    )
    async with fortress.standing():
        pass

    assert list(fortress.left) == []


def test_the_worker_outside_is_woken_too(tmp_path: Path) -> None:
    """It has a home of its own, and is started in another way than the others."""
    fortress = Fortress(tmp_path / "home", 3)
    words = [sys.executable, "-c", "import time; time.sleep(60)", "weft.run.worker"]
    environ = {**os.environ, "WEFT_HOME": str(tmp_path / "home" / "outside")}
    with subprocess.Popen(words, env=environ) as worker:
        try:
            found = fortress.leftovers()
        finally:
            worker.kill()

    assert list(found) == [worker.pid]
