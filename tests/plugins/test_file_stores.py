"""The stores of files pass the suite of their port, and give nothing that they must not."""

import hashlib
import os
from pathlib import Path

import pytest

from weft.plugins.file_stores.local import HostFiles
from weft.plugins.file_stores.weft import KeptFiles, kept_path
from weft.ports.file_store import FileDiffers, FileMissing, FileRefused
from weft_testing.file_store_suite import FileStoreSuite, held


class TestKeptFiles(FileStoreSuite):
    @pytest.fixture(autouse=True)
    def _at(self, tmp_path: Path) -> None:
        self.root = tmp_path / "files"

    def store(self) -> KeptFiles:
        return KeptFiles(self.root)

    def path_of(self, data: bytes) -> str:
        return kept_path(7, hashlib.sha256(data).digest())

    async def test_batches_go_whole(self) -> None:
        await self.keep(b"one")
        await self.keep(b"two")
        assert self.store().batches() == [7]
        await self.store().remove("b7")
        assert self.store().batches() == []

    async def test_name_is_the_digest(self) -> None:
        with held(b"data") as file, pytest.raises(FileRefused):
            await self.store().write(self.path_of(b"other"), file)

    async def test_what_took_the_place_of_a_file_is_not_opened(self) -> None:
        await self.keep(b"data")
        os.mkfifo(self.root / self.path_of(b"other"))
        with pytest.raises(FileDiffers):
            await self.store().facts(self.path_of(b"other"))


async def read(store: HostFiles, path: Path) -> bytes:
    return b"".join([piece async for piece in store.read(str(path))])


async def test_only_plain_files_below_the_named_directories(tmp_path: Path) -> None:
    """A link is not followed, wherever it leads and wherever it stands; a pipe is not opened."""
    data, other = tmp_path / "data", tmp_path / "other"
    for one in (data / "deep", other):
        one.mkdir(parents=True)
    (data / "deep" / "x").write_bytes(b"x")
    (other / "y").write_bytes(b"y")
    (data / "link").symlink_to(other / "y")
    (data / "way").symlink_to(other)
    os.mkfifo(data / "pipe")
    store = HostFiles([str(data)])

    assert await read(store, data / "deep" / "x") == b"x"
    assert (await store.facts(str(data / "deep" / "x"))).n_bytes == 1
    with pytest.raises(FileMissing):
        await read(store, data / "none")
    for name in ("link", "way/y", "pipe", "deep", "../other/y"):
        with pytest.raises(FileRefused):
            await read(store, data / name)
    for path in (other / "y", data, tmp_path / "data2"):
        with pytest.raises(FileRefused):
            await read(store, path)
    with held(b"new") as file, pytest.raises(FileRefused):
        await store.write(str(data / "new"), file)
    with pytest.raises(FileRefused):
        await store.remove(str(data / "deep" / "x"))


async def test_worker_of_root_gives_what_everybody_may_read(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"x")
    store = HostFiles([str(tmp_path)], readable_only=True)
    file.chmod(0o644)
    assert await read(store, file) == b"x"
    file.chmod(0o640)
    with pytest.raises(FileRefused):
        await read(store, file)
