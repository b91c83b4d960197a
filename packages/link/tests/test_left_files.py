"""What jobs of workers outside have left, on the disk of the server."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from weft.ports.worker_link import LinkedStore
from weft_link.serving.left_files import LinkedFiles

DATABASE = "d" * 32


class _Store:
    """Knows which batches are deleted."""

    async def database_id(self) -> str:
        return DATABASE

    async def list_removed(self, batch_ids: Sequence[int]) -> Sequence[int]:
        assert set(batch_ids) == {7, 8}
        return [7]


async def test_files_of_deleted_batches_go_and_others_stay(tmp_path: Path) -> None:
    for batch in ("b7", "b8"):
        (tmp_path / DATABASE / batch).mkdir(parents=True)
        (tmp_path / DATABASE / batch / ("0" * 64)).write_bytes(b"x")
    await LinkedFiles(tmp_path, 1, 0).remove_deleted(cast("LinkedStore", cast("Any", _Store())))

    assert sorted(one.name for one in (tmp_path / DATABASE).iterdir()) == ["b8"]
