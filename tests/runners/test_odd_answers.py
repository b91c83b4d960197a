"""What engines' files and servers say that cannot be read, or that a job has put there."""

import asyncio
import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from callbacks.receiver import answering, receiving
from runners.directory_engine import DirectoryEngine
from weft.core.errors import Unavailable
from weft.core.states import AttemptKey
from weft.extensions.engines.nomad.runner.client import NomadClient
from weft.extensions.engines.nomad.settings import NomadSettings
from weft.extensions.engines.slurm.runner.files import StagedFiles
from weft.extensions.engines.slurm.runner.folder import MARK_BYTES_MAX, Marks, SharedFiles
from weft.plugins.runners.remote.ends import Notes
from weft.plugins.runners.remote.engine import GuardedEngine
from weft.plugins.runners.remote.ssh import Answer
from weft.ports.executor import ExecutorLimits
from weft.ports.log_store import Stored

LIMITS = ExecutorLimits(grace_ms=1000, stream_bytes_max=1 << 20, stream_head_bytes=1 << 10)
GOOD, BAD = "weft-b1-j1-a1", "weft-b1-j2-a1"


def began(root: Path) -> Path:
    """Make the folders of two attempts that have begun; return that of the second's marks."""
    for name in (GOOD, BAD):
        (root / name / "run").mkdir(parents=True)
        (root / name / "run" / "started").write_text("17 2 n1\n")
    (root / GOOD / "run" / "ended").write_text("3\n")
    return root / BAD / "run"


class _Here:
    """Runs on this host what a login node would."""

    async def run(self, words: Sequence[str], said: str = "") -> Answer:
        done = await asyncio.to_thread(
            subprocess.run, words, input=said.encode(), capture_output=True, check=False
        )
        return Answer(done.returncode, done.stdout.decode(errors="replace"), "")


async def both_marks(root: Path) -> list[dict[str, Marks]]:
    """Return what both ways to the files say of the two attempts."""
    staged = StagedFiles(_Here(), str(root))  # type: ignore[arg-type]  # of it `run` is called
    async with asyncio.timeout(20):
        return [dict(await files.marks([GOOD, BAD])) for files in (SharedFiles(root), staged)]


SPOILED = {
    "a code that is none": "echo oops >ended",
    "a pipe": "mkfifo late ended",
    "a link to much": "head -c 100000 /dev/zero >big; ln -s big ended",
    "much": "head -c 100000 /dev/zero >ended",
    "bytes": "printf '1\\0002' >ended; printf '\\000\\001' >tmp.bin; printf '\\000' >started.x",
    "a name of two lines": "touch \"$(printf '17 9\\n17 9')\"; touch \"$(printf 'a\\nended')\"",
    "a directory": "mkdir ended late",
}


@pytest.mark.parametrize("script", SPOILED.values(), ids=SPOILED.keys())
async def test_what_a_job_writes_beside_its_marks_spoils_no_look(
    script: str, tmp_path: Path
) -> None:
    """Bad text is no mark; the neighbours' are read, and nobody waits."""
    run = began(tmp_path / "root")
    words = ["sh", "-c", f"cd {shlex.quote(str(run))} && {script}"]
    await asyncio.to_thread(subprocess.run, words, check=True)
    for marks in await both_marks(tmp_path / "root"):
        assert (marks[GOOD].exit_code, marks[GOOD].task) == (3, (17, 2))
        assert (marks[BAD].ended_s_ago, marks[BAD].exit_code) == (None, None)
        assert (marks[BAD].task, marks[BAD].is_late) == ((17, 2), False)


async def test_task_that_a_job_has_spoiled_is_none(tmp_path: Path) -> None:
    run = began(tmp_path / "root")
    (run / "started").write_text("x" * 2 * MARK_BYTES_MAX)
    for marks in await both_marks(tmp_path / "root"):
        assert marks[BAD].task is None
        assert marks[GOOD].task == (17, 2)


@pytest.mark.parametrize("make", [os.symlink, lambda _, to: os.mkfifo(to)], ids=["link", "pipe"])
async def test_output_is_not_read_through_what_a_job_puts_in_its_place(
    make: object, tmp_path: Path
) -> None:
    """A link would show files of the gateway's host; a pipe would hold its thread."""
    (tmp_path / "token").write_text("swordfish")
    run = began(tmp_path / "root")
    make(tmp_path / "token", run.parent / "out")  # type: ignore[operator]  # one of the two
    make(tmp_path / "token", run / "products")  # type: ignore[operator]
    (run.parent / "err").write_text("its own")
    files = SharedFiles(tmp_path / "root")
    grown = await files.grown({BAD: Stored()}, LIMITS)
    for pieces in (await files.output(BAD, Stored(), LIMITS), grown[BAD]):
        assert [piece.data for piece in pieces] == [b"its own"]
    assert await files.left(BAD, "products", bytes_max=100) == b""


@pytest.mark.parametrize(
    ("status", "text"),
    [(200, "<html>a proxy</html>"), (401, "who?"), (429, "slowly"), (502, "<html>")],
)
async def test_nomad_that_makes_no_sense_is_away(status: int, text: str) -> None:
    """A job that is given to it then does not end."""
    async with receiving(answering(status, body=text.encode())) as server:
        client = NomadClient(NomadSettings(nomad_address=server.url))
        for words in (("GET", ["jobs"]), ("POST", ["job", "x", "dispatch"])):
            with pytest.raises(Unavailable):
                await client.call(*words)


async def test_whatever_an_engine_stumbles_over_is_no_answer(tmp_path: Path) -> None:
    engine = DirectoryEngine(tmp_path / "engine")
    careful = GuardedEngine(engine)
    async with engine.garbled():
        for call in (careful.statuses([]), careful.stop([], grace_ms=0), careful.forget([])):
            with pytest.raises(Unavailable) as raised:
                await call
            assert "KeyError: 'items'" in str(raised.value.detail)
    assert await careful.statuses([]) == {}


ONE, OTHER = AttemptKey(1, 1, 1), AttemptKey(1, 2, 1)


def test_a_changed_reason_is_told_and_not_too_often() -> None:
    """Each attempt by itself; a new phase at once."""
    now = [100.0]
    notes = Notes(lambda: now[0])

    def after(seconds: float, said: str, key: AttemptKey = ONE) -> str:
        now[0] += seconds
        return notes.news(key, said)

    assert after(0, "Resources") == "Resources"
    assert after(60, "Resources") == ""
    assert after(0, "Priority") == "Priority"
    assert after(9, "Resources") == ""
    assert after(0, "Resources", OTHER) == "Resources"
    assert after(1, "Resources") == "Resources"
    assert notes.of_phase(ONE, "on n1") == "on n1"
    assert notes.of_phase(ONE, "x" * 1000) == "x" * 300
