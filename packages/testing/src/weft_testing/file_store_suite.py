"""What every adapter of the port `FileStore` must do: a suite that an author subclasses."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from weft.ports.file_store import FileDiffers, FileMissing, FileProblem, FileStore, HeldFile

LARGE = os.urandom(1 << 20) * 3 + b"end"


@contextmanager
def held(data: bytes, digest: bytes | None = None) -> Iterator[HeldFile]:
    """Give an open file with these bytes."""
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        yield HeldFile(file.fileno(), len(data), digest or hashlib.sha256(data).digest())


class FileStoreSuite:
    """Tests of the port, for stores that files are kept in."""

    def store(self) -> FileStore:
        """Return the store; within a test always the same one."""
        raise NotImplementedError

    def path_of(self, data: bytes) -> str:
        """Return a path under which the store keeps these bytes."""
        raise NotImplementedError

    async def keep(self, data: bytes) -> str:
        """Keep these bytes; return their path."""
        path = self.path_of(data)
        with held(data) as file:
            await self.store().write(path, file)
        return path

    async def all_of(self, path: str, offset: int = 0) -> bytes:
        """Read a file."""
        return b"".join([piece async for piece in self.store().read(path, offset)])

    @pytest.mark.parametrize("data", [b"", b"some\n", LARGE])
    async def test_what_is_kept_is_read(self, data: bytes) -> None:
        """Whole, and from an offset on; a repeat changes nothing."""
        path = await self.keep(data)
        await self.keep(data)
        assert (await self.store().facts(path)).n_bytes == len(data)
        assert await self.all_of(path) == data
        assert await self.all_of(path, len(data) // 2) == data[len(data) // 2 :]

    async def test_what_is_missing_is_said_to_be(self) -> None:
        """In facts and when it is read."""
        path = self.path_of(b"nobody has kept this")
        with pytest.raises(FileMissing):
            await self.store().facts(path)
        with pytest.raises(FileMissing):
            await self.all_of(path)

    async def test_other_bytes_are_not_kept(self) -> None:
        """A file that is changed while it is read appears nowhere, not even in part."""
        announced = b"what was announced"
        path = self.path_of(announced)
        digest = hashlib.sha256(announced).digest()
        with held(b"what came instead!", digest) as file, pytest.raises(FileDiffers):
            await self.store().write(path, file)
        with pytest.raises(FileMissing):
            await self.store().facts(path)

    async def test_removed_is_gone(self) -> None:
        """A second time, too."""
        path = await self.keep(b"for a while")
        await self.store().remove(path)
        await self.store().remove(path)
        with pytest.raises(FileMissing):
            await self.store().facts(path)

    @pytest.mark.parametrize("path", ["../x", "/etc/passwd", "b1/../b2/x", "", "b1"])
    async def test_paths_stay_within_the_store(self, path: str) -> None:
        """Whoever asks for others is refused, or finds nothing."""
        with pytest.raises(FileProblem):
            await self.store().facts(path)
