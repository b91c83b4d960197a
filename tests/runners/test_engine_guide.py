"""The engine of docs/guides/engines.md passes the suites of the port, as it stands there."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from runners.real_engine import GATEWAY, LIMITS
from weft.core.attempt_key import AttemptKey
from weft.core.ends.conditions import Ask, Blocked
from weft.core.errors import Unavailable
from weft.core.states import Reason
from weft.plugins.log_stores.files import FileLogStore
from weft.plugins.log_stores.files.writer import FileLogWriter
from weft.plugins.runners.remote import RemoteRunner
from weft.plugins.runners.remote.handles import Handles
from weft.ports.runner import Assignment
from weft.testing.followed_output_suite import FollowedOutputSuite
from weft.wire.spec import JobSpec

pytestmark = pytest.mark.slow
GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "engines.md").read_text()
LINES_MAX = 130
_DIES = """
import asyncio, os, pathlib, signal, sys
import msgspec
from runners import test_engine_guide as here
from weft.ports.runner import Assignment

async def main():
    runner, engine = here.runner_at(pathlib.Path(sys.argv[1]))
    await runner.adopt()
    engine.submit = lambda assignments: os.kill(os.getpid(), signal.SIGKILL)
    await runner.submit([msgspec.json.decode(sys.stdin.buffer.read(), type=Assignment)])

asyncio.run(main())
"""


def example() -> ModuleType:
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    module = ModuleType("my_engine")
    exec(compile(code, "engines.md", "exec"), module.__dict__)  # noqa: S102 (our guide)
    return module


def runner_at(root: Path) -> tuple[RemoteRunner, Any]:
    """Return a runner on an engine that refuses while the file `away` is there."""

    class Watched(example().FolderEngine):  # type: ignore[misc]  # untyped, as guides are
        def answer(self, call: str) -> None:
            away = root / "away"
            if away.exists():
                with away.open("a") as calls:
                    calls.write(f"{call}\n")
                raise Unavailable("the engine is away", hint="Wait.")

        async def submit(self, assignments: Mapping[str, Assignment]) -> Mapping[str, object]:
            if assignments:
                self.answer("submit")
            waits = {n for n, one in assignments.items() if one.spec.executor == "blocked"}
            ask = Blocked("licence_missing", "tcp", {"host": "licences", "port": 1})
            rest = {name: one for name, one in assignments.items() if name not in waits}
            return {**await super().submit(rest), **dict.fromkeys(waits, ask)}

        async def statuses(self, names: Sequence[str]) -> Mapping[str, object]:
            self.answer("statuses")
            found: Mapping[str, object] = await super().statuses(names)
            return found

        async def stop(self, names: Sequence[str], *, grace_ms: int) -> None:
            self.answer("stop")
            await super().stop(names, grace_ms=grace_ms)

    engine = Watched(root / "engine", LIMITS)
    logs = FileLogWriter(root / "logs")
    return RemoteRunner(engine, Handles(root / "state"), logs, GATEWAY), engine


class TestEngineOfTheGuide(FollowedOutputSuite):
    @pytest.fixture(autouse=True)
    def _at(self, tmp_path: Path) -> Iterator[None]:
        self.root = tmp_path
        yield
        for pid in (tmp_path / "engine").glob("*/run/pid"):
            assert not runner_at(tmp_path)[1].lives(pid.parents[1]), pid

    def runner(self) -> RemoteRunner:
        return runner_at(self.root)[0]

    def log_store(self) -> FileLogStore:
        return FileLogStore(self.root / "logs")

    def submitted(self) -> list[str]:
        engine = self.root / "engine"
        return sorted(one.name for one in engine.iterdir()) if engine.exists() else []

    @asynccontextmanager
    async def _away(self) -> AsyncIterator[Callable[[str], Awaitable[None]]]:
        calls = self.root / "away"

        async def until_refused(call: str) -> None:
            while call not in calls.read_text().split():
                await asyncio.sleep(0)

        calls.touch()
        try:
            yield until_refused
        finally:
            calls.unlink()

    def away(self) -> AbstractAsyncContextManager[Callable[[str], Awaitable[None]]]:
        return self._away()

    def blocked(self) -> tuple[Assignment, Ask]:
        one = Assignment(AttemptKey(1, 2, 1), JobSpec(executor="blocked"), 100, 16, (1, 2))
        return one, Ask("licence_missing", "tcp", {"host": "licences", "port": "1"})

    async def settled(self) -> None:
        async with asyncio.timeout(60):
            while list((self.root / "state" / "handles").iterdir()):
                await asyncio.sleep(0)

    async def die_before_submit(self, one: Assignment) -> None:
        died = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", _DIES, str(self.root)], input=msgspec.json.encode(one),
            check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        assert died.returncode == -signal.SIGKILL

    async def test_limit_is_kept(self) -> None:
        spec = JobSpec(command=("sleep", "60"), timeout_s=0.5)
        one = Assignment(AttemptKey(1, 8, 1), spec, 100, 16, (1, 8))
        async with self.ended() as agent:
            await agent.runner.submit([one])
            assert (await agent.end_of(one)).reason == Reason.TIMEOUT


def test_it_is_as_short_as_it_says() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    body = code[code.index("class FolderEngine") :]

    assert len([line for line in body.splitlines() if line.strip()]) < LINES_MAX
