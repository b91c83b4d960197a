"""The log store `files` passes the suite of its port."""

from pathlib import Path

import pytest
from weft_testing.log_store_suite import LogStoreSuite

from weft.core.states import AttemptKey
from weft.plugins.log_stores.files import FileLogStore, Watches
from weft.plugins.log_stores.files.directory import directory_name
from weft.plugins.log_stores.files.plugin import FileLogKeeper, FileLogWriter
from weft.ports.log_store import AttemptLog, LogDirectory
from weft.wire.log_format import RESULT, encode_piece, segment_location
from weft.worker.spawner.reports import Segments


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
            batch_id=1, job_id=job_id, attempt=1, ended=True, stdout_bytes=0, stderr_bytes=0,
            location=segment_location(segment, offset), truncated=False, state="success",
            directory=LogDirectory(directory_name(root), "here", str(root)),
        )  # fmt: skip

    logs = [stored(1, tmp_path), stored(2, tmp_path / "other")]
    found = FileLogStore(tmp_path).results([*logs, *logs])

    assert [await anext(blocks, b"") async for _, blocks in found] == [b"1", b"2", b"1", b"2"]
    assert [log.location for log in logs] == [logs[0].location] * 2
