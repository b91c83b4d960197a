"""The spawner passes the suite of the port `runner`."""

from pathlib import Path

import pytest

from weft.plugins.executors.process import ProcessExecutor
from weft.plugins.runners.spawner import SpawnerRunner
from weft.plugins.runners.spawner.start import SpawnerFiles
from weft.ports.executor import ExecutorLimits
from weft.testing.runner_suite import RunnerSuite
from weft.wire.spawner import Hello

LIMITS = ExecutorLimits(grace_ms=300, stream_bytes_max=1 << 20, stream_head_bytes=1 << 10)


class TestSpawnerRunner(RunnerSuite):
    @pytest.fixture(autouse=True)
    def _at(self, tmp_path: Path) -> None:
        root = tmp_path
        self.files = SpawnerFiles(
            root / "s.sock", root / "s.lock", root / "logs", root / "scratch", root / "own.log"
        )

    def runner(self) -> SpawnerRunner:
        return SpawnerRunner(self.files, {"process": ProcessExecutor()}, LIMITS, Hello(2000, 1000))
