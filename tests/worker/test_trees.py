"""Trees that jobs made are removed, whatever they are."""

import os
from pathlib import Path

import pytest

from weft.core.states import AttemptKey
from weft.worker.agent.message_files import MessageFiles
from weft.worker.trees import TreeRemovals, remove_tree

LEVELS = 1500
"""More than Python has calls."""


def make_deep(path: Path) -> None:
    here = os.open(path.parent, os.O_RDONLY)
    for name in [path.name] + ["d"] * LEVELS:
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def test_deep_tree_is_removed(tmp_path: Path) -> None:
    make_deep(tmp_path / "deep")
    remove_tree(tmp_path / "deep")

    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_removed_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="rm: "):
        remove_tree(tmp_path / ("x" * 300))


@pytest.mark.heavy
def test_deep_tree_in_place_of_messages_is_removed(tmp_path: Path) -> None:
    files, key = MessageFiles(tmp_path), AttemptKey(1, 1, 1)
    files.add(key, 1, "x")
    make_deep(tmp_path / key.name / "deep")
    files.remove(key)
    files.wait()

    assert list(tmp_path.iterdir()) == []


def test_links_are_removed_and_not_what_they_name(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "link").symlink_to("outside")
    TreeRemovals().remove(tmp_path / "link")

    assert [path.name for path in tmp_path.iterdir()] == ["outside"]
