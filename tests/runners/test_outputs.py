"""Which bytes of a stream are stored while it grows, and when it has ended."""

from pathlib import Path

import pytest

from weft.core.attempt_key import AttemptKey
from weft.extensions.engines.slurm.runner.folder import SlurmFolder
from weft.plugins.log_stores.files.writer import FileLogWriter
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
    folder, writer = SlurmFolder(tmp_path / "slurm"), FileLogWriter(tmp_path / "logs")
    folder.prepare()
    folder.put(NAME, {"job": ""})
    written = bytes(range(250))
    (folder.root / NAME / "out").write_bytes(written)
    head = [Piece(STDOUT, 0, written[:live])] if live else []
    await writer.append(KEY, head, after=0)
    rest = folder.output(NAME, await writer.stored(KEY), LIMITS)
    await writer.append(KEY, rest[:torn], after=len(head))
    stored = await FileLogWriter(tmp_path / "logs").stored(KEY)
    after = folder.output(NAME, stored, LIMITS)
    await writer.append(KEY, after, after=stored.n_pieces)

    n_head = max(live, 10)
    kept = b"".join(one.data for one in [*head, *rest[:torn], *after] if one.kind == STDOUT)
    assert kept == written[:n_head] + written[250 - (100 - n_head) :]
    assert (await writer.stored(KEY)).stdout == StoredStream(250, 100)
    assert folder.output(NAME, await writer.stored(KEY), LIMITS) == []


def test_what_is_live_leaves_room_for_the_end(tmp_path: Path) -> None:
    """Half of what is kept."""
    folder = SlurmFolder(tmp_path)
    folder.put(NAME, {"job": ""})
    (folder.root / NAME / "out").write_bytes(b"x" * 70)
    stored = Stored()
    assert of(folder.grown(NAME, stored, LIMITS)) == [(STDOUT, b"x" * 50)]
    stored = stored.plus(folder.grown(NAME, stored, LIMITS))
    assert folder.grown(NAME, stored, LIMITS) == []
    huge = ExecutorLimits(grace_ms=0, stream_bytes_max=1 << 30, stream_head_bytes=0)
    assert live_bytes(StoredStream(), huge) == 1 << 18
