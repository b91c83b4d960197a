"""The engine of docs/guides/engines.md passes the suites of the port, as it stands there."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from runners.real_engine import LIMITS, OnDiskSuite, attempt, dies_in, runner_of
from weft.core.ends.conditions import Blocked
from weft.core.errors import Unavailable
from weft.core.states import Reason
from weft.plugins.runners.remote import RemoteRunner
from weft.ports.runner import Assignment
from weft.wire.spec import JobSpec
from weft_testing.followed_output_suite import FollowedOutputSuite

pytestmark = pytest.mark.slow
GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "engines.md").read_text()
LINES_MAX = 130


def example() -> ModuleType:
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    module = ModuleType("my_engine")
    exec(compile(code, "engines.md", "exec"), module.__dict__)  # noqa: S102 (our guide)
    return module


def engine_of(root: Path, address: str = "") -> Any:  # noqa: ANN401 (as guides are)
    """Return an engine that refuses while the file `away` is there."""
    del address

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

    return Watched(root / "engine", LIMITS)


class TestEngineOfTheGuide(OnDiskSuite, FollowedOutputSuite):
    dies = dies_in("test_engine_guide", "submit")

    @pytest.fixture(autouse=True)
    def _at(self, tmp_path: Path) -> Iterator[None]:
        self.root = tmp_path
        yield
        for pid in (tmp_path / "engine").glob("*/run/pid"):
            assert not engine_of(tmp_path).lives(pid.parents[1]), pid

    def runner(self) -> RemoteRunner:
        return runner_of(self.root, engine_of(self.root))

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

    async def test_limit_is_kept(self) -> None:
        one = attempt(8, JobSpec(command=("sleep", "60"), timeout_s=0.5))
        async with self.ended() as agent:
            await agent.runner.submit([one])
            assert (await agent.end_of(one)).reason == Reason.TIMEOUT


def test_it_is_as_short_as_it_says() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    body = code[code.index("class FolderEngine") :]

    assert len([line for line in body.splitlines() if line.strip()]) < LINES_MAX
