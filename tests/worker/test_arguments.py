"""Large arguments become files of their attempts, and no file outlives its attempt."""

import hashlib
import stat
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from weft.core.errors import Unavailable, WeftError
from weft.core.states import AttemptKey
from weft.ports.store import WorkerStore
from weft.wire.payload import PART_BYTES
from weft.wire.spec import FunctionSpec, JobSpec
from weft.worker.agent.parts import ArgumentFiles

DATA = bytes(PART_BYTES) + b"end"
KEY, OTHER = AttemptKey(1, 2, 3), AttemptKey(1, 2, 4)


class Parts:
    """A store that has one payload; the first question meets a database that is away."""

    def __init__(self, data: bytes = DATA) -> None:
        self.data = data
        self.is_away = True

    async def get_payload_part(
        self, batch_id: int, digest: bytes, part: int
    ) -> tuple[int, bytes] | None:
        if self.is_away:
            self.is_away = False
            raise Unavailable("the database is away")
        assert (batch_id, digest) == (1, hashlib.sha256(DATA).digest())
        body = self.data[(part - 1) * PART_BYTES : part * PART_BYTES]
        return (len(DATA), body) if body else None


def spec_with(**fields: Any) -> JobSpec:  # noqa: ANN401 (fields of any type)
    digest = hashlib.sha256(DATA).hexdigest()
    function = FunctionSpec(call="a:b", arguments=b"", arguments_digest=digest)
    return JobSpec(function=msgspec.structs.replace(function, **fields))


def files_in(root: Path, store: Parts | None = None) -> ArgumentFiles:
    return ArgumentFiles(cast("WorkerStore", store or Parts()), root / "arguments")


async def test_a_payload_becomes_a_private_file(tmp_path: Path) -> None:
    """A later agent adopts those of its attempts, and removes others."""
    files = files_in(tmp_path)
    spec = await files.fetch(KEY, spec_with())

    file = tmp_path / "arguments" / KEY.name
    assert spec == spec_with(arguments_file=str(file))
    assert file.read_bytes() == DATA
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    await files.fetch(OTHER, spec_with())
    later = files_in(tmp_path)
    later.adopt([KEY, AttemptKey(9, 9, 9)])
    assert list((tmp_path / "arguments").iterdir()) == [file]
    later.remove(OTHER)
    assert file.exists()
    later.remove(KEY)
    later.remove(KEY)
    assert not file.exists()


@pytest.mark.parametrize("data", [DATA[:-3], bytes(PART_BYTES) + b"END"])
async def test_what_is_not_whole_is_an_error(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(WeftError, match="arguments"):
        await files_in(tmp_path, Parts(data)).fetch(KEY, spec_with())
