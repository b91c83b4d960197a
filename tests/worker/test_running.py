"""The files of running attempts, as others see them: plain ones of the attempt, nothing else."""

import os
from pathlib import Path

from weft.core.attempt_key import AttemptKey
from weft.ports.running_files import RunningAttempt
from weft.worker.stager.directories import JobDirectories, Plan
from weft.worker.stager.running import RunningDirectories

KEY = AttemptKey(7, 1, 2)
OF = RunningAttempt(KEY, "w1")


async def read(directories: RunningDirectories, path: str, start: int, stop: int) -> bytes:
    return b"".join([piece async for piece in directories.read(OF, path, start, stop)])


async def test_only_plain_files_of_the_attempt_are_seen(tmp_path: Path) -> None:
    jobs, app = JobDirectories(tmp_path / "scratch" / "worker" / "files"), tmp_path / "app"
    app.mkdir()
    work = jobs.make(KEY)
    for folder in (app, work):
        (folder / "wrapper.sh").write_text("brought along")
    jobs.keep_plan(KEY, Plan(folder=str(app)))
    (work / "in").mkdir()
    (work / "in" / "a.txt").write_text("0123456789")
    (tmp_path / "secret").write_text("secret")
    (work / "link").symlink_to(tmp_path / "secret")
    (work / "way").symlink_to(tmp_path)
    os.mkfifo(work / "pipe")
    seen = RunningDirectories(tmp_path / "scratch", files_max=100)
    (found,) = await seen.listed(OF)
    assert (found.path, found.n_bytes) == ("in/a.txt", 10)
    assert await seen.find(OF, "in/a.txt") == found
    assert await read(seen, "in/a.txt", 2, 5) == b"234"
    assert await read(seen, "in/a.txt", 8, 99) == b"89"
    for path in ("link", "way/secret", "pipe", "in", "none", "../plan", "", "/etc/passwd", "a\0"):
        assert await seen.find(OF, path) is None, path
        assert await read(seen, path, 0, 9) == b"", path
    assert await seen.listed(RunningAttempt(AttemptKey(7, 1, 3), "w1")) == []
    assert await RunningDirectories(tmp_path / "none", files_max=1).listed(OF) == []
