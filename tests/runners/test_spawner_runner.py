"""The spawner passes the suite of the port `runner`."""

import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from weft.core.attempt_key import AttemptKey
from weft.core.conditions import Ask, Blocked
from weft.plugins.executors.process import ProcessExecutor
from weft.plugins.runners.spawner import SpawnerRunner
from weft.plugins.runners.spawner.start import SpawnerFiles
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Assignment, RunnerGone
from weft.testing.runner_suite import RunnerSuite
from weft.wire.spawner import Hello, StartProcess
from weft.wire.spec import JobSpec

LIMITS = ExecutorLimits(grace_ms=300, stream_bytes_max=1 << 20, stream_head_bytes=1 << 10)


ASK = Ask("licence_missing", "tcp", {"host": "licences", "port": "1"})


class LicensedExecutor(ProcessExecutor):
    """Never has a licence."""

    def start_of(self, *_: object, **__: object) -> StartProcess:
        raise Blocked(ASK.condition, ASK.tester, ASK.parameters)


class TestSpawnerRunner(RunnerSuite):
    @pytest.fixture(autouse=True)
    def _at(self, tmp_path: Path) -> None:
        root = tmp_path
        self.files = SpawnerFiles(
            root / "s.sock", root / "s.lock", root / "logs", root / "scratch",
            root / "checkpoints", root / "own.log",
        )  # fmt: skip

    def runner(self) -> SpawnerRunner:
        executors = {"process": ProcessExecutor(), "licensed": LicensedExecutor()}
        return SpawnerRunner(self.files, executors, LIMITS, Hello(2000, 1000))

    def blocked(self) -> tuple[Assignment, Ask]:
        spec = JobSpec(executor="licensed")
        return Assignment(AttemptKey(1, 2, 1), spec, 100, 16, (1, 2)), ASK

    async def test_spawner_that_was_told_to_end_is_not_lost(self) -> None:
        runner = self.runner()
        await runner.adopt()
        with capture_logs() as told:
            reports = asyncio.ensure_future(anext(runner.happened()))
            await asyncio.wait({reports}, timeout=0)
            await runner.end()
            with pytest.raises(RunnerGone):
                await reports

        assert [event for event in told if event["event"] == "worker.spawner_lost"] == []
