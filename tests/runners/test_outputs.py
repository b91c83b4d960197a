"""Which bytes of a stream are stored while it grows, and when it has ended."""

from pathlib import Path

import pytest

from weft.core.states import AttemptKey
from weft.extensions.engines.slurm.runner.folder import SharedFiles
from weft.plugins.log_stores.files.plugin import FileLogWriter
from weft.plugins.runners.remote.outputs import live_bytes
from weft.ports.executor import ExecutorLimits
from weft.ports.log_store import Stored, StoredStream
from weft.wire.log_format import CUT, STDOUT, Piece

LIMITS = ExecutorLimits(grace_ms=0, stream_bytes_max=100, stream_head_bytes=10)
NAME = "weft-b1-j1-a1"
KEY = AttemptKey(1, 1, 1)


def of(pieces: list[Piece]) -> list[tuple[int, bytes]]:
    return [(one.kind, one.data if one.kind != CUT else b"") for one in pieces]


@pytest.mark.parametrize("live", [0, 5, 10, 30, 50])
@pytest.mark.parametrize("torn", [0, 1, 2, 3])
async def test_long_output_keeps_beginning_and_end_wherever_a_gateway_died(
    live: int, torn: int, tmp_path: Path
) -> None:
    """It had stored some of it live, and some pieces of the rest."""
    root, writer = tmp_path / "slurm", FileLogWriter(tmp_path / "logs")
    files = SharedFiles(root)
    await files.known()
    await files.put({NAME: {"job": ""}})
    written = bytes(range(250))
    (root / NAME / "out").write_bytes(written)
    head = [Piece(STDOUT, 0, written[:live])] if live else []
    await writer.append(KEY, head, after=0)
    rest = await files.output(NAME, await writer.stored(KEY), LIMITS)
    await writer.append(KEY, rest[:torn], after=len(head))
    stored = await FileLogWriter(tmp_path / "logs").stored(KEY)
    after = await files.output(NAME, stored, LIMITS)
    await writer.append(KEY, after, after=stored.n_pieces)

    n_head = max(live, 10)
    kept = b"".join(one.data for one in [*head, *rest[:torn], *after] if one.kind == STDOUT)
    assert kept == written[:n_head] + written[250 - (100 - n_head) :]
    assert (await writer.stored(KEY)).stdout == StoredStream(250, 100)
    assert await files.output(NAME, await writer.stored(KEY), LIMITS) == []


async def test_what_is_live_leaves_room_for_the_end(tmp_path: Path) -> None:
    """Half of what is kept."""
    files = SharedFiles(tmp_path)
    await files.put({NAME: {"job": ""}})
    (tmp_path / NAME / "out").write_bytes(b"x" * 70)
    stored = Stored()
    grown = (await files.grown({NAME: stored}, LIMITS))[NAME]
    assert of([*grown]) == [(STDOUT, b"x" * 50)]
    assert await files.grown({NAME: stored.plus(grown)}, LIMITS) == {NAME: []}
    huge = ExecutorLimits(grace_ms=0, stream_bytes_max=1 << 30, stream_head_bytes=0)
    assert live_bytes(StoredStream(), huge) == 1 << 18
