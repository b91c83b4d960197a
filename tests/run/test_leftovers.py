"""Whose processes are ended, and which of them sleep."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from weft.run.host.leftovers import end_spawners
from weft.run.host.sleepers import is_stopped
from worker.spawner_process import SpawnerProcess


def test_spawner_of_another_worker_of_the_home_lives_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_HOME", os.fspath(tmp_path))
    ours, other = tmp_path / "a", tmp_path / "b"
    for root in (ours, other):
        root.mkdir()
    with SpawnerProcess(ours) as first, SpawnerProcess(other) as second:
        ended = end_spawners(tmp_path, ours / "s.lock")
        codes = [spawner.process.poll() for spawner in (first, second)]

    assert ended == [first.process.pid]
    assert codes[1] is None


def test_only_a_process_that_was_stopped_counts_as_asleep() -> None:
    with subprocess.Popen(["/bin/sleep", "1000"]) as process:
        before = is_stopped(process.pid)
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        stopped = is_stopped(process.pid)
        process.kill()
        process.wait()

    assert (before, stopped, is_stopped(process.pid)) == (False, True, False)
