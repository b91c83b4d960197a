"""fsspec's own tests, as far as they read, and the errors, on the weft of `WEFT_HOME`."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import fsspec
import pandas as pd
import pytest
from fsspec.implementations.local import LocalFileSystem
from fsspec.tests.abstract import AbstractFixtures, AbstractGetTests
from weft_fsspec.files import WeftFileSystem

from weft import Batch, Client

LETTERS = b"abcdefghij"


def job_of(script: str, **more: object) -> str:
    """Return a job that has ended."""
    with Client() as client:
        draft = client.create_batch()
        draft.create_job(["sh", "-c", script], **more)
        batch: Batch = draft.submit()
        batch.wait(progress=False)
        return f"b{batch.id}.j1"


@pytest.fixture(scope="module")
def letters() -> str:
    return job_of(
        "mkdir out; printf abcdefghij >out/a.txt; printf 'x,y\n1,2\n' >out/b.csv",
        outputs=[{"from": "out/"}],
    )


def kept(name: str) -> Callable[..., str]:
    """Return a fixture: what the suite makes is made here, and kept by a job."""

    def fixture(self: AbstractFixtures, tmp_path: Path) -> str:
        (tmp_path / "made").mkdir()
        make = getattr(AbstractFixtures, name)
        source = make(self, LocalFileSystem(auto_mkdir=True), os.path.join, str(tmp_path / "made"))
        ref = job_of(f"cp -r {source} .", outputs=[{"from": "source/"}])
        shutil.rmtree(source)
        return f"{ref}/source"

    return pytest.fixture(fixture)


class TestGet(AbstractFixtures, AbstractGetTests):
    fs_bulk_operations_scenario_0 = kept("_bulk_operations_scenario_0")
    fs_glob_edge_cases_files = kept("_glob_edge_cases_files")
    fs_dir_and_file_with_same_name_prefix = kept("_dir_and_file_with_same_name_prefix")
    fs_10_files_with_hashed_names = kept("_10_files_with_hashed_names")

    @pytest.fixture
    def fs(self) -> WeftFileSystem:
        return WeftFileSystem()

    @pytest.fixture
    def fs_path(self) -> str:
        return "b1.j1"


@pytest.mark.parametrize("start", [None, 0, 3, 9, 10, 12, -1, -4, -20])
@pytest.mark.parametrize("end", [None, 0, 3, 9, 10, 12, -1, -4, -20])
def test_each_span_is_that_of_python(letters: str, start: int | None, end: int | None) -> None:
    assert WeftFileSystem().cat_file(f"{letters}/out/a.txt", start, end) == LETTERS[start:end]


def test_an_open_file_is_read_in_pieces(letters: str) -> None:
    with fsspec.open(f"weft://{letters}/out/a.txt", block_size=3) as file:
        assert file.seek(-3, os.SEEK_END) == 7
        assert file.read() == b"hij"
        file.seek(2)
        assert file.read(2) == b"cd"


def test_what_is_there_is_listed(letters: str) -> None:
    fs, folder = WeftFileSystem(), f"{letters}/out"

    assert fs.ls(letters, detail=False) == [folder]
    assert fs.find(letters) == [f"{folder}/a.txt", f"{folder}/b.csv"]
    assert fs.glob(f"{letters}/**/*.csv") == [f"{folder}/b.csv"]
    assert fs.glob(f"weft://{letters[:-1]}*/out/?.txt") == [f"{folder}/a.txt"]
    assert fs.cat(f"{folder}/*")[f"{folder}/a.txt"] == LETTERS
    assert (fs.isdir(folder), fs.size(f"{folder}/a.txt")) == (True, 10)
    assert fs.exists(f"{folder}/c") is False


def test_pandas_reads_it(letters: str) -> None:
    assert pd.read_csv(f"weft://{letters}/out/b.csv").to_dict("list") == {"x": [1], "y": [2]}


@pytest.mark.parametrize(
    "call",
    [
        lambda fs, path: fs.pipe_file(path, b""),
        lambda fs, path: fs.rm(path),
        lambda fs, path: fs.open(path, "wb"),
        lambda fs, path: fs.cp_file(path, f"{path}2"),
        lambda fs, path: fs.put_file(__file__, path),
        lambda fs, path: fs.makedirs(f"{path}3"),
        lambda fs, path: fs.touch(path),
        lambda fs, path: fs.mv(path, f"{path}4"),
    ],
)
def test_nothing_is_written(letters: str, call: Callable[[WeftFileSystem, str], object]) -> None:
    with pytest.raises(OSError, match="read only"):
        call(WeftFileSystem(), f"{letters}/out/a.txt")


@pytest.mark.parametrize("read", ["info", "ls", "cat_file", "open"])
def test_a_job_that_failed_says_why_its_file_is_missing(read: str) -> None:
    ref = job_of("echo no such gene >&2; exit 3", outputs=[{"from": "a"}])
    with pytest.raises(FileNotFoundError) as told:
        getattr(WeftFileSystem(), read)(f"{ref}/a")
    for word in (f"weft job {ref}", "exit code 3", "\n  no such gene\n", f"weft logs {ref}"):
        assert word in str(told.value)


@pytest.mark.parametrize("path", ["b999999.j1/a", "a.txt", ""])
def test_what_is_no_job_is_said(path: str) -> None:
    with pytest.raises(FileNotFoundError, match="weft: "):
        WeftFileSystem().cat_file(path)


def test_a_refused_token_and_a_server_that_is_away_are_said(letters: str) -> None:
    with pytest.raises(PermissionError, match="token"):
        WeftFileSystem(token="wrong").ls(letters)
    with pytest.raises(OSError, match="weft: "):
        WeftFileSystem(url="http://127.0.0.1:9").ls(letters)
