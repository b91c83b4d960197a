"""The spawner passes the suite of the port `runner`."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from weft.core.ends.conditions import Ask, Blocked
from weft.core.states import AttemptKey, Reason
from weft.plugins.executors.process import ProcessExecutor
from weft.plugins.log_stores.files.store import FileLogStore
from weft.plugins.runners.spawner import SpawnerRunner, start
from weft.plugins.runners.spawner.start import SpawnerFiles, SpawnerNotStarted, spawner_pid
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Assignment, RunnerGone
from weft.wire.spawner import Hello, StartProcess
from weft.wire.spec import JobSpec
from weft_testing.runner_suite import RunnerSuite, assignment

LIMITS = ExecutorLimits(grace_ms=300, stream_bytes_max=1 << 20, stream_head_bytes=1 << 10)


ASK = Ask("licence_missing", "tcp", {"host": "licences", "port": "1"})


class LicensedExecutor(ProcessExecutor):
    """Never has a licence."""

    def start_of(self, *_: object, **__: object) -> StartProcess:
        raise Blocked(ASK.condition, ASK.tester, ASK.parameters)


class StagingExecutor(ProcessExecutor):
    """Cannot reach the files that its jobs share."""

    def definition_of(self, spec: JobSpec) -> bytes | None:
        raise Blocked(ASK.condition, ASK.tester, ASK.parameters, message=f"{spec.cwd} is away")


class AwayExecutor(ProcessExecutor):
    """Cannot say which variables its jobs have."""

    def environment_of(self, spec: JobSpec) -> dict[str, str]:
        raise Blocked(ASK.condition, ASK.tester, ASK.parameters, message=f"{spec.cwd} is away")


EXECUTORS = {
    "process": ProcessExecutor(),
    "licensed": LicensedExecutor(),
    "staging": StagingExecutor(),
    "away": AwayExecutor(),
}


class TestSpawnerRunner(RunnerSuite):
    @pytest.fixture(autouse=True)
    def _at(self, tmp_path: Path) -> None:
        root = tmp_path
        self.files = SpawnerFiles(
            root / "s.sock",
            root / "s.lock",
            root / "logs",
            root / "scratch",
            root / "checkpoints",
            root / "own.log",
        )

    def runner(self) -> SpawnerRunner:
        return SpawnerRunner(self.files, EXECUTORS, LIMITS, Hello(2000, 1000, sample_ms=100))

    def sampled_logs(self) -> FileLogStore:
        return FileLogStore(self.files.logs)

    def blocked(self) -> tuple[Assignment, Ask]:
        spec = JobSpec(executor="licensed")
        return Assignment(AttemptKey(1, 2, 1), spec, 100, 16, (1, 2)), ASK

    async def test_executor_says_in_any_of_its_methods_what_a_job_waits_for(self) -> None:
        """Jobs that share with one of these are blocked, too; their neighbours run."""
        specs = [JobSpec(executor=name, cwd="/data") for name in ("staging", "staging", "away")]
        bad = [
            Assignment(AttemptKey(1, number, 1), spec, 100, 16, (1, 2))
            for number, spec in enumerate(specs, 2)
        ]
        good = assignment(1)
        async with self.ended() as agent:
            await agent.runner.submit([*bad, good])
            refused = [await agent.end_of(one) for one in bad]
            assert (await agent.end_of(good)).reason is None

        assert [(one.reason, one.ask) for one in refused] == [(Reason.BLOCKED, ASK)] * 3
        assert {one.message for one in refused} == {"/data is away"}

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

    async def test_spawner_that_ends_late_is_named_and_waited_for_again(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        runner = self.runner()
        known = await runner.adopt()
        pid = spawner_pid(self.files)
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            await runner.end()
            with monkeypatch.context() as hasty:
                hasty.setattr(start, "_GONE_WITHIN_S", 0.1)
                with pytest.raises(SpawnerNotStarted, match="has not ended") as refused:
                    await runner.adopt()
        finally:
            os.kill(pid, signal.SIGCONT)
        assert (await runner.adopt()).incarnation != known.incarnation
        await runner.end()

        assert f"process is {pid};" in refused.value.detail
