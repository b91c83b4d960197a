import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from weft.core.errors import Invalid
from weft_siege import disk
from weft_siege.disk import LEFT_BYTES, STEP_BYTES, Disk

MORE_BYTES = STEP_BYTES + 4096


def test_disk_of_others_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid):
        Disk(tmp_path)


def test_file_takes_all_but_little_and_gives_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = LEFT_BYTES + MORE_BYTES

    def room(directory: Path) -> SimpleNamespace:
        return SimpleNamespace(
            free=size - sum(path.stat().st_size for path in directory.iterdir())
        )

    monkeypatch.setattr(shutil, "disk_usage", room)
    monkeypatch.setattr(Path, "is_mount", lambda _: True)
    monkeypatch.setattr(disk, "SIZE_MIN_BYTES", 0)
    filled = Disk(tmp_path)

    assert (filled.fill(), filled.fill()) == (True, False)
    assert [path.stat().st_size for path in tmp_path.iterdir()] == [MORE_BYTES]
    filled.empty()
    size = LEFT_BYTES
    assert (filled.fill(), list(tmp_path.iterdir())) == (False, [])
