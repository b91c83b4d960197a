"""The file system. A path is that of a job and of a file in it: `b1.j7/out/a.csv`."""

import errno
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from posixpath import dirname
from typing import Any, Final, NoReturn

from fsspec.asyn import AsyncFileSystem
from fsspec.callbacks import DEFAULT_CALLBACK, Callback
from fsspec.spec import AbstractBufferedFile

from weft import WeftError
from weft.aio import Client
from weft.core.errors import BadId, Forbidden, NotFound, RangeNotSatisfiable, Unauthenticated
from weft.core.ids import parse_job_ref
from weft.core.states import ENDED_WORDS

SHOWN_LINES: Final = 10
FILE_OPTIONS: Final = {"block_size", "cache_type", "cache_options"}
Entry = dict[str, Any]


class WeftFileSystem(AsyncFileSystem):
    """What jobs have left, to be read.

    Args:
        url: Address of the server; default: as weft's command line finds it.
        token: The caller's token; default: likewise.
        attempt: Number of the attempt whose files are meant; default: the last that left any.
        options: What every file system of fsspec takes.
    """

    protocol = "weft"

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        attempt: int | None = None,
        **options: Any,  # noqa: ANN401 (fsspec's)
    ) -> None:
        super().__init__(**options)
        self.attempt = attempt
        self._api = Client(url, token).api

    async def _entries(self, path: str) -> Mapping[str, Entry]:
        """Return all that a job has left, and the directories in which it is, by path."""
        ref = path.partition("/")[0]
        entries = {ref: _directory(ref)}
        with _words_of_files(path):
            async for file in self._api.list_files(*parse_job_ref(ref), attempt=self.attempt):
                name = parent = f"{ref}/{file['path']}"
                facts = {"size": file["bytes"], "sha256": file["sha256"]}
                entries[name] = {"name": name, "type": "file", **facts}
                while (parent := dirname(parent)) not in entries:
                    entries[parent] = _directory(parent)
        return entries

    async def _info(self, path: str, **_: object) -> Entry:
        path = self._strip_protocol(path)
        try:
            return (await self._entries(path))[path]
        except KeyError:
            raise await self._missing(path) from None

    async def _ls(self, path: str, detail: bool = True, **_: object) -> list[Any]:  # noqa: FBT001, FBT002 (fsspec's)
        path = self._strip_protocol(path)
        entries = await self._entries(path)
        if path not in entries:
            raise await self._missing(path)
        listed = [entry for name, entry in entries.items() if dirname(name) == path]
        if entries[path]["type"] == "file":
            listed = [entries[path]]
        return listed if detail else sorted(entry["name"] for entry in listed)

    async def _glob(self, path: str, **options: Any) -> Any:  # noqa: ANN401 (fsspec's)
        """Return what matches a pattern, also one over jobs of a batch: `b1.j*/*.csv`."""
        ref, _, rest = self._strip_protocol(path).partition("/")
        batch, _, jobs = ref.partition(".j")
        if not any(sign in jobs for sign in "*?["):
            return await super()._glob(path, **options)
        with _words_of_files(path):
            listing = self._api.list_jobs(parse_job_ref(f"{batch}.j1")[0])
            numbers = [job["job_id"] async for job in listing]
        found: dict[str, Entry] = {}
        for number in numbers:
            if fnmatchcase(str(number), jobs):
                pattern = f"{batch}.j{number}/{rest}"
                found |= await super()._glob(pattern, **options | {"detail": True})
        return found if options.get("detail") else list(found)

    async def _cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_: object
    ) -> bytes:
        path = self._strip_protocol(path)
        if min(start or 0, end or 0) < 0:
            size = (await self._info(path))["size"]
            start, end = (at and (max(0, at + size) if at < 0 else at) for at in (start, end))
        first = start or 0
        if end is not None and end <= first:
            return b""
        span = "" if not first and end is None else f"{first}-{'' if end is None else end - 1}"
        try:
            return b"".join([piece async for piece in self._pieces(path, span)])
        except RangeNotSatisfiable:  # it ends before
            return b""

    async def _get_file(
        self, rpath: str, lpath: str, callback: Callback = DEFAULT_CALLBACK, **_: object
    ) -> None:
        entry = await self._info(rpath)
        is_directory = entry["type"] == "directory"
        os.makedirs(lpath if is_directory else os.path.dirname(lpath), exist_ok=True)
        if is_directory:
            return
        callback.set_size(entry["size"])
        with open(lpath, "wb") as file:
            async for piece in self._pieces(entry["name"]):
                callback.relative_update(file.write(piece))

    async def _pieces(self, path: str, span: str = "") -> AsyncIterator[bytes]:
        ref, _, file = path.partition("/")
        try:
            with _words_of_files(path):
                job = parse_job_ref(ref)
                async for piece in self._api.read_file(
                    *job, file, attempt=self.attempt, span=span
                ):
                    yield piece
        except FileNotFoundError:
            if (await self._info(path))["type"] == "directory":
                raise IsADirectoryError(errno.EISDIR, "is a directory", path) from None
            raise

    async def _missing(self, path: str) -> FileNotFoundError:
        """Return that there is no such file, and what became of a job that did not end well."""
        ref, _, file = path.partition("/")
        job = parse_job_ref(ref)
        with _words_of_files(path):
            state = (await self._api.get_job(*job))["state"]
            if state == "success":
                return FileNotFoundError(errno.ENOENT, f"weft job {ref} left no such file", file)
            causes = (await self._api.why_job(*job))["causes"]
            told, lines = next((cause["text"] for cause in causes), state), []
            if state in ENDED_WORDS:
                pieces = self._api.read_log(*job, stream="stderr")
                log = b"".join([piece async for piece in pieces]).decode(errors="replace")
                lines = [f"  {line[:300]}" for line in log.splitlines()[:SHOWN_LINES]]
        text = "\n".join([f"weft job {ref} has no file {file}: {told}", *lines])
        return FileNotFoundError(f"{text}\nmore: weft logs {ref}")

    async def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise OSError(errno.EROFS, "files of weft are read only; a job writes them")

    _rm_file = _cp_file = _pipe_file = _put_file = _mkdir = _makedirs = _refuse

    def _open(self, path: str, mode: str = "rb", **options: Any) -> "WeftFile":  # noqa: ANN401 (fsspec's)
        if mode != "rb":
            raise OSError(errno.EROFS, "files of weft are read only; a job writes them", path)
        options = {name: options[name] for name in FILE_OPTIONS & options.keys()}
        return WeftFile(self, path, mode, **options)

    def ukey(self, path: str) -> str:
        """Return what changes when the file does."""
        return str(self.info(path).get("sha256"))


class WeftFile(AbstractBufferedFile):
    """A file that is open. Only what is read of it is fetched."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        return bytes(self.fs.cat_file(self.path, start, end))


def _directory(name: str) -> Entry:
    return {"name": name, "type": "directory", "size": 0}


@contextmanager
def _words_of_files(path: str) -> Iterator[None]:
    """Raise errors of weft as those of files, which libraries know."""
    try:
        yield
    except RangeNotSatisfiable:
        raise
    except (NotFound, BadId) as error:
        raise FileNotFoundError(errno.ENOENT, f"weft: {error}", path) from error
    except (Unauthenticated, Forbidden) as error:
        raise PermissionError(errno.EACCES, f"weft: {error}", path) from error
    except WeftError as error:
        raise OSError(errno.EIO, f"weft: {error}", path) from error
