"""Secrets as files: in memory, read by their attempt alone, and gone with it."""

import os
import stat
from pathlib import Path

import pytest

from weft.core.states import Reason
from weft.worker.spawner.memory_files import DIRECTORY, MemoryFiles, NoMemoryFileSystem
from worker.spawner_process import SpawnerProcess, process, until

FILES = {"key.pem": "canary-6f1d", "other": "é\n"}


def test_files_are_private_and_go_with_what_the_job_put_beside_them(tmp_path: Path) -> None:
    made = MemoryFiles(str(tmp_path))
    path = Path(made.make("b1.j1.1", FILES))
    modes = [stat.S_IMODE(one.stat().st_mode) for one in (path.parent, path, path / "other")]
    texts = {one.name: one.read_text() for one in path.iterdir()}
    path.chmod(0o700)
    (path / "more" / "deep").mkdir(parents=True)
    (path / "more" / "link").symlink_to("/")
    made.remove(str(path))

    assert modes == [0o700, 0o500, 0o400]
    assert texts == FILES
    assert not path.exists()
    assert path.parent.exists()
    made.close()
    assert not path.parent.exists()


def test_next_spawner_removes_what_one_left_that_was_killed(tmp_path: Path) -> None:
    left = Path(MemoryFiles(str(tmp_path)).make("b1.j1.1", FILES))
    other = MemoryFiles(str(tmp_path / "other"))
    kept = Path(other.make("b1.j1.1", FILES))
    MemoryFiles(str(tmp_path))

    assert not left.parent.exists()
    assert kept.exists()
    other.close()


def test_a_directory_on_a_disk_takes_no_secret(tmp_path: Path) -> None:
    with pytest.raises(NoMemoryFileSystem):
        MemoryFiles(str(tmp_path), str(tmp_path)).make("b1.j1.1", FILES)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("way", ["exits", "killed"])
def test_a_job_reads_its_files_until_it_ends(
    plain_spawner: SpawnerProcess, tmp_path: Path, way: str
) -> None:
    is_killed = way == "killed"
    agent = plain_spawner.connect()
    script = f'cat "$WEFT_SECRETS_DIR"/* && echo "$WEFT_SECRETS_DIR" > {tmp_path}/where'
    script += "; sleep 1012" if is_killed else ""
    agent.start(
        process(2, "sh", "-c", '[ -z "$WEFT_SECRETS_DIR" ]'),
        process(1, "sh", "-c", script, memory_files=FILES),
    )
    if is_killed:
        until((tmp_path / "where").exists)
        until(lambda: (tmp_path / "where").read_text().endswith("\n"))
        agent.kill(1, reason=Reason.CANCELLED, grace_ms=0)
    end = agent.until_ended(1)
    where = Path((tmp_path / "where").read_text().strip())

    assert (end.exit_code, end.signal) == ((None, 9) if is_killed else (0, None))
    assert agent.until_ended(2).exit_code == 0
    assert where.name == "weft-b1-j1-a1"
    until(lambda: not where.exists())


def test_no_file_outlives_the_spawner(plain_spawner: SpawnerProcess, tmp_path: Path) -> None:
    agent = plain_spawner.connect()
    wait = f"until [ -e {tmp_path}/end ]; do sleep 0.05; done"
    script = f'echo "$WEFT_SECRETS_DIR" > {tmp_path}/where; {wait}'
    agent.start(process(1, "sh", "-c", script, memory_files=FILES))
    until((tmp_path / "where").exists)
    until(lambda: (tmp_path / "where").read_text().endswith("\n"))
    where = Path((tmp_path / "where").read_text().strip())
    plain_spawner.kill()
    assert where.exists()
    again = SpawnerProcess(plain_spawner.root)
    (tmp_path / "end").touch()
    try:
        assert not where.parent.exists()
        agent = again.connect()
        agent.start(process(2, "sleep", "1014", memory_files=FILES))
        agent.until_started(2)
        agent.quit()
    finally:
        again.stop()
    assert not [one for one in os.listdir(DIRECTORY) if one.startswith(where.parent.name[:22])]  # noqa: PTH208
