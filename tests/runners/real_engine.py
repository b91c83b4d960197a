"""What the tests of runners on real engines share."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from weft.core.ends.conditions import Ask, Blocked
from weft.core.errors import WeftError
from weft.core.states import AttemptKey, Command, Reason
from weft.plugins.log_stores.files.plugin import FileLogWriter
from weft.plugins.log_stores.files.store import FileLogStore
from weft.plugins.runners.remote import Engine, RemoteRunner
from weft.plugins.runners.remote.handles import Handles
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Assignment
from weft.wire.spec import JobSpec
from weft_testing.remote_runner_suite import RemoteRunnerSuite
from weft_testing.until import until

GATEWAY = "hpc"
_DIES = """
import asyncio, os, pathlib, signal, sys
import msgspec
from runners import MODULE as here
from runners.real_engine import runner_of
from weft.ports.runner import Assignment

async def main():
    root, address, call = sys.argv[1:]
    engine = here.engine_of(pathlib.Path(root), address)
    runner = runner_of(pathlib.Path(root), engine)
    await runner.adopt()
    submit = engine.SUBMIT
    async def die(*words, **options):
        if call == "answered":
            await submit(*words, **options)
        os.kill(os.getpid(), signal.SIGKILL)
    engine.SUBMIT = die
    await runner.submit([msgspec.json.decode(sys.stdin.buffer.read(), type=Assignment)])

asyncio.run(main())
"""


def dies_in(module: str, submit: str) -> str:
    """Return the program of a gateway that is killed when it submits: before, or once it is
    `answered`. `module` of the tests has `engine_of`; `submit` is the method of its engine.
    """
    return _DIES.replace("MODULE", module).replace("SUBMIT", submit)


class Watched:
    """Stands before an engine, and remembers which calls that did not answer."""

    def __init__(self, *parts: Any, **options: Any) -> None:  # noqa: ANN401 (of the engine)
        super().__init__(*parts, **options)
        self.refused: list[str] = []

    async def submit(
        self, assignments: Mapping[str, Assignment]
    ) -> Mapping[str, WeftError | Blocked]:
        """Refuse the executor `blocked` for now."""
        waits = {n for n, one in assignments.items() if one.spec.executor == "blocked"}
        rest = {name: one for name, one in assignments.items() if name not in waits}
        ask = Blocked("licence_missing", "tcp", {"host": "licences", "port": 1})
        try:
            answered = await super().submit(rest)  # type: ignore[misc]  # of the engine
        except Exception:
            self.refused.append("submit")
            raise
        return {**answered, **dict.fromkeys(waits, ask)}

    async def stop(self, names: Sequence[str], *, grace_ms: int) -> None:
        """End attempts."""
        try:
            await super().stop(names, grace_ms=grace_ms)  # type: ignore[misc]  # of the engine
        except Exception:
            self.refused.append("stop")
            raise


def attempt(number: int, spec: JobSpec) -> Assignment:
    """Return the first attempt of a small job."""
    return Assignment(AttemptKey(1, number, 1), spec, 100, 16, (1, number))


LIMITS = ExecutorLimits(grace_ms=2000, stream_bytes_max=1 << 20, stream_head_bytes=1 << 10)


def limits_at(root: Path) -> ExecutorLimits:
    """Return the limits of a gateway whose agent looks in these directories."""
    products, asks, messages = (str(root / name) for name in ("products", "asks", "messages"))
    progress = root / "progress"
    progress.mkdir(exist_ok=True)  # the agent makes it
    return replace(
        LIMITS,
        product_files=products,
        block_files=asks,
        message_files=messages,
        progress_files=str(progress),
        product_bytes_max=3000,
    )


def runner_of(
    root: Path, engine: Engine, close: Callable[[], None] = lambda: None
) -> RemoteRunner:
    """Return the runner of a gateway whose state is in this directory."""
    logs = FileLogWriter(root / "logs")
    return RemoteRunner(engine, Handles(root / "state"), logs, GATEWAY, close, limits_at(root))


class OnDiskSuite(RemoteRunnerSuite):
    """The suite, for runners whose state and logs are in one directory."""

    root: Path
    dies: str
    """A program that is killed at a call: its arguments are the root, the address and the call."""
    dies_at = "asked"
    """The call before the engine has heard of an attempt."""

    @property
    def address(self) -> str:
        """Return where the engine is."""
        return ""

    def log_store(self) -> FileLogStore:
        return FileLogStore(self.root / "logs")

    def blocked(self) -> tuple[Assignment, Ask]:
        ask = Ask("licence_missing", "tcp", {"host": "licences", "port": "1"})
        return attempt(2, JobSpec(executor="blocked")), ask

    async def settled(self) -> None:
        await until(lambda: not list((self.root / "state" / "handles").iterdir()))

    async def die_before_submit(self, one: Assignment) -> None:
        await self.die_at(self.dies_at, one)

    async def die_at(self, call: str, one: Assignment) -> None:
        """Be a gateway that is killed at this call."""
        died = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", self.dies, str(self.root), self.address, call],
            input=msgspec.json.encode(one),
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert died.returncode == -signal.SIGKILL


class RealEngineSuite(OnDiskSuite):
    """The suite, for engines that are watched."""

    cluster: Any
    engines: list[Watched]
    engine_of: Callable[[Path, str], Any]
    """Makes one, given where the cluster is."""
    looks: bool = False
    """Whether what is short is not told: the gateway needs time to see it."""

    def engine_stopped(self) -> AbstractAsyncContextManager[None]:
        """Let the engine answer nobody."""
        raise NotImplementedError

    @pytest.fixture(autouse=True)
    def _at(self, tmp_path: Path, cluster: Any) -> Iterator[None]:  # noqa: ANN401 (of a kind)
        self.root, self.cluster, self.engines = tmp_path, cluster, []
        yield
        cluster.purge()

    def runner(self) -> RemoteRunner:
        self.engines.append(self.engine_of(self.root, self.address))
        return runner_of(self.root, self.engines[-1])  # type: ignore[arg-type]  # stands before one

    def assignment(self, job_id: int, *, runs_s: float = 0.0, fails: bool = False) -> Assignment:
        longer_s = runs_s + 3 if self.looks and 0 < runs_s < 5 else runs_s
        return super().assignment(job_id, runs_s=longer_s, fails=fails)

    @asynccontextmanager
    async def _away(self) -> AsyncIterator[Callable[[str], Awaitable[None]]]:
        async with self.engine_stopped():
            yield self._until_failed

    async def _until_failed(self, call: str) -> None:
        await until(lambda: any(call in one.refused for one in self.engines))

    odd: tuple[type, str, object]
    """Which method of whom answers what, while nothing that the engine says makes sense."""

    @asynccontextmanager
    async def garbled(self) -> AsyncIterator[Callable[[str], Awaitable[None]]]:
        async def says(*_words: object, **_options: object) -> object:
            return answer

        where, name, answer = self.odd
        method = getattr(where, name)
        setattr(where, name, says)
        try:
            yield self._until_failed
        finally:
            setattr(where, name, method)

    def away(self) -> AbstractAsyncContextManager[Callable[[str], Awaitable[None]]]:
        return self._away()

    brings_asks = True
    """Whether it brings back what jobs ask to wait for."""

    async def test_what_a_job_leaves_is_where_the_agent_looks(self) -> None:
        """Its products, up to a byte more than they may have, and what it asks to wait for."""
        lines = [
            """echo '{"type": "FSC"}' >>"$WEFT_PRODUCTS"; echo "$WEFT_MESSAGES" """,
            """echo '{"condition": "full"}' >"${WEFT_BLOCK_FILE:-/dev/null}"; exit 75""",
            """head -c 3500 /dev/zero >>"$WEFT_PRODUCTS" """,
        ]
        some = [attempt(n, JobSpec(script=one)) for n, one in enumerate(lines, 1)]
        async with self.ended() as agent:
            await agent.runner.submit(some)
            ends = [await agent.end_of(one) for one in some]

        assert [one.exit_code for one in ends] == [0, 75, 0]
        assert ends[0].stdout_bytes == 1
        assert "FSC" not in ends[0].message
        products, asks = self.root / "products", self.root / "asks"
        assert (products / some[0].key.name).read_text() == '{"type": "FSC"}\n'
        assert not (products / some[1].key.name).exists()
        assert (products / some[2].key.name).stat().st_size > 3000
        if self.brings_asks:
            assert (asks / some[1].key.name).read_text() == '{"condition": "full"}\n'
        else:
            assert not asks.exists()

    sends_signals = True
    """Whether it has a way to send them."""

    async def test_signal_reaches_the_first_process(self, tmp_path: Path) -> None:
        """Or the engine says that it cannot send any, and the job goes on."""
        ready = tmp_path / "ready"
        script = f"trap 'exit 7' USR1; while :; do touch {ready}; sleep 0.1; done"
        one = attempt(4, JobSpec(script=script))
        async with self.ended() as agent:
            await agent.begin(one)
            if self.sends_signals:
                await until(ready.exists)
            agent.runner.command([Command(1, one.key, signal.SIGUSR1)])
            ((_, refusal),) = (await agent.until(lambda told: bool(told.obeyed))).obeyed
            if self.sends_signals:
                assert refusal == ""
                assert (await agent.end_of(one)).exit_code == 7
            else:
                assert "sends no signals" in refusal
                assert not agent.told.ended

    kills: Sequence[str] = ("answered",)
    """Calls around the one that tells the engine: before it has heard, before that is noted."""
    executor = "process"

    async def test_gateway_killed_at_a_submission_runs_its_attempt_once(self) -> None:
        evidence = self.root / "evidence"
        for number, call in enumerate(self.kills, 1):
            spec = JobSpec(script=f"echo {call} >>{evidence}", executor=self.executor)
            one = attempt(4 + number, spec)
            await self.die_at(call, one)
            async with self.ended() as agent:
                if one.key not in [end.key for end in agent.known.ended]:
                    assert (await agent.end_of(one)).exit_code == 0
        assert evidence.read_text().split() == [*self.kills]

    async def test_limit_is_kept_and_its_end_says_so(self) -> None:
        spec = JobSpec(command=("sleep", "60"), executor=self.executor, timeout_s=1.5)
        async with self.ended() as agent:
            end = await agent.run(attempt(8, spec))
            assert end.reason == Reason.TIMEOUT
            assert 1.0 < (end.ended_ns - end.started_ns) / 1e9 < 20.0


class GivenTwiceSuite(RealEngineSuite):
    """The suite, for engines that can be asked by two gateways."""

    def other_engine(self) -> Any:  # noqa: ANN401 (of a kind)
        """Return one that has not read what others have submitted."""
        return self.engine_of(self.root, self.address)

    async def test_attempt_that_is_given_twice_runs_once(self) -> None:
        evidence = self.root / "evidence"
        script = f"echo ran >>{evidence}; sleep 1"
        one = attempt(6, JobSpec(script=script, executor=self.executor))
        async with self.ended() as agent:
            await agent.runner.submit([one])
            await self.other_engine().submit({one.key.name: one})
            assert (await agent.end_of(one)).exit_code == 0

        assert evidence.read_text() == "ran\n"
