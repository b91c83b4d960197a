"""What a remote runner must do whose engine lets output be followed: a suite to subclass."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from weft.core.states import AttemptKey
from weft.ports.log_store import AttemptLog
from weft.ports.runner import Assignment
from weft.wire.documents.logs import LogDocument
from weft.wire.log_format import STDOUT
from weft.wire.spec import JobSpec
from weft_testing.remote_runner_suite import RemoteRunnerSuite
from weft_testing.runner_suite import WITHIN_S, log_of


class FollowedOutputSuite(RemoteRunnerSuite):
    """The suite of remote runners, and output of attempts that run."""

    def talking(self, folder: Path) -> tuple[Assignment, Callable[[], bytes]]:
        """Return an attempt that writes until there is a file `hush` in this folder, and what
        returns all that it has written.
        """
        path = folder / "said"
        script = (
            f"i=0; until [ -e {folder}/hush ]; do i=$((i+1)); echo $i | tee -a {path}; "
            "sleep 0.2; done"
        )
        spec = JobSpec(command=("/bin/sh", "-c", script))
        return Assignment(AttemptKey(1, 3, 1), spec, 100, 16, (1, 3)), path.read_bytes

    async def written(self, assignment: Assignment, after: int) -> int:
        """Wait until pieces are stored behind these; return how many there are."""
        key = assignment.key
        log = AttemptLog(
            key.batch_id,
            key.job_id,
            key.attempt,
            ended=False,
            location=None,
            stdout_bytes=0,
            stderr_bytes=0,
            truncated=False,
            state="running",
        )
        async with asyncio.timeout(WITHIN_S):
            async for some in self.log_store().follow(log, after):
                if some:
                    return after + len(some)
        raise AssertionError

    async def test_output_is_followed_while_an_attempt_runs(self, tmp_path: Path) -> None:
        """The next agent goes on where the log ends: nothing twice, nothing left out."""
        assignment, written = self.talking(tmp_path)
        async with self.adopted() as first:
            await first.runner.submit([assignment])
            n_pieces = await self.written(assignment, 0)
            assert not first.told.ended
        async with self.ended() as second:
            await self.written(assignment, n_pieces)
            assert not second.told.ended
            (tmp_path / "hush").touch()
            end = await second.end_of(assignment)
            text = written()
            (pieces,) = await self.log_store().read_all([log_of(end)])
            assert b"".join(piece.data for piece in pieces if piece.kind == STDOUT) == text
            assert end.stdout_bytes == len(text)
            assert [piece.at_ms for piece in pieces] == sorted(piece.at_ms for piece in pieces)

    def printing(self) -> tuple[Assignment, bytes]:
        """Return an attempt that writes more than its job lets be kept, and what is kept."""
        spec = JobSpec(
            command=("/bin/sh", "-c", "seq 1 20000; sleep 3; seq 20001 40000"),
            log=LogDocument(max_bytes=1000),
        )
        text = b"".join(b"%d\n" % number for number in range(1, 40001))
        return Assignment(AttemptKey(1, 4, 1), spec, 100, 16, (1, 4)), text[:500] + text[-500:]

    async def test_job_may_keep_less_of_its_output(self) -> None:
        """Half of it the beginning, also when the next agent collects it."""
        assignment, kept = self.printing()
        async with self.adopted() as first:
            await first.runner.submit([assignment])
            await self.written(assignment, 0)
        async with self.ended() as second:
            end = await second.end_of(assignment)
            (pieces,) = await self.log_store().read_all([log_of(end)])
            assert b"".join(piece.data for piece in pieces if piece.kind == STDOUT) == kept
            assert end.truncated
