"""The source `directory`: which files are items, when, and in which order."""

import os
from pathlib import Path
from typing import Any

import pytest

from weft.extensions.lines.sources.directory import DirectorySource
from weft.ports.source import ITEM_BYTES_MAX, Reading, SourceFailed, SourceSite

NOW = {"settle": "0s"}


class Reader:
    """Reads as a driver does: it hands back the cursor of what it has kept."""

    def __init__(self, path: Path, **options: str) -> None:
        self.path = path
        self.options: dict[str, Any] = {"path": str(path), **NOW, **options}
        self.site = SourceSite(paths=(str(path),))
        self.source = DirectorySource()
        self.cursor: Any = None

    def read(self) -> Reading:
        reading = self.source.read(self.options, self.cursor, self.site)
        self.cursor = reading.cursor
        return reading

    def keys(self) -> list[str]:
        return [one.key for one in self.read().items]

    def put(self, name: str, text: str = "{}") -> None:
        """Make a file as one that was renamed into place some time ago."""
        (self.path / name).write_text(text)
        self.source._watched[name] = (
            (self.path / name).stat().st_ctime_ns, len(text.encode()), 0.0,
        )  # fmt: skip


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


def test_what_was_not_kept_comes_again(reader: Reader) -> None:
    reader.put("a.json")
    before = reader.cursor
    assert reader.keys() == ["a"]
    reader.cursor = before
    assert reader.keys() == ["a"]
    other = Reader(reader.path)
    other.put("a.json")
    other.cursor = reader.cursor
    assert other.keys() == ["a"]  # lately: it may come twice, and is the same


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
    with pytest.raises(SourceFailed, match="setting source_paths"):
        Reader(tmp_path / "..").source.read(
            {"path": str(tmp_path / "..")}, None, SourceSite(paths=(str(tmp_path),))
        )
    (tmp_path / "out").symlink_to("/etc")
    with pytest.raises(SourceFailed, match="setting source_paths"):
        reader.source.read(
            {"path": str(tmp_path / "out")}, None, SourceSite(paths=(str(tmp_path),))
        )
    with pytest.raises(SourceFailed, match="No such file"):
        reader.source.read({"path": str(tmp_path / "gone")}, None, reader.site)


def test_reading_is_bounded_and_goes_on(reader: Reader) -> None:
    reader.site = SourceSite(paths=(str(reader.path),), items_max=2)
    for name in "abcde":
        reader.put(f"{name}.json")
    readings = [reader.read() for _ in range(3)]
    assert [one.key for reading in readings for one in reading.items] == [*"abcde"]
    assert [reading.more for reading in readings] == [True, True, False]


def test_other_files_are_items_without_fields(reader: Reader) -> None:
    reader.options["pattern"] = "*.tif"
    reader.put("a.tif", "no JSON")
    (item,) = reader.read().items
    assert item.fields == {"file": str(reader.path / "a.tif")}
