"""The log store `files` passes the suite of its port."""

import asyncio
import sys
from pathlib import Path

import pytest

from weft.core.states import AttemptKey
from weft.plugins.log_stores.files.directory import directory_name
from weft.plugins.log_stores.files.plugin import FileLogKeeper, FileLogWriter
from weft.plugins.log_stores.files.store import FileLogStore, Watches
from weft.ports.log_store import AttemptLog, LogDirectory
from weft.wire.log_format import RESULT, STDOUT, Piece, encode_piece, segment_location
from weft.worker.spawner.reports import Segments
from weft_testing.log_store_suite import LogStoreSuite


class TestFileLogStore(LogStoreSuite):
    @pytest.fixture(autouse=True)
    def _at(self, tmp_path: Path) -> None:
        self.root = tmp_path / "logs"

    def log_store(self) -> FileLogStore:
        return FileLogStore(self.root)

    def writer(self) -> FileLogWriter:
        return FileLogWriter(self.root)

    def keeper(self) -> FileLogKeeper:
        return FileLogKeeper(self.root)

    def directory(self) -> LogDirectory:
        return LogDirectory(directory_name(self.root), "here", str(self.root))


async def test_only_changes_of_the_followed_file_wake(tmp_path: Path) -> None:
    own, watches = tmp_path / "attempts" / "7.1", Watches()
    with watches.following(own) as grown:
        grown.begin()
        own.parent.mkdir()
        await grown.changed()
        grown.begin()
        (tmp_path / "attempts" / "8.1").touch()
        (tmp_path / "attempts" / "7.1.50").touch()
        await grown.changed()
        names = grown.name
        grown.begin()
        assert not grown._changed.is_set()

    assert names == "7.1"
    assert watches._handle == -1


async def test_results_in_two_directories_are_told_apart(tmp_path: Path) -> None:
    """Their segments have the same numbers. A result need not be read to its end."""

    def stored(job_id: int, root: Path) -> AttemptLog:
        result = encode_piece(RESULT, 0, str(job_id).encode())
        ((segment, offset),) = Segments(str(root)).append([(AttemptKey(1, job_id, 1), result)])
        return AttemptLog(
            batch_id=1,
            job_id=job_id,
            attempt=1,
            ended=True,
            stdout_bytes=0,
            stderr_bytes=0,
            location=segment_location(segment, offset),
            truncated=False,
            state="success",
            directory=LogDirectory(directory_name(root), "here", str(root)),
        )

    logs = [stored(1, tmp_path), stored(2, tmp_path / "other")]
    found = FileLogStore(tmp_path).results([*logs, *logs])

    assert [await anext(blocks, b"") async for _, blocks in found] == [b"1", b"2", b"1", b"2"]
    assert [log.location for log in logs] == [logs[0].location] * 2


async def test_files_of_a_batch_are_removed(tmp_path: Path) -> None:
    writer, keeper = FileLogWriter(tmp_path), FileLogKeeper(tmp_path)
    for key in (AttemptKey(1, 1, 1), AttemptKey(1, 2000, 1), AttemptKey(10, 1, 1)):
        await writer.append(key, [Piece(STDOUT, 0, b"hello")], after=0)
    for name in ("b01", "b-1", "c1", "b1.old"):
        (tmp_path / "attempts" / name).mkdir()

    assert await keeper.batches() == [1, 10]
    await keeper.remove([1, 7])
    await keeper.remove([1])
    names = sorted(path.name for path in (tmp_path / "attempts").iterdir())
    assert names == ["b-1", "b01", "b1.old", "b10", "c1"]


async def test_what_a_link_names_stays(tmp_path: Path) -> None:
    """Neither the link of a batch nor one within its files is followed."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "kept").touch()
    attempts = tmp_path / "attempts"
    (attempts / "b2").mkdir(parents=True)
    (attempts / "b1").symlink_to(other)
    (attempts / "b2" / "0").symlink_to(other)
    await FileLogKeeper(tmp_path).remove([1, 2])

    assert (other / "kept").exists()
    assert [path.name for path in attempts.iterdir()] == ["b1"]


@pytest.mark.heavy
async def test_a_tree_deeper_than_calls_of_python_goes(tmp_path: Path) -> None:
    """A job of the same account makes one in a second; removing it level by level would raise."""
    deep = tmp_path / "attempts" / "b3"
    deep.mkdir(parents=True)
    levels = "import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')"
    made = await asyncio.create_subprocess_exec(sys.executable, "-c", levels, cwd=deep)
    assert await made.wait() == 0
    await FileLogKeeper(tmp_path).remove([3])

    assert not deep.exists()


async def test_place_without_output_has_no_batches(tmp_path: Path) -> None:
    assert await FileLogKeeper(tmp_path).batches() == []
