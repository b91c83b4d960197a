"""The fake remote runner of `weft_testing` passes the suites of the port."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import msgspec
import pytest

from contexts import beside
from runners.directory_engine import DirectoryEngine, moments
from runners.real_engine import OnDiskSuite, dies_in, runner_of
from weft.core.states import Phase, Reason
from weft.plugins.runners.remote import RemoteRunner
from weft.plugins.runners.remote.handles import Handle, Handles, RunnerHeld
from weft.ports.runner import Assignment, GivenSecret
from weft.wire.documents.logs import LogDocument
from weft.wire.documents.secrets import SecretUse
from weft_testing.engine_faults_suite import EngineFaultsSuite
from weft_testing.followed_output_suite import FollowedOutputSuite
from weft_testing.runner_suite import WITHIN_S, RunnerWatch, assignment


def engine_of(root: Path, address: str = "", *, queued_s: float = 0.05) -> DirectoryEngine:
    del address
    return DirectoryEngine(root / "engine", queued_s=queued_s)


class TestDirectoryRunner(OnDiskSuite, FollowedOutputSuite, EngineFaultsSuite):
    dies = dies_in("test_directory_runner", "submit")

    @pytest.fixture(autouse=True)
    def _at(self, tmp_path: Path) -> None:
        self.root = tmp_path
        self.queued_s = 0.05

    def engine(self) -> DirectoryEngine:
        return engine_of(self.root, queued_s=self.queued_s)

    def runner(self) -> RemoteRunner:
        return runner_of(self.root, self.engine())

    def submitted(self) -> list[str]:
        return self.engine().names()

    def away(self) -> AbstractAsyncContextManager[Callable[[str], Awaitable[None]]]:
        return self.engine().away()

    def garbled(self) -> AbstractAsyncContextManager[Callable[[str], Awaitable[None]]]:
        return self.engine().garbled()

    async def remove_by_hand(self, name: str) -> None:
        self.engine().remove(name)

    def talking(self, folder: Path) -> tuple[Assignment, Callable[[], bytes]]:
        del folder
        return assignment(3, runs_s=4), lambda: moments(4)

    def printing(self) -> tuple[Assignment, bytes]:
        one = assignment(4, runs_s=3)
        spec = msgspec.structs.replace(one.spec, log=LogDocument(max_bytes=20))
        text = moments(3)
        return msgspec.structs.replace(one, spec=spec), text[:10] + text[-10:]

    async def test_what_is_withdrawn_while_the_engine_is_away_is_so_later(self) -> None:
        """It may be given again, and runs then: nothing that was said of it arrives late."""
        one, self.queued_s = assignment(1), 60
        engine = self.engine()
        runner = runner_of(self.root, engine)
        watch = RunnerWatch(runner, await runner.adopt())
        async with beside(watch.follow()):
            await runner.submit([one])
            await watch.until(
                lambda told: any(e.phase == Phase.QUEUED_REMOTE for e in told.entered)
            )
            async with self.away() as until_refused, asyncio.timeout(WITHIN_S):
                runner.withdraw([one.key])
                await until_refused("statuses")
            await watch.until(lambda told: one.key in told.withdrawn)
            engine.queued_s = 0
            await runner.submit([one])
            assert (await watch.end_of(one)).exit_code == 0
        await runner.end()
        runner.leave()

    async def test_what_begins_while_it_is_withdrawn_did_not_fail(self) -> None:
        one, self.queued_s = assignment(1, runs_s=60), 60
        engine = self.engine()
        stop, runner = engine.stop, runner_of(self.root, engine)

        async def stop_late(names: Sequence[str], *, grace_ms: int) -> None:
            engine.queued_s = 0
            await stop(names, grace_ms=grace_ms)

        engine.stop = stop_late  # type: ignore[method-assign]
        watch = RunnerWatch(runner, await runner.adopt())
        async with beside(watch.follow()):
            await runner.submit([one])
            await watch.until(lambda told: bool(told.entered))
            runner.withdraw([one.key])
            assert (await watch.end_of(one)).reason == Reason.PREEMPTED
        await runner.end()
        runner.leave()

    async def test_what_the_engine_has_is_noted_by_the_agent_that_finds_it(self) -> None:
        """The one that gave it may have died before; what is noted and not held goes."""
        one, notes = assignment(1, runs_s=60), self.root / "state" / "given"
        async with self.adopted() as first:
            await first.runner.submit([one])
            (note,) = notes.iterdir()
        note.rename(notes / "weft-b1-j99-a1")
        async with self.ended():
            assert [path.name for path in notes.iterdir()] == [one.key.name]

    async def test_one_agent_holds_the_runner(self) -> None:
        async with self.ended():
            with pytest.raises(RunnerHeld):
                await self.runner().adopt()


def test_handle_on_the_disk_has_no_value_of_a_secret(tmp_path: Path) -> None:
    """A directory that is read, or copied to backups, gives none away."""
    one = assignment(1)
    use = SecretUse(name="pull", env="PULL")
    secret = msgspec.structs.replace(one, secrets=(GivenSecret(use, "swordfish"),))
    handles = Handles(tmp_path)
    handles.hold()
    handles.put([Handle(secret)])
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    handles.let_go()

    assert one.key.name in {path.name for path in tmp_path.rglob("*")}
    assert b"swordfish" not in kept
