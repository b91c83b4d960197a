"""The source `directory`: which files are items, when, and in which order."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from weft.ports.source import ITEM_BYTES_MAX, SourceFailed, SourceSite
from weft_lines.sources.directory import DirectorySource
from weft_testing.source_suite import SourceReader, SourceSuite

NAMES, NOW = ("a.json", "b.json", "c.json"), {"settle": "0s"}


class Reader(SourceReader):
    """Reads a directory."""

    source: DirectorySource

    def __init__(self, path: Path, **site: Any) -> None:  # noqa: ANN401 (of several types)
        self.path = path
        where = SourceSite(paths=(str(path),), **site)
        super().__init__(DirectorySource(), {"path": str(path), **NOW}, where)

    def put(self, name: str, text: str = "{}") -> None:
        """Make a file as one that was renamed into place some time ago."""
        (self.path / name).write_text(text)
        self.note(name)

    def note(self, name: str) -> None:
        """Take a file for one that has been as it is for some time."""
        about = (self.path / name).stat()
        self.source._watched[name] = (about.st_ctime_ns, about.st_size, 0.0)


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


def test_each_file_is_an_item_once_and_in_order(reader: Reader) -> None:
    for name in ("b.json", "a.json", "c.txt", ".d.json"):
        reader.put(name, '{"tile": "32TLR"}')
    first = reader.read()
    assert [one.key for one in first.items] == ["b", "a"]
    assert first.items[0].fields == {"tile": "32TLR", "file": str(reader.path / "b.json")}
    assert reader.keys() == []
    reader.put("e.json")
    assert reader.keys() == ["e"]


class TestFiles(SourceSuite):
    @pytest.fixture(autouse=True)
    def _at(self, tmp_path: Path) -> None:
        self.path = tmp_path
        for name in NAMES:
            (tmp_path / name).write_text("{}")

    def reader(self) -> Reader:
        found = Reader(self.path, items_max=2)
        for name in NAMES:
            found.note(name)
        return found

    def wrong_options(self) -> Mapping[str, Mapping[str, Any]]:
        return {
            "setting source_paths": {"path": "/"},
            "No such file": {"path": str(self.path / "gone")},
        }


def test_file_that_is_being_written_waits(reader: Reader) -> None:
    reader.options["settle"] = "1h"
    (reader.path / "a.json").write_text('{"half":')
    assert reader.keys() == []
    reader.put("a.json", '{"half": 2}')
    reader.source._watched["a.json"] = (0, 0, 0.0)
    assert reader.keys() == []


def test_what_is_wrong_with_one_file_is_told_of_it_alone(reader: Reader) -> None:
    reader.put("a.json", '{"half":')
    reader.put("b.json", "[1]")
    reader.put("c.json", '{"a": "' + "x" * ITEM_BYTES_MAX + '"}')
    reader.put("d.json", "{}")
    (reader.path / "e.json").write_bytes(b"\xff")
    reader.put("f.json", "[" * 60_000)
    reader.put("g.json", '{"x":' + '{"a":' * 900 + "1" + "}" * 901)
    found = {one.key: one.error for one in reader.read().items}
    assert found["a"].startswith("it is not JSON")
    assert found["b"] == "it is not a JSON object"
    assert found["c"] == "it has more than 64 KiB"
    assert found["d"] == ""
    assert found["f"].startswith("it is not JSON")
    assert found["g"] == "it is not JSON: it is nested more than 100 deep"


def test_links_and_others_are_no_items(reader: Reader, tmp_path: Path) -> None:
    (reader.path / "a.json").symlink_to("/etc/passwd")
    (reader.path / "b.json").mkdir()
    os.mkfifo(reader.path / "c.json")
    assert reader.keys() == []
    (tmp_path / "out").symlink_to("/etc")
    for name in ("..", "out"):
        reader.options["path"] = str(tmp_path / name)
        with pytest.raises(SourceFailed, match="setting source_paths"):
            reader.read()


def test_other_files_are_items_without_fields(reader: Reader) -> None:
    reader.options["pattern"] = "*.tif"
    reader.put("a.tif", "no JSON")
    (item,) = reader.read().items
    assert item.fields == {"file": str(reader.path / "a.tif")}
