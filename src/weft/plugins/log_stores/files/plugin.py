"""The parts of the log store `files`, as roles get them (entry point `weft.log_stores`)."""

from weft.plugins.log_stores.files import FileLogStore
from weft.plugins.log_stores.files.directory import directory_name
from weft.plugins.log_stores.files.keeper import FileLogKeeper
from weft.plugins.log_stores.files.writer import FileLogWriter
from weft.ports.log_store import LogStoreSite


class FileLogs:
    """Files below one directory; see the port for the methods."""

    def __init__(self, site: LogStoreSite) -> None:
        self._root = site.root

    @property
    def place(self) -> str:
        """Return the name of the directory; the first caller makes it."""
        return directory_name(self._root)

    def reader(self) -> FileLogStore:
        """Return what reads this directory and those below it."""
        return FileLogStore(self._root)

    def keeper(self) -> FileLogKeeper:
        """Return what removes output."""
        return FileLogKeeper(self._root)

    def writer(self) -> FileLogWriter:
        """Return what writes output that was collected elsewhere."""
        return FileLogWriter(self._root)
