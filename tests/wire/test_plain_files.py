"""What stands in the place of a plain file is neither followed nor waited for."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from weft.core.states import AttemptKey
from weft.plugins.log_stores.files.reader import PartReader
from weft.wire.log_format import Piece
from weft.wire.plain_files import open_plain
from weft.worker.spawner.own_file import OwnFile, PartSizes
from weft.worker.spawner.scratch import Scratch

NOT_PLAIN = r"no plain file|directory"


def put_link(path: Path) -> None:
    path.symlink_to("outside")
    (path.parent / "outside").write_text("kept")


@pytest.fixture(params=[os.mkfifo, os.mkdir, put_link, lambda path: path.symlink_to("/dev/zero")])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Give a path where something else is."""
    put: Callable[[Path], None] = request.param
    put(tmp_path / "1")
    return tmp_path / "1"


@pytest.mark.parametrize("mode", ["rb", "wb", "ab"])
def test_it_is_not_opened(path: Path, mode: str) -> None:
    with pytest.raises(OSError, match=NOT_PLAIN):
        open(path, mode, opener=open_plain).close()


def test_pipe_with_a_reader_is_not_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(FileNotFoundError, match=NOT_PLAIN):
        open_plain(tmp_path / "pipe", os.O_WRONLY)
    os.close(reader)


def test_output_is_neither_written_nor_read_there(path: Path) -> None:
    with pytest.raises(OSError, match=NOT_PLAIN):
        OwnFile(str(path), bytes_max=1000, head_bytes=10, part_sizes=PartSizes())

    assert list[Piece](PartReader(path, 0).read()) == []
    outside = path.parent / "outside"
    assert not outside.exists() or outside.read_text() == "kept"


def test_scripts_are_not_written_there(tmp_path: Path) -> None:
    scratch, name = Scratch(str(tmp_path)), AttemptKey(1, 1, 1).name
    os.mkfifo(tmp_path / "scripts" / name)
    with pytest.raises(FileNotFoundError, match=NOT_PLAIN):
        scratch.write_script(name, "true")
