"""The log store `files` passes the suite of its port."""

from pathlib import Path

import pytest

from weft.plugins.log_stores.files import FileLogStore
from weft.plugins.log_stores.files.directory import directory_name
from weft.plugins.log_stores.files.growth import Watches
from weft.plugins.log_stores.files.keeper import FileLogKeeper
from weft.plugins.log_stores.files.writer import FileLogWriter
from weft.ports.log_store import LogDirectory
from weft.testing.log_store_suite import LogStoreSuite


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
