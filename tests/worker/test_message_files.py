"""Files with messages, and what jobs put in their place."""

from collections.abc import Callable
from pathlib import Path

import pytest

from weft.core.states import AttemptKey
from weft.worker.agent.message_files import MessageFiles

KEY, OTHER = AttemptKey(1, 1, 1), AttemptKey(1, 2, 1)


def texts(directory: Path) -> list[str]:
    return [path.read_text() for path in sorted(directory.rglob("*")) if path.is_file()]


def test_repeated_message_is_one_file(tmp_path: Path) -> None:
    files = MessageFiles(tmp_path)
    said = [files.add(KEY, number, text) for number, text in ((99, "a"), (100, "b"), (100, "b"))]

    assert said == ["", "", ""]
    assert texts(tmp_path) == ["a", "b"]
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / KEY.name).iterdir()} == {0o600}


@pytest.mark.parametrize(
    "put",
    [
        lambda path: path.touch(),
        lambda path: path.symlink_to(path.parent / "elsewhere"),
        lambda path: (path.mkdir(), (path / "000000000005").mkdir()),
        lambda path: (path.mkdir(), (path / ".unfinished").mkdir()),
    ],
)
def test_what_is_in_the_way_is_told(tmp_path: Path, put: Callable[[Path], object]) -> None:
    """Nothing is written elsewhere, and what the job made is removed."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    put(tmp_path / KEY.name)
    files = MessageFiles(tmp_path)
    said = files.add(KEY, 5, "x")
    files.remove(KEY)
    files.wait()

    assert said.startswith("it cannot be written: ")
    assert texts(tmp_path) == []
    assert list(tmp_path.iterdir()) == [elsewhere]


def test_links_in_the_directory_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("kept")
    files = MessageFiles(tmp_path / "messages")
    files.prepare([])
    place = tmp_path / "messages" / KEY.name
    place.mkdir()
    for name in (".unfinished", "000000000005"):
        (place / name).symlink_to(outside)
    said = files.add(KEY, 5, "x")
    found = texts(place)
    files.remove(KEY)
    files.wait()

    assert (said, found, outside.read_text()) == ("", ["x"], "kept")


def test_what_others_left_is_removed(tmp_path: Path) -> None:
    """And what goes on is known, so that it is removed at its end."""
    directory = tmp_path / "new" / "messages"
    MessageFiles(directory).prepare([])
    for key in (KEY, OTHER):
        MessageFiles(directory).add(key, 1, key.name)
    files = MessageFiles(directory)
    files.prepare([OTHER])
    kept = [path.name for path in directory.iterdir()]
    files.remove(OTHER)
    files.wait()

    assert kept == [OTHER.name]
    assert list(directory.iterdir()) == []
