"""The files of deleted batches go, and nothing else."""

import asyncio
import sys
from pathlib import Path

import pytest

from weft.core.states import AttemptKey
from weft.plugins.log_stores.files.plugin import FileLogKeeper, FileLogWriter
from weft.wire.log_format import STDOUT, Piece


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
