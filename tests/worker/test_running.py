"""The files of running attempts, as others see them: plain ones of the attempt, nothing else."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from weft.core.states import AttemptKey
from weft.ports.running_files import RunningAttempt
from weft.run.files import running_files
from weft.run.home import Home
from weft.run.host.job_accounts import job_directory
from weft.run.host.worker_name import file_name
from weft.settings import Settings
from weft.worker.stager.directories import JobDirectories, Plan, RunningDirectories

KEY = AttemptKey(7, 1, 2)
OF = RunningAttempt(KEY, "w1")


def directories_in(scratch: Path) -> RunningDirectories:
    return RunningDirectories(scratch, folder_of=lambda name: f"of-{name}", files_max=100)


async def read(directories: RunningDirectories, path: str, start: int, stop: int) -> bytes:
    return b"".join([piece async for piece in directories.read(OF, path, start, stop)])


async def test_only_plain_files_of_the_attempt_are_seen(tmp_path: Path) -> None:
    jobs, app = JobDirectories(tmp_path / "scratch" / "of-w1" / "files"), tmp_path / "app"
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
    seen = directories_in(tmp_path / "scratch")
    (found,) = await seen.listed(OF)
    assert (found.path, found.n_bytes) == ("in/a.txt", 10)
    assert await seen.find(OF, "in/a.txt") == found
    assert await read(seen, "in/a.txt", 2, 5) == b"234"
    assert await read(seen, "in/a.txt", 8, 99) == b"89"
    for path in ("link", "way/secret", "pipe", "in", "none", "../plan", "", "/etc/passwd", "a\0"):
        assert await seen.find(OF, path) is None, path
        assert await read(seen, path, 0, 9) == b"", path
    assert await seen.listed(RunningAttempt(AttemptKey(7, 1, 3), "w1")) == []
    assert await directories_in(tmp_path / "none").listed(OF) == []


async def test_another_worker_of_the_home_may_have_a_job_of_the_same_number(
    tmp_path: Path,
) -> None:
    """It may work for another database."""
    for name in ("w1", "w2", "w3"):
        jobs = JobDirectories(tmp_path / f"of-{name}" / "files")
        (jobs.make(KEY) / "a.txt").write_text(name)
        jobs.keep_plan(KEY, Plan())
    seen = directories_in(tmp_path)
    for name in ("w1", "w2", "w3"):
        (piece,) = [one async for one in seen.read(RunningAttempt(KEY, name), "a.txt", 0, 9)]
        assert piece == name.encode()


async def test_dates_that_cannot_be_written_hide_no_file(tmp_path: Path) -> None:
    jobs = JobDirectories(tmp_path / "of-w1" / "files")
    file = jobs.make(KEY) / "a.txt"
    file.touch()
    jobs.keep_plan(KEY, Plan())
    os.utime(file, (0, -5))
    (found,) = await directories_in(tmp_path).listed(OF)
    assert found.changed_s == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs jobs as others")
async def test_directories_of_other_accounts_are_seen(tmp_path: Path) -> None:
    """They are not in the home, where other accounts reach nothing."""
    home = Home(tmp_path / "home")
    home.path.mkdir()
    with TemporaryDirectory(dir="/var/tmp") as below:
        Path(below).chmod(0o755)
        settings = Settings(home=home.path, run_as="user", run_as_directory=below)
        jobs = JobDirectories(
            job_directory(settings, home) / "scratch" / file_name("w1") / "files"
        )
        (jobs.make(KEY) / "a.txt").write_text("mine")
        jobs.keep_plan(KEY, Plan())
        (seen,) = await running_files(settings, home).listed(OF)
    assert (seen.path, seen.n_bytes) == ("a.txt", 4)
